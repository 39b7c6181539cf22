#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <weir/flow/data/expression.hpp>

namespace weir::flow::operators {

// Persisted: never renumber.
enum class AggregateFunction : std::uint8_t {
  count,
  count_distinct,
  sum,
  avg,
  min,
  max,
  first,
  last,
};

/// One column of an aggregate: what is computed from the rows of each group.
///
///     sum(col("amount")).filter(col("kind") == "in").as("total")
///
/// As in SQL, values that are null are left out, and what has no values is null; only counts are
/// zero.
struct AggregateColumn {
  AggregateFunction function;
  /// None: rows are counted.
  std::optional<data::Expression> value = {};
  /// Of `first` and `last`.
  std::optional<data::Expression> order = {};
  std::optional<data::Expression> condition = {};
  /// Empty: as it is written, `sum(amount)`.
  std::string name = {};

  /// The same under a name.
  AggregateColumn as(std::string column) const;
  /// The same, over rows for which the condition is true, too.
  AggregateColumn filter(data::Expression condition_too) const;
};

/// `sum(amount)`, `last(price by time) where (kind = 'in')`
std::string to_string(const AggregateColumn& column);

/// How many rows there are.
AggregateColumn count();
/// How many values there are that are not null.
AggregateColumn count(data::Expression value);
/// How many different ones. NaN is one value, and zero has no sign.
AggregateColumn count_distinct(data::Expression value);
/// Of numbers and durations, in their own type. Integers and decimals that do not fit are an error
/// of the group's row. Floating-point numbers are added exactly and rounded once, so that the sum
/// does not depend on their order.
AggregateColumn sum(data::Expression value);
/// A `float64`; of decimals and durations in their own type, decimals with six more digits behind
/// the point, 38 at most, rounded half away from zero.
AggregateColumn avg(data::Expression value);
AggregateColumn min(data::Expression value);
AggregateColumn max(data::Expression value);

struct By {
  data::Expression order;
};
/// As in `last(col("price"), by(col("time")))`.
By by(data::Expression order);

/// The value, or null, of the row that comes first. Of several the least value, so that it depends
/// on nothing but the rows. Rows whose order is null are left out.
AggregateColumn first(data::Expression value, By order);
/// The same of the row that comes last; of several the greatest value.
AggregateColumn last(data::Expression value, By order);

}  // namespace weir::flow::operators
