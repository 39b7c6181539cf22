#pragma once

#include <utility>
#include <vector>

#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators {

/// Other columns, computed from those of each row. The primary key is kept if its columns are.
struct Map final : OperatorSpec {
  explicit Map(std::vector<NamedExpression> columns) : columns(std::move(columns)) {}

  std::vector<NamedExpression> columns;

  std::string_view name() const noexcept override { return "map"; }
  void write(SpecWriter& out) const override;
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
