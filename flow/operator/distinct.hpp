#pragma once

#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators {

/// Each row once, however often it came.
struct Distinct final : OperatorSpec {
  std::string_view name() const noexcept override { return "distinct"; }
  void write(SpecWriter& out) const override;
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
