#pragma once

#include <string>

#include <weir/runtime/clock.hpp>

namespace weir::storage::postgres {

/// A value of type `bytea`. A type of its own, as a `std::string` is `text`.
struct Bytes {
  std::string value;

  friend bool operator==(const Bytes&, const Bytes&) = default;
};

/// A value of type `timestamptz`.
using Timestamp = std::chrono::time_point<std::chrono::system_clock,
                                          std::chrono::duration<std::int64_t, std::micro>>;

}  // namespace weir::storage::postgres
