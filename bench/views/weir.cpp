// The same queries as plans, with their state tables: each batch is a cycle that is committed in
// memory.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <weir/bench/actors/measure.hpp>
#include <weir/bench/views/changes.hpp>
#include <weir/bench/views/sizes.hpp>
#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/plan.hpp>

namespace weir::bench::views {
namespace {

using actors::print_result;
using actors::Stopwatch;
using flow::data::BatchBuilder;
using flow::data::ChangeBatch;
using flow::data::col;
using flow::data::Kind;
using flow::data::SchemaRef;
using namespace flow::operators;

SchemaRef make_schema(std::vector<flow::data::Field> fields) {
  return std::make_shared<const flow::data::Schema>(
      flow::data::Schema::make(std::move(fields), {"id"}).value());
}

const SchemaRef orders_schema = make_schema({{"id", Kind::int64, false},
                                             {"customer", Kind::int64, false},
                                             {"amount", Kind::int64, false},
                                             {"price", Kind::float64, false}});
const SchemaRef customers_schema =
    make_schema({{"id", Kind::int64, false}, {"city", Kind::int64, false}});

ChangeBatch decode(const OrderBatch& batch) {
  BatchBuilder builder(orders_schema);
  for (const OrderChange& change : batch) {
    builder.column(0).push(change.id);
    builder.column(1).push(change.customer);
    builder.column(2).push(change.amount);
    builder.column(3).push(change.price);
    builder.add_weight(change.weight);
  }
  return builder.finish();
}

ChangeBatch decode(const CustomerBatch& batch) {
  BatchBuilder builder(customers_schema);
  for (const CustomerChange& change : batch) {
    builder.column(0).push(change.id);
    builder.column(1).push(change.city);
    builder.add_weight(change.weight);
  }
  return builder.finish();
}

template <class Batch>
std::vector<ChangeBatch> decode(const std::vector<Batch>& batches) {
  std::vector<ChangeBatch> decoded;
  for (const Batch& batch : batches) decoded.push_back(decode(batch));
  return decoded;
}

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
  /// Only what comes from now on is measured.
  void begin() {
    changes_ = 0;
    watch_.start();
  }
  void report(const char* workload) {
    watch_.stop();
    const auto changes = static_cast<double>(changes_);
    print_result(workload, watch_.elapsed_ns() / changes, "ns",
                 {{"state_mb", static_cast<double>(graph_->state().memory()) / (1 << 20)}});
  }

 private:
  std::unique_ptr<Graph> graph_;
  std::int64_t changes_ = 0;
  Stopwatch watch_;
};

Plan orders() { return from("orders", orders_schema); }

void filter_map() {
  const auto batches = decode(make_orders(10'000, 0, filter_map_changes()).changing);
  Run run(orders()
              .filter(col("amount") > 300)
              .map({{"id", col("id")},
                    {"twice", col("amount") * 2},
                    {"total", col("price") * col("amount")},
                    {"bucket", col("customer") % 16}}));
  run.begin();
  for (int round = 0; round < filter_map_rounds; ++round) run.apply("orders", batches);
  run.report("filter_map");
}

void group_by(const char* name, const OrderLoad& load, std::vector<AggregateColumn> columns) {
  Run run(orders().group_by({"customer"}).aggregate(std::move(columns)));
  run.apply("orders", decode(load.loading));
  const auto changing = decode(load.changing);
  run.begin();
  run.apply("orders", changing);
  run.report(name);
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
  Run run(orders().join(from("customers", customers_schema),
                        {.on = {{"customer", "id"}}, .right_prefix = "customer_"}));
  run.apply("customers", decode(make_customers(join_customers())));
  run.apply("orders", decode(load.loading));
  const auto changing = decode(load.changing);
  const auto moving = decode(move_customers(join_customers(), join_changed() / 8));
  std::size_t next_move = 0;
  run.begin();
  for (std::size_t index = 0; index < changing.size(); ++index) {
    run.apply("orders", changing[index]);
    if (index % 8 == 7 && next_move < moving.size()) run.apply("customers", moving[next_move++]);
  }
  run.report("join");
}

void top_n() {
  const OrderLoad load = make_orders(top_groups(), top_loaded(), top_changed());
  Run run(
      orders().top(10, {.per = {"customer"}, .order = {descending("amount"), ascending("id")}}));
  run.apply("orders", decode(load.loading));
  const auto changing = decode(load.changing);
  run.begin();
  run.apply("orders", changing);
  run.report("top_n");
}

}  // namespace

const std::vector<Workload>& weir_workloads() {
  static const std::vector<Workload> workloads{{"filter_map", &filter_map},
                                               {"group_by_10k", &group_by_few},
                                               {"group_by_1m", &group_by_many},
                                               {"join", &join},
                                               {"top_n", &top_n}};
  return workloads;
}

}  // namespace weir::bench::views
