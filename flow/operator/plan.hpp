#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/flow/data/expression.hpp>
#include <weir/flow/data/schema.hpp>
#include <weir/flow/operator/aggregate_function.hpp>
#include <weir/flow/operator/join.hpp>
#include <weir/flow/operator/keep.hpp>
#include <weir/flow/operator/operator_spec.hpp>
#include <weir/flow/operator/order.hpp>
#include <weir/flow/operator/ring_buffer.hpp>
#include <weir/flow/operator/series.hpp>
#include <weir/flow/operator/window.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::operators {

class GroupedPlan;

/// What rows are grouped by: a column, or an expression under a name.
struct GroupColumn : NamedExpression {
  GroupColumn(std::string column) : NamedExpression{column, data::col(column)} {}
  GroupColumn(const char* column) : GroupColumn(std::string(column)) {}
  GroupColumn(std::string name, data::Expression value)
      : NamedExpression{std::move(name), std::move(value)} {}
};

/// A query over sources: operators and what they take their input from. Cheap to copy; a part used
/// twice is computed once.
///
///     from("orders", orders).filter(col("amount") > 10).map({{"id", col("id")}})
///
/// Nothing is checked until a `Graph` is made of it.
class Plan {
 public:
  struct Node {
    std::shared_ptr<const OperatorSpec> spec;
    std::vector<Plan> inputs;
  };

  /// An operator over other plans.
  template <class Spec>
  static Plan make(Spec spec, std::vector<Plan> inputs) {
    return Plan(Node{std::make_shared<const Spec>(std::move(spec)), std::move(inputs)});
  }

  /// What `encode` gave; `corruption` if it is something else.
  static Result<Plan> decode(std::string_view bytes);
  /// As bytes that stay the same in later versions.
  std::string encode() const;

  const Node& node() const noexcept { return *node_; }
  const OperatorSpec& spec() const noexcept { return *node_->spec; }

  /// Rows for which the condition is true, neither false nor null.
  Plan filter(data::Expression condition) const;
  /// These columns instead of those there are.
  Plan map(std::vector<NamedExpression> columns) const;
  /// These columns behind those there are.
  Plan extend(std::vector<NamedExpression> columns) const;
  /// Rows from when the condition was first true for their primary key until they go.
  Plan gate(data::Expression condition) const;
  /// Each row once.
  Plan distinct() const;
  /// The rows of both: all of them, also those that are equal.
  Plan append(std::vector<Plan> others) const;
  /// `group_by({"customer", {"day", cast(col("time"), Kind::date)}}).aggregate(...)`
  GroupedPlan group_by(std::vector<GroupColumn> columns) const;
  /// One row over all rows, while there are any.
  Plan aggregate(std::vector<AggregateColumn> columns) const;
  /// Rows of this and of another plan that belong together:
  ///
  ///     orders.join(customers, {.on = {{"customer", "id"}}, .right_prefix = "customer_"})
  Plan join(Plan right, JoinOptions options) const;
  /// The first `count` rows of each group:
  ///
  ///     orders.top(3, {.per = {"city"}, .order = {descending("amount"), ascending("id")}})
  Plan top(std::uint64_t count, OrderOptions options) const;
  /// The first `count` of all rows.
  Plan take(std::uint64_t count, std::vector<Order> order = {}) const;
  /// One more column: which row of its group each is, from one.
  Plan row_number(std::string column, OrderOptions options) const;
  /// Each row once for each window that it is in, with the window's start and end:
  /// `window(tumbling(col("at"), 5min))`.
  Plan window(Window window) const;
  /// Rows until their time is `age` ago, so that what is behind it forgets them too:
  ///
  ///     clicks.keep(col("at"), 24h).group_by({"user"}).aggregate({count().as("clicks")})
  Plan keep(data::Expression time, std::chrono::microseconds age, KeepOptions options = {}) const;
  /// The last `capacity` rows that came, in the order in which they came:
  ///
  ///     errors.ring_buffer(1'000)
  Plan ring_buffer(std::uint64_t capacity, RingBufferOptions options = {}) const;
  /// Rows in order of a column: `readings.series("at")`.
  Plan series(std::string key, SeriesOptions options = {}) const;
  /// An operator of yours, by the name it is registered with.
  Plan apply(std::string name, std::vector<data::Value> parameters = {}) const;

 private:
  explicit Plan(Node node) : node_(std::make_shared<const Node>(std::move(node))) {}

  std::shared_ptr<const Node> node_;
};

/// A plan whose rows are grouped, and what is to be known of each group:
///
///     orders.group_by({"customer"}).aggregate({count().as("n"), sum(col("amount")).as("total")})
class GroupedPlan {
 public:
  /// A row for each group: the group columns, then these. None: each group once.
  Plan aggregate(std::vector<AggregateColumn> columns) const;

 private:
  friend class Plan;
  GroupedPlan(Plan plan, std::vector<NamedExpression> groups)
      : plan_(std::move(plan)), groups_(std::move(groups)) {}

  Plan plan_;
  std::vector<NamedExpression> groups_;
};

/// The changes of a table or view.
Plan from(std::string source, data::SchemaRef schema);

}  // namespace weir::flow::operators
