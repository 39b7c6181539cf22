#pragma once

#include <cstdint>
#include <utility>

#include <weir/flow/operator/operator_spec.hpp>
#include <weir/flow/operator/order.hpp>

namespace weir::flow::operators {

/// The first rows of each group in an order; a row that came twice counts as two. What is given is
/// a set like any: `RowNumber` behind it says which row is which.
///
/// All rows are kept as state, but only the first ones are looked at.
struct Top final : OperatorSpec {
  Top(std::uint64_t count, OrderOptions options) : count(count), options(std::move(options)) {}

  std::uint64_t count;
  OrderOptions options;

  std::string_view name() const noexcept override { return "top"; }
  void write(SpecWriter& out) const override;
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
