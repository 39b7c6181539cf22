#pragma once

#include <utility>

#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators {

/// A latch for each primary key: a row passes once the condition was true for it, and from then on
/// whatever it becomes, until it goes. It depends on what happened, not only on the rows that there
/// are: a view with a gate that is built again begins with those.
struct Gate final : OperatorSpec {
  explicit Gate(data::Expression condition) : condition(std::move(condition)) {}

  data::Expression condition;

  std::string_view name() const noexcept override { return "gate"; }
  void write(SpecWriter& out) const override;
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
