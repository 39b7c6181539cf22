// What state takes in memory, and what it costs when it does not fit.

#include <malloc.h>

#include <weir/bench/views/sizes.hpp>
#include <weir/bench/views/subject.hpp>
#include <weir/bench/views/tables.hpp>
#include <weir/bench/views/view_workloads.hpp>
#include <weir/flow/operator/graph.hpp>

namespace weir::bench::views {
namespace {

using actors::print_result;
using actors::verify;
using flow::data::ChangeBatch;
using flow::data::col;
using flow::operators::count;
using flow::operators::Graph;
using flow::operators::Plan;
using flow::operators::sum;
using flow::view::Relation;

void run(Graph& graph, std::string_view source, const ChangeBatch& batch) {
  verify(graph.run({{source, batch}}).has_value(), "run");
  graph.commit();
}

std::size_t written_bytes(Graph& graph, const ChangeBatch& batch) {
  std::size_t bytes = 0;
  verify(graph.run({{"orders", batch}}).has_value(), "run");
  for (const auto& write : graph.state().writes())
    bytes += write.key.size() + (write.value ? write.value->size() : 0);
  graph.commit();
  return bytes;
}

/// One order of each customer: count and sum by customer.
void state_groups() {
  const std::int64_t groups = many_groups();
  auto graph = Graph::make(flow::operators::from("orders", orders_schema())
                               .group_by({"customer"})
                               .aggregate({count().as("count"), sum(col("amount")).as("sum")}))
                   .value();
  ::malloc_trim(0);
  const double before = actors::resident_bytes();
  std::size_t written = 0;
  Random random;
  for (std::int64_t id = 0; id < groups;) {
    OrderBatch orders;
    for (std::size_t row = 0; row < batch_rows && id < groups; ++row, ++id)
      orders.push_back({.id = id,
                        .customer = id * 7'919,
                        .amount = random.below(1'000'000'000),
                        .price = 1,
                        .weight = 1});
    written += written_bytes(*graph, decode(orders));
  }
  ::malloc_trim(0);
  const auto each = [&](double bytes) { return bytes / static_cast<double>(groups); };
  print_result("state_groups", each(actors::resident_bytes() - before), "B",
               {{"counted", each(static_cast<double>(graph->state().memory()))},
                {"stored", each(static_cast<double>(written))}});
}

struct JoinLoad {
  std::vector<ChangeBatch> customers = decode(make_customers(spilled_customers()));
  std::vector<ChangeBatch> orders =
      make_transactions(spilled_orders() / transaction_rows + 1, spilled_customers());
};

Plan joined(Plan orders, Plan customers) {
  return orders.join(std::move(customers),
                     {.on = {{"customer", "id"}}, .right_prefix = "customer_"});
}

std::size_t state_bytes(const JoinLoad& load) {
  auto graph = Graph::make(joined(flow::operators::from("orders", orders_schema()),
                                  flow::operators::from("customers", customers_schema())))
                   .value();
  for (const ChangeBatch& batch : load.customers) run(*graph, "customers", batch);
  for (const ChangeBatch& batch : load.orders) run(*graph, "orders", batch);
  return graph->state().memory();
}

/// Transactions a second once all of the load is there.
double join_rate(const JoinLoad& load, std::size_t state_memory_max) {
  Subject subject({.database = {.state_memory_max = state_memory_max}});
  const Relation orders = subject.create_table("orders", orders_schema());
  const Relation customers = subject.create_table("customers", customers_schema());
  const Relation view =
      subject.create_view("named", joined(flow::view::from(orders), flow::view::from(customers)));
  subject.insert(customers, load.customers, view);
  const std::size_t measured = load.orders.size() / 3;
  const auto middle = load.orders.end() - static_cast<std::ptrdiff_t>(measured);
  subject.insert(orders, {load.orders.begin(), middle}, view);
  const double elapsed_ns = subject.insert(orders, {middle, load.orders.end()}, view);
  std::int64_t expected = 0;
  for (const ChangeBatch& batch : load.orders) expected += static_cast<std::int64_t>(batch.size());
  verify(subject.total(view) == expected, "the view");
  return static_cast<double>(measured) / elapsed_ns * 1e9;
}

void state_spill() {
  const JoinLoad load;
  const std::size_t bytes = state_bytes(load);
  const double whole = join_rate(load, 2 * bytes);
  const double spilled = join_rate(load, bytes / 4);
  print_result("state_spill", spilled, "/s",
               {{"memory", whole}, {"state_mb", static_cast<double>(bytes) / (1 << 20)}});
}

}  // namespace

void add_state_workloads(std::vector<Workload>& views) {
  views.push_back({"state_groups", &state_groups});
  views.push_back({"state_spill", &state_spill});
}

}  // namespace weir::bench::views
