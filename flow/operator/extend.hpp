#pragma once

#include <utility>
#include <vector>

#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators {

/// More columns, computed from those of each row.
struct Extend final : OperatorSpec {
  explicit Extend(std::vector<NamedExpression> columns) : columns(std::move(columns)) {}

  std::vector<NamedExpression> columns;

  std::string_view name() const noexcept override { return "extend"; }
  void write(SpecWriter& out) const override;
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
