#pragma once

#include <utility>

#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators {

/// Rows for which a condition is true, neither false nor null.
struct Filter final : OperatorSpec {
  explicit Filter(data::Expression condition) : condition(std::move(condition)) {}

  data::Expression condition;

  std::string_view name() const noexcept override { return "filter"; }
  void write(SpecWriter& out) const override;
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
