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
  auto made = (*make)({.inputs = inputs, .parameters = parameters});
  if (made && *made == nullptr)
    return Error(Errc::invalid_argument, "'" + operator_name + "' made no operator");
  return made;
}

}  // namespace weir::flow::operators
