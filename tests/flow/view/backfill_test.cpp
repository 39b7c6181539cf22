// How far new views have come, and what a crash leaves of that.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <weir/flow/view/database.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/telemetry/prometheus.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/flow/view/support/view_fixture.hpp>

namespace weir::flow::view {
namespace {

using namespace std::chrono_literals;

/// A table of 2,000 rows, which views take a hundred at a time.
class LongBackfillTest : public ::testing::Test {
 protected:
  LongBackfillTest()
      : simulation_({.system = {.telemetry = &telemetry_}, .faults = {.message_time_max = 200us}}) {
    open();
    const Relation orders = run(database_->create_table("orders", test::orders_schema)).value();
    auto transaction = database_->begin();
    for (int id = 0; id < rows; ++id)
      EXPECT_TRUE(run(transaction.insert(orders, {id, "apples", id})));
    EXPECT_TRUE(run(transaction.commit()));
  }

  static constexpr int rows = 2'000;
  static constexpr std::uint64_t half = rows / 2;

  void open() {
    if (!simulation_.node().is_up()) simulation_.node().restart();
    store_.emplace(storage::Store::open(simulation_.system(), {.disk = disk_}).value());
    database_.emplace(run(Database::open(&*store_, {.backfill_rows = 100})).value());
  }
  void crash() {
    disk_->crash();
    simulation_.node().crash();
    database_.reset();
    store_.reset();
  }
  template <class T>
  T run(Task<T> task) {
    return simulation_.run(std::move(task));
  }
  Relation make_view(ViewUpdate update) {
    const Relation orders = run(database_->relation("orders")).value();
    return run(database_->create_view("all", from(orders), {.update = update})).value();
  }
  ViewStatus half_way(const Relation& view) {
    std::optional<ViewStatus> status;
    do {
      simulation_.run_steps(1);
      status = database_->status(view);
    } while (!status || status->rows_taken < half);
    EXPECT_EQ(status->phase, ViewPhase::backfilling);
    return *status;
  }
  /// That it takes no row twice, whatever happens when it has half of them.
  void expect_to_go_on(ViewUpdate update) {
    const ViewStatus before = half_way(make_view(update));
    crash();
    open();
    const Relation view = run(database_->relation("all")).value();
    const ViewStatus after = database_->status(view).value();
    EXPECT_GE(after.rows_taken, before.rows_taken);
    EXPECT_LE(after.counts.backfill_rows, after.rows_taken - before.rows_taken);
    ASSERT_TRUE(run(database_->fresh(view, store_->version())));
    EXPECT_EQ(database_->status(view)->rows_taken, static_cast<std::uint64_t>(rows));
    EXPECT_LE(database_->status(view)->counts.backfill_rows, rows - before.rows_taken);
    EXPECT_GT(database_->status(view)->counts.backfill_rows, 0u);
  }
  /// The figure of a view on the page of metrics.
  std::optional<double> metric(const std::string& name) {
    const std::string page = telemetry::prometheus_page(telemetry_.meter().collect({}),
                                                        telemetry::PrometheusFormat::text);
    const std::string line = "\n" + name + "{weir_view=\"all\"} ";
    const auto at = page.find(line);
    if (at == std::string::npos) return std::nullopt;
    return std::stod(page.substr(at + line.size()));
  }

  telemetry::Telemetry telemetry_{{.measures_always = true}, {}};
  Simulation simulation_;
  std::shared_ptr<storage::engine::SimulatedDisk> disk_ =
      std::make_shared<storage::engine::SimulatedDisk>();
  std::optional<storage::Store> store_;
  std::optional<Database> database_;
};

TEST_F(LongBackfillTest, MetricsTellHowFarEachViewHasCome) {
  const Relation view = make_view(ViewUpdate::deferred);
  const ViewStatus status = half_way(view);
  EXPECT_EQ(metric("weir_flow_backfill_rows_taken"), static_cast<double>(status.rows_taken));
  ASSERT_GT(status.rows_total, 0u);
  EXPECT_EQ(metric("weir_flow_backfill_rows_expected"), static_cast<double>(status.rows_total));
  ASSERT_GT(status.rows_per_second, 0);
  EXPECT_NEAR(metric("weir_flow_backfill_rate_per_second").value_or(0), status.rows_per_second,
              status.rows_per_second / 1'000);
  ASSERT_TRUE(status.time_left);
  const double left = std::chrono::duration<double>(*status.time_left).count();
  EXPECT_NEAR(metric("weir_flow_backfill_time_left_seconds").value_or(0), left, left / 1'000);
  ASSERT_TRUE(run(database_->fresh(view, store_->version())));
  for (const char* name :
       {"weir_flow_backfill_rows_taken", "weir_flow_backfill_rows_expected",
        "weir_flow_backfill_rate_per_second", "weir_flow_backfill_time_left_seconds"})
    EXPECT_FALSE(metric(name)) << name << ": it is live";
}

TEST_F(LongBackfillTest, GoesOnWhereItWasAfterACrash) { expect_to_go_on(ViewUpdate::deferred); }

TEST_F(LongBackfillTest, GoesOnWhereItWasAfterACrashIfItIsTransactional) {
  expect_to_go_on(ViewUpdate::transactional);
}

/// Nobody is told of rows that a view is being made of, from wherever the subscription begins.
TEST_F(LongBackfillTest, IsNoChangeForSubscribers) {
  const Relation orders = run(database_->relation("orders")).value();
  for (const ViewUpdate update : {ViewUpdate::deferred, ViewUpdate::transactional}) {
    const Relation view = make_view(update);
    half_way(view);
    const storage::Version begun = store_->version();
    Subscription now = database_->subscribe(view).value();
    simulation_.run_steps(200);
    EXPECT_FALSE(run(now.next_if_any()).value());
    ASSERT_TRUE(run(database_->fresh(view, store_->version())));
    EXPECT_FALSE(run(now.next_if_any()).value());
    auto transaction = database_->begin();
    ASSERT_TRUE(run(transaction.upsert(orders, {rows, "pears", 1})));
    ASSERT_TRUE(run(transaction.commit()));
    // That version is not kept any more.
    Subscription later = database_->subscribe(view, {.after = begun}).value();
    for (Subscription* subscription : {&now, &later})
      EXPECT_EQ(to_string(run(subscription->next()).value().changes), "+1 (2000, 'pears', 1)\n");
    Subscription last = database_->subscribe(view, {.after = now.seen()}).value();
    transaction = database_->begin();
    ASSERT_TRUE(run(transaction.remove(orders, {rows})));
    ASSERT_TRUE(run(transaction.commit()));
    EXPECT_EQ(to_string(run(last.next()).value().changes), "-1 (2000, 'pears', 1)\n");
    ASSERT_TRUE(run(database_->drop_view("all")));
  }
}

}  // namespace
}  // namespace weir::flow::view
