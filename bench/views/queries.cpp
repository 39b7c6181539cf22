// Views end to end: from the commit of a transaction to the view that shows it.

#include <array>
#include <chrono>

#include <weir/bench/storage/rocksdb/replay.hpp>
#include <weir/bench/views/sizes.hpp>
#include <weir/bench/views/subject.hpp>
#include <weir/bench/views/tables.hpp>
#include <weir/bench/views/view_workloads.hpp>

namespace weir::bench::views {
namespace {

using actors::print_result;
using actors::verify;
using flow::data::ChangeBatch;
using flow::data::col;
using flow::operators::avg;
using flow::operators::count;
using flow::operators::Plan;
using flow::operators::sum;
using flow::view::from;
using flow::view::Relation;
using flow::view::ViewUpdate;
using weir::storage::Durability;

/// What a query makes of orders: its last view, and the number by which that is checked.
struct Query {
  Relation view;
  /// What adds up to the rows that are in the view; none: each of its rows is one.
  std::optional<std::string> checked_column = {};
  bool is_filtered = false;
};

Plan large_orders(const Relation& orders) {
  return from(orders)
      .filter(col("amount") > 300)
      .map({{"id", col("id")},
            {"twice", col("amount") * 2},
            {"total", col("price") * col("amount")},
            {"bucket", col("customer") % 16}});
}

Query filter_map(Subject& subject, const Relation& orders) {
  return {.view = subject.create_view("large", large_orders(orders)), .is_filtered = true};
}

Query group_by(Subject& subject, const Relation& orders) {
  return {subject.create_view("revenue",
                              from(orders)
                                  .group_by({"customer"})
                                  .aggregate({count().as("count"), sum(col("amount")).as("sum")})),
          "count"};
}

Query join(Subject& subject, const Relation& orders) {
  const Relation customers = subject.create_table("customers", customers_schema());
  subject.insert(customers, decode(make_customers(view_customers())));
  return {subject.create_view(
      "named", from(orders).join(from(customers),
                                 {.on = {{"customer", "id"}}, .right_prefix = "customer_"}))};
}

Query chain(Subject& subject, const Relation& orders) {
  const Relation large = subject.create_view("large", large_orders(orders));
  const Relation dear =
      subject.create_view("taxed", from(large).extend({{"tax", col("total") * 0.2}}));
  return {subject.create_view("buckets",
                              from(dear)
                                  .group_by({"bucket"})
                                  .aggregate({count().as("count"), sum(col("twice")).as("twice")})),
          "count", true};
}

void check_view(Subject& subject, const Query& query, const std::vector<ChangeBatch>& orders) {
  std::int64_t expected = 0;
  for (const ChangeBatch& batch : orders)
    for (const std::int64_t amount : batch.column(2).values<std::int64_t>())
      expected += !query.is_filtered || amount > 300;
  verify(subject.total(query.view, query.checked_column) == expected, "the view");
}

using MakeQuery = Query (*)(Subject&, const Relation&);

struct Case {
  const char* name;
  MakeQuery make;
  Durability durability;
  ViewUpdate update = ViewUpdate::deferred;
};

/// The nanoseconds that transactions took until the view showed them.
double measure(const Case& chosen, storage::Recording* recording) {
  const auto orders = make_transactions(transactions(), view_customers());
  Subject subject({.durability = chosen.durability,
                   .views = {.update = chosen.update},
                   .recording = recording});
  const Relation table = subject.create_table("orders", orders_schema());
  const Query query = chosen.make(subject, table);
  if (recording != nullptr) recording->begin_measured();
  const double elapsed_ns = subject.insert(table, orders, query.view);
  check_view(subject, query, orders);
  return elapsed_ns;
}

void print_rate(const char* workload, double elapsed_ns, double batches = 0) {
  const auto count = static_cast<double>(transactions());
  print_result(workload, count / elapsed_ns * 1e9, "/s", {{"batches", batches}});
}

constexpr auto memory = Durability::memory();
constexpr auto buffered = Durability::buffered();
constexpr auto transactional = ViewUpdate::transactional;
constexpr std::array cases{
    Case{"filter_map_memory", &filter_map, memory},
    Case{"filter_map_buffered", &filter_map, buffered},
    Case{"group_by_memory", &group_by, memory},
    Case{"group_by_buffered", &group_by, buffered},
    Case{"join_memory", &join, memory},
    Case{"join_buffered", &join, buffered},
    Case{"chain_memory", &chain, memory},
    Case{"chain_buffered", &chain, buffered},
    Case{"transactional_filter_map_memory", &filter_map, memory, transactional},
    Case{"transactional_filter_map_buffered", &filter_map, buffered, transactional},
    Case{"transactional_group_by_memory", &group_by, memory, transactional},
    Case{"transactional_group_by_buffered", &group_by, buffered, transactional},
    Case{"transactional_join_memory", &join, memory, transactional},
    Case{"transactional_join_buffered", &join, buffered, transactional}};

template <std::size_t Index>
void run_views() {
  const Case& chosen = cases[Index];
  print_rate(chosen.name, measure(chosen, nullptr));
}

/// Has Weir do it first, to know what to write.
template <std::size_t Index>
void run_raw() {
  const Case& chosen = cases[Index];
  storage::Recording recording;
  measure(chosen, &recording);
  const double elapsed_ns = storage::replay(recording, chosen.durability);
  print_rate(chosen.name, elapsed_ns,
             static_cast<double>(recording.batches() - recording.measured_from()));
}

template <std::size_t... Index>
void add_cases(std::index_sequence<Index...>, std::vector<Workload>& views,
               std::vector<Workload>& raw) {
  (views.push_back({cases[Index].name, &run_views<Index>}), ...);
  (raw.push_back({cases[Index].name, &run_raw<Index>}), ...);
}

/// One of two databases that are compared: how long the same work took in each.
struct Side {
  Side(std::size_t workers, int flows) : subject({.database = {.workers = workers}}) {
    table.emplace(subject.create_table("orders", orders_schema()));
    for (int flow = 0; flow < flows; ++flow) {
      // Much to compute, and little to write.
      view.emplace(subject.create_view(
          "view_" + std::to_string(flow),
          from(*table)
              .extend({{"twice", col("amount") * 2 + flow},
                       {"total", col("price") * col("amount") / 3.0},
                       {"bucket", (col("customer") * 7 + flow) % 16}})
              .filter(col("twice") > 300 && col("total") > 10.0 && col("bucket") != 7)
              .aggregate({count().as("count"), sum(col("twice")).as("twice"),
                          avg(col("amount")).as("mean"), sum(col("bucket")).as("buckets"),
                          sum(col("id")).as("ids")})));
    }
  }
  void insert(const std::vector<ChangeBatch>& orders) {
    elapsed_ns += subject.insert(*table, orders, *view);
  }
  void commit(const std::vector<ChangeBatch>& orders) {
    elapsed_ns += subject.commit(*table, orders, *view);
  }

