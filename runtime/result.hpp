#pragma once

#include <boost/system/result.hpp>

#include <weir/runtime/error.hpp>

namespace weir {

/// The value of an operation that can fail in expected ways, or its `Error`.
///
/// `if (result)`, `*result`, `result.error()`; `result.value()` throws `ErrorException` on failure.
template <class T = void>
class [[nodiscard]] Result : public boost::system::result<T, Error> {
  using Base = boost::system::result<T, Error>;

 public:
  using Base::Base;
  Result() = default;
  Result(Base&& base) : Base(std::move(base)) {}
};

}  // namespace weir
