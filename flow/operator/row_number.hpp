#pragma once

#include <string>
#include <utility>

#include <weir/flow/operator/operator_spec.hpp>
#include <weir/flow/operator/order.hpp>

namespace weir::flow::operators {

/// One more column, of type int64: which row of its group each is in an order, from one. A row that
/// came twice has two numbers.
///
/// A row that comes or goes changes the numbers of all behind it, so groups should be small: let
/// `Top` go before.
struct RowNumber final : OperatorSpec {
  RowNumber(std::string column, OrderOptions options)
      : column(std::move(column)), options(std::move(options)) {}

  std::string column;
  OrderOptions options;

  std::string_view name() const noexcept override { return "row_number"; }
  void write(SpecWriter& out) const override;
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
