#pragma once

#include <utility>
#include <vector>

#include <weir/flow/operator/aggregate_function.hpp>
#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators {

/// One row for each group of rows that have the same values of the group columns; null is a value
/// like any. First the group columns, which are the primary key unless one may be null, then the
/// aggregates.
///
/// A group has a row while it has rows, also one without group columns: nothing at all makes no
/// row. Without aggregates it gives each group once.
struct Aggregate final : OperatorSpec {
  Aggregate(std::vector<NamedExpression> groups, std::vector<AggregateColumn> columns)
      : groups(std::move(groups)), columns(std::move(columns)) {}

  std::vector<NamedExpression> groups;
  std::vector<AggregateColumn> columns;

  std::string_view name() const noexcept override { return "aggregate"; }
  void write(SpecWriter& out) const override;
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
