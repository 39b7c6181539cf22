#pragma once

#include <string>
#include <utility>
#include <vector>

#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators {

/// An operator of yours, by the name it is registered with.
struct Apply final : OperatorSpec {
  Apply(std::string operator_name, std::vector<data::Value> parameters)
      : operator_name(std::move(operator_name)), parameters(std::move(parameters)) {}

  std::string operator_name;
  std::vector<data::Value> parameters;

  std::string_view name() const noexcept override { return "apply"; }
  void write(SpecWriter& out) const override;
  bool takes_inputs(std::size_t count) const noexcept override { return count >= 1; }
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