  Subject subject;
  std::optional<Relation> table;
  std::optional<Relation> view;
  double elapsed_ns = 0;
};

/// In turns, a few transactions at a time: whatever disturbs one disturbs the other.
void take_turns(Side& first, Side& second, void (Side::*work)(const std::vector<ChangeBatch>&)) {
  const auto orders = make_transactions(transactions(), view_customers());
  constexpr std::size_t at_once = 20;
  for (std::size_t begin = 0; begin < orders.size(); begin += at_once) {
    const auto end =
        orders.begin() + static_cast<std::ptrdiff_t>(std::min(begin + at_once, orders.size()));
    const std::vector<ChangeBatch> some(orders.begin() + static_cast<std::ptrdiff_t>(begin), end);
    (first.*work)(some);
    (second.*work)(some);
  }
}

void other_flows() {
  Side alone(2, 1);
  Side among(2, 1);
  for (int number = 0; number < other_tables; ++number) {
    const std::string name = "other_" + std::to_string(number);
    const Relation other = among.subject.create_table(name, orders_schema());
    for (int flow = 0; flow < flows_per_table; ++flow)
      among.subject.create_view(name + "_" + std::to_string(flow),
                                from(other).filter(col("amount") > flow));
  }
  take_turns(alone, among, &Side::insert);
  const auto count = static_cast<double>(transactions());
  print_result("other_flows", count / among.elapsed_ns * 1e9, "/s",
               {{"alone", count / alone.elapsed_ns * 1e9}});
}

void workers() {
  Side one(1, independent_flows);
  Side two(2, independent_flows);
  take_turns(one, two, &Side::commit);
  const auto count = static_cast<double>(transactions());
  print_result("workers", count / two.elapsed_ns * 1e9, "/s",
               {{"one", count / one.elapsed_ns * 1e9}});
}

}  // namespace

void add_query_workloads(std::vector<Workload>& views, std::vector<Workload>& raw) {
  add_cases(std::make_index_sequence<cases.size()>(), views, raw);
  views.push_back({"other_flows", &other_flows});
  views.push_back({"workers", &workers});
}

}  // namespace weir::bench::views
