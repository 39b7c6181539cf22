#include <weir/flow/operator/apply.hpp>

#include <weir/flow/operator/operator_registry.hpp>

namespace weir::flow::operators {

Result<std::unique_ptr<Operator>> Apply::make(std::span<const data::SchemaRef> inputs,
                                              const Library& library) const {
  const auto* make =
      library.operators != nullptr ? library.operators->find(operator_name) : nullptr;
  if (make == nullptr)
    return Error(Errc::unknown_name, "no operator '" + operator_name + "' is registered");
  for (const data::Value& parameter : parameters) {
    if (auto checked = data::check_value(parameter); !checked) {
      return Error(checked.error().code(), "a parameter of '" + operator_name +
                                               "': " + std::string(checked.error().detail()));
    }
  }
  return (*make)({.inputs = inputs, .parameters = parameters});
}

}  // namespace weir::flow::operators
