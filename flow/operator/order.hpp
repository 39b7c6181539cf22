#pragma once

#include <string>
#include <utility>
#include <vector>

#include <weir/flow/data/expression.hpp>

namespace weir::flow::operators {

/// What rows are ordered by. Null is less than every value: it comes first in ascending order and
/// last in descending order; NaN comes behind all numbers.
struct Order {
  data::Expression value;
  bool is_descending = false;
};

inline Order ascending(data::Expression value) { return {std::move(value), false}; }
inline Order ascending(const char* column) { return {data::col(column), false}; }
inline Order ascending(std::string column) { return {data::col(std::move(column)), false}; }
inline Order descending(data::Expression value) { return {std::move(value), true}; }
inline Order descending(const char* column) { return {data::col(column), true}; }
inline Order descending(std::string column) { return {data::col(std::move(column)), true}; }

/// An order of rows that have the same values in some columns.
///
///     {.per = {"city"}, .order = {descending("amount"), ascending("id")}}
///
/// Rows that are equal in it are ordered by all their columns, the first one first: which row comes
/// before which depends on nothing but the rows.
struct OrderOptions {
  /// None: all rows are one group.
  std::vector<std::string> per = {};
  std::vector<Order> order = {};
};

}  // namespace weir::flow::operators
