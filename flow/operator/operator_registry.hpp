#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/data/schema.hpp>
#include <weir/flow/data/value.hpp>
#include <weir/flow/operator/operator.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::operators {

/// Operators of yours, by name.
class OperatorRegistry {
 public:
  struct Arguments {
    std::span<const data::SchemaRef> inputs;
    std::span<const data::Value> parameters;
  };
  /// Checks the arguments and makes one. Its output depends on nothing else.
  using Make = std::function<Result<std::unique_ptr<Operator>>(const Arguments& arguments)>;

  /// `invalid_argument` if the name is empty or taken.
  Result<> add(std::string name, Make make);
  /// Null if there is none.
  const Make* find(std::string_view name) const noexcept;
  std::vector<std::string> names() const;

 private:
  std::map<std::string, Make, std::less<>> operators_;
};

}  // namespace weir::flow::operators
