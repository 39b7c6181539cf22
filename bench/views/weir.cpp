// The same queries as plans, with their state tables: each batch is a cycle that is committed in
// memory.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include <weir/bench/views/changes.hpp>
#include <weir/bench/views/sizes.hpp>
#include <weir/bench/views/tables.hpp>
#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/plan.hpp>

namespace weir::bench::views {
namespace {

using flow::data::ChangeBatch;
using flow::data::col;
using namespace flow::operators;

/// A plan that runs batches and counts their changes.
class Run {
 public:
  explicit Run(const Plan& plan) : graph_(Graph::make(plan).value()) {}

  void apply(std::string_view source, const ChangeBatch& batch) {
    auto result = graph_->run({{source, batch}});
    if (!result) {
      std::fprintf(stderr, "%s\n", result.error().message().c_str());
      std::exit(1);
    }
    graph_->commit();
    changes_ += static_cast<std::int64_t>(batch.size());
  }
  void apply(std::string_view source, const std::vector<ChangeBatch>& batches) {
    for (const ChangeBatch& batch : batches) apply(source, batch);
  }
  /// Only `work` is measured. It leaves so many groups, or rows, to remember.
  template <class Work>
  void report(const char* workload, std::int64_t keys, Work work) {
    changes_ = 0;
    const double elapsed_ns = measured(work);
    print_changes(workload, elapsed_ns, changes_,
                  {.bytes = static_cast<double>(graph_->state().memory()), .keys = keys});
  }

 private:
  std::unique_ptr<Graph> graph_;
  std::int64_t changes_ = 0;
};

template <class Use>
void for_each(const OrderLoad& load, Use use) {
  for (const auto* batches : {&load.loading, &load.changing})
    for (const OrderBatch& batch : *batches)
      for (const OrderChange& change : batch) use(change);
}

/// Orders that are there in the end.
std::int64_t rows_left(const OrderLoad& load) {
  std::int64_t rows = 0;
  for_each(load, [&](const OrderChange& change) { rows += change.weight; });
  return rows;
}

/// Customers who have some then.
std::int64_t groups_left(const OrderLoad& load) {
  std::vector<std::int32_t> orders(static_cast<std::size_t>(load.customers));
  for_each(load, [&](const OrderChange& change) {
    orders[static_cast<std::size_t>(change.customer)] += static_cast<std::int32_t>(change.weight);
  });
  return std::ssize(orders) - std::ranges::count(orders, 0);
}

/// The same, in each window.
std::int64_t panes_left(const OrderLoad& load) {
  // From the window that only the first orders end in.
  const auto place = [&](std::int64_t pane, std::int64_t customer) {
    return static_cast<std::size_t>((pane + panes_per_row) * load.customers + customer);
  };
  std::vector<std::int32_t> orders;
  for_each(load, [&](const OrderChange& change) {
    const std::int64_t last = event_time(change) / pane_microseconds;
    orders.resize(std::max(orders.size(), place(last + 1, 0)));
    for (std::int64_t pane = last - panes_per_row + 1; pane <= last; ++pane)
      orders[place(pane, change.customer)] += static_cast<std::int32_t>(change.weight);
  });
  return std::ssize(orders) - std::ranges::count(orders, 0);
}

Plan orders() { return from("orders", orders_schema()); }

void filter_map() {
  const auto batches = decode(make_orders(10'000, 0, filter_map_changes()).changing);
  Run run(orders()
              .filter(col("amount") > 300)
              .map({{"id", col("id")},
                    {"twice", col("amount") * 2},
                    {"total", col("price") * col("amount")},
                    {"bucket", col("customer") % 16}}));
  run.report("filter_map", 0, [&] {
    for (int round = 0; round < filter_map_rounds; ++round) run.apply("orders", batches);
  });
}

void group_by(const char* name, const OrderLoad& load, std::vector<AggregateColumn> columns) {
  Run run(orders().group_by({"customer"}).aggregate(std::move(columns)));
  run.apply("orders", decode(load.loading));
  const auto changing = decode(load.changing);
  run.report(name, groups_left(load), [&] { run.apply("orders", changing); });
}

void group_by_few() {
  group_by("group_by_10k", make_orders(10'000, few_loaded(), few_changed()),
           {count().as("count"), sum(col("amount")).as("sum"), max(col("amount")).as("max")});
}
void group_by_many() {
  group_by("group_by_1m", make_orders(many_groups(), many_loaded(), many_changed()),
           {count().as("count"), sum(col("amount")).as("sum")});
}

void join() {
  const OrderLoad load = make_orders(join_customers(), join_orders(), join_changed());
  Run run(orders().join(from("customers", customers_schema()),
                        {.on = {{"customer", "id"}}, .right_prefix = "customer_"}));
  run.apply("customers", decode(make_customers(join_customers())));
  run.apply("orders", decode(load.loading));
  const auto changing = decode(load.changing);
  const auto moving = decode(move_customers(join_customers(), join_changed() / 8));
  std::size_t next_move = 0;
  run.report("join", rows_left(load) + join_customers(), [&] {
    for (std::size_t index = 0; index < changing.size(); ++index) {
      run.apply("orders", changing[index]);
      if (index % 8 == 7 && next_move < moving.size()) run.apply("customers", moving[next_move++]);
    }
  });
}

void top_n() {
  const OrderLoad load = make_orders(top_groups(), top_loaded(), top_changed());
  Run run(
      orders().top(10, {.per = {"customer"}, .order = {descending("amount"), ascending("id")}}));
  run.apply("orders", decode(load.loading));
  const auto changing = decode(load.changing);
  run.report("top_n", rows_left(load), [&] { run.apply("orders", changing); });
}

std::vector<ChangeBatch> decode_events(const std::vector<OrderBatch>& batches) {
  std::vector<ChangeBatch> decoded;
  for (const OrderBatch& batch : batches) decoded.push_back(views::decode_events(batch));
  return decoded;
}

void window() {
  const std::chrono::microseconds pane(pane_microseconds);
  const OrderLoad load = make_orders(window_customers, window_loaded(), window_changed());
  Run run(from("events", events_schema())
              .window(hopping(col("at"), {.size = panes_per_row * pane, .hop = pane}))
              .group_by({"window_start", "customer"})
              .aggregate({count().as("count"), sum(col("amount")).as("sum")}));
  run.apply("events", decode_events(load.loading));
  const auto changing = decode_events(load.changing);
  run.report("window", panes_left(load), [&] { run.apply("events", changing); });
}

}  // namespace

const std::vector<Workload>& operator_workloads() {
  static const std::vector<Workload> workloads{{"filter_map", &filter_map},
                                               {"group_by_10k", &group_by_few},
                                               {"group_by_1m", &group_by_many},
                                               {"join", &join},
                                               {"top_n", &top_n},
                                               {"window", &window}};
  return workloads;
}

}  // namespace weir::bench::views
