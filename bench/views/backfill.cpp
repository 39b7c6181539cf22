// A view over a table that is large already, and what others feel of it.

#include <chrono>

#include <weir/bench/views/freshness.hpp>
#include <weir/bench/views/sizes.hpp>
#include <weir/bench/views/tables.hpp>
#include <weir/bench/views/view_workloads.hpp>
#include <weir/flow/operator/graph.hpp>
#include <weir/runtime/try.hpp>

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
using flow::view::from;
using flow::view::Relation;
using flow::view::Snapshot;
using flow::view::ViewPhase;

constexpr std::int64_t products = 1'000;

Plan revenue(const Relation& orders) {
  return from(orders)
      .group_by({{"product", col("customer") % products}})
      .aggregate({count().as("count"), sum(col("amount")).as("sum")});
}

/// The rows of a table through an operator in memory, without anything else.
Task<Result<std::int64_t>> scan_into(Snapshot snapshot, Relation table, Graph* graph) {
  std::int64_t rows = 0;
  auto scan = snapshot.scan(table);
  for (;;) {
    WEIR_CO_TRY(batch, co_await scan.next());
    if (batch.is_empty()) co_return rows;
    WEIR_CO_TRY_VOID(graph->run({{table.name(), batch}}));
    graph->commit();
    rows += static_cast<std::int64_t>(batch.size());
  }
}

double scan_seconds(Subject& subject, const Relation& table) {
  auto graph = Graph::make(revenue(table)).value();
  actors::Stopwatch watch;
  watch.start();
  const auto rows = subject.run(scan_into(subject.database().read(), table, graph.get()));
  watch.stop();
  verify(rows >= backfill_rows(), "rows");
  return watch.elapsed_ns() / 1e9;
}

double backfill_seconds(Subject& subject, const Relation& table) {
  actors::Stopwatch watch;
  watch.start();
  const Relation view = subject.create_view("revenue", revenue(table));
  watch.stop();
  verify(subject.total(view, "count") >= backfill_rows(), "the view");
  return watch.elapsed_ns() / 1e9;
}

/// What was seen while a view took the rows of a table.
struct Meanwhile {
  Freshness fresh;
  double rows_per_second;
  double rows_per_step;
};

/// Ten seconds at most.
Meanwhile freshness_meanwhile(Subject& subject, const LiveView& live, const Relation& table) {
  const Relation view = subject.run(subject.database().create_view("again", revenue(table)));
  const auto is_live = [&] {
    const auto status = subject.database().status(view);
    return status && status->phase == ViewPhase::live;
  };
  actors::Stopwatch watch;
  watch.start();
  const Freshness fresh =
      measure_freshness(subject, live.table, live.view, fresh_commits(), is_live);
  watch.stop();
  const auto status = subject.database().status(view);
  verify(status && status->counts.cycles > 0, "a step");
  const auto rows = static_cast<double>(status->rows_taken);
  return {fresh, rows / watch.elapsed_ns() * 1e9,
          rows / static_cast<double>(status->counts.cycles)};
}

void backfill() {
  Subject subject;
  const Relation table = subject.create_table("orders", orders_schema());
  subject.insert(table,
                 make_transactions((backfill_rows() + transaction_rows - 1) / transaction_rows,
                                   view_customers()));
  scan_seconds(subject, table);  // fills the cache
  const double scanning = scan_seconds(subject, table);
  const double filling = backfill_seconds(subject, table);
  const LiveView live(subject);
  measure_freshness(subject, live.table, live.view, fresh_commits() / 10);
  const Freshness idle = measure_freshness(subject, live.table, live.view, fresh_commits());
  const auto [busy, busy_rows, step_rows] = freshness_meanwhile(subject, live, table);
  const auto rows = static_cast<double>(backfill_rows());
  print_result("backfill", rows / filling, "/s",
               {{"scan", rows / scanning},
                {"idle_p50", idle.p50},
                {"idle_p99", idle.p99},
                {"busy_p50", busy.p50},
                {"busy_p99", busy.p99},
                {"busy_s", static_cast<double>(busy.commits) / commits_per_second},
                {"busy_rows", busy_rows},
                {"step_rows", step_rows}});
}

}  // namespace

void add_backfill_workloads(std::vector<Workload>& views) {
  views.push_back({"backfill", &backfill});
}

}  // namespace weir::bench::views
