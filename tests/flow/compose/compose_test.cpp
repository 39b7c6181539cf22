// Views and workflows in one store, which crashes wherever it can.
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <weir/flow/compose/database_step.hpp>
#include <weir/flow/compose/execution_table.hpp>
#include <weir/flow/compose/on_change.hpp>
#include <weir/flow/workflow/worker.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/engine/simulated_disk.hpp>

namespace weir::flow::compose {
namespace {

using namespace std::chrono_literals;
using data::col;
using data::Kind;
using workflow::Worker;
using workflow::WorkflowContext;

data::SchemaRef orders_schema() {
  auto made =
      data::Schema::make({{"id", Kind::int64, false}, {"cents", Kind::int64, false}}, {"id"});
  return std::make_shared<const data::Schema>(*std::move(made));
}

Task<Result<>> add_one(view::Transaction* rows, view::Relation orders, std::int64_t cents) {
  std::int64_t id = 1;
  for (;; ++id) {
    WEIR_CO_TRY(taken, co_await rows->get(orders, {id}));
    if (!taken) break;
  }
  co_return co_await rows->insert(orders, {id, cents});
}

// [step]
Task<> book(WorkflowContext ctx, const view::Database* database, view::Relation orders) {
  for (const std::int64_t cents : {100, 900}) {
    co_await step(ctx, database, "book", add_one, orders, cents);
    co_await ctx.sleep(100ms);
  }
}
// [/step]

/// A process with all of it, on a disk that outlives it.
class Life {
 public:
  Life() {
    options_.disk = std::make_shared<storage::engine::SimulatedDisk>();
    options_.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
  }
  ~Life() { close(); }

  bool open() {
    if (!simulation_.node().is_up()) simulation_.node().restart();
    auto store = storage::Store::open(simulation_.system(), options_);
    if (!store) return false;
    store_ = std::make_unique<storage::Store>(*std::move(store));
    return simulation_.run(open_all()).has_value();
  }
  /// The process and what was not synced are gone.
  void crash() {
    options_.opened_at = store_->time();
    disk().crash();
    disk().repair();
    simulation_.node().crash();
    close();
  }
  /// As a task that gives up does: nobody is waited for.
  void drop() {
    options_.opened_at = store_->time();
    simulation_.run(close_inside());
  }
  void pass(Duration time) { simulation_.run_for(time); }
  template <class T>
  T run(Task<T> task) {
    return simulation_.run(std::move(task));
  }
  storage::engine::SimulatedDisk& disk() { return *options_.disk; }
  const workflow::Engine& engine() { return *engine_; }
  view::Database& database() { return *database_; }

  std::string rows_of(const std::string& name) {
    const auto relation = run(database_->relation(name)).value();
    view::Snapshot snapshot = database_->read();
    view::RowScan scan = snapshot.scan(relation);
    std::string text;
    for (;;) {
      const auto batch = run(scan.next(100)).value();
      if (batch.is_empty()) return text;
      text += to_string(batch);
    }
  }
  Result<> insert(std::int64_t id, std::int64_t cents) {
    auto orders = run(database_->relation("orders"));
    if (!orders) return orders.error();
    view::Transaction rows = database_->begin();
    if (auto put = run(rows.upsert(*orders, {id, cents})); !put) return put;
    auto committed = run(rows.commit());
    if (!committed) return committed.error();
    return {};
  }
  /// How many executions of a kind have ended, and how often each was told to have.
  std::map<std::string, int> ended() {
    std::map<std::string, int> found;
    for (const auto& [number, notice] : run(engine_->notices(1, 10'000)).value()) {
      if (notice.kind != workflow::NoticeKind::completion) continue;
      const auto info = run(engine_->describe(notice.execution)).value();
      ++found[info->spec.kind + " " + info->spec.payload];
    }
    return found;
  }

 private:
  Task<Result<>> open_all() {
    WEIR_CO_TRY(database, co_await view::Database::open(&*store_));
    database_ = std::make_unique<view::Database>(std::move(database));
    auto orders = co_await database_->create_table("orders", orders_schema());
    if (!orders) orders = co_await database_->relation("orders");
    if (!orders) co_return orders.error();
    auto large = co_await database_->create_view("large", from(*orders).filter(col("cents") > 500));
    WEIR_CO_TRY(opened, co_await workflow::Engine::open(&*store_));
    engine_ = std::make_unique<workflow::Engine>(std::move(opened));
    worker_.emplace(&*engine_, workflow::WorkerOptions{.lease = 3s});
    // It may be at it when all handles have ended.
    worker_->on("book", [database = database_->share(), table = *orders](WorkflowContext ctx) {
      return book(ctx, database.get(), table);
    });
    worker_->on("large", [](std::string) {});
    worker_->start();
    Start start{.name = "look", .kind = "large", .payload = [](const view::Row& row) {
                  return std::optional(to_string(row.at(0)));
                }};
    WEIR_CO_TRY(starter, co_await on_change(&*engine_, &*database_, "large", std::move(start)));
    starter_.emplace(std::move(starter));
    WEIR_CO_TRY(table, co_await follow_executions(&*engine_, &*database_, "executions"));
    table_.emplace(std::move(table));
    auto executions = co_await database_->relation("executions");
    if (!executions) co_return executions.error();
    static_cast<void>(co_await database_->create_view(
        "completed", from(*executions).filter(col("state") == "completed")));
    co_return {};
  }
  Task<> close_inside() {
    close();
    co_return;
  }
  void close() {
    table_.reset();
    starter_.reset();
    worker_.reset();
    engine_.reset();
    database_.reset();
    store_.reset();
  }

  Simulation simulation_;
  storage::StoreOptions options_;
  // Each with memory of its own, so that sanitizers see who uses it afterwards.
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<view::Database> database_;
  std::unique_ptr<workflow::Engine> engine_;
  std::optional<Worker> worker_;
  std::optional<Follower> starter_;
  std::optional<Follower> table_;
};

/// Books two orders by a durable coroutine, one of which is large; another large one is inserted.
/// With a crash at the `nth` write, if it is not zero. Gives how many writes there were.
std::uint64_t run_all(std::uint64_t nth) {
  SCOPED_TRACE("write " + std::to_string(nth));
  Life life;
  EXPECT_TRUE(life.open());
  const std::uint64_t before = life.disk().writes();
  if (nth > 0) life.disk().fail_write(nth, Error(std::make_error_code(std::errc::io_error)));
  const auto begin = [&] {
    auto made = life.run(life.engine().create_execution({.kind = "book", .idempotency_key = "b"}));
    const auto inserted = life.insert(77, 7700);
    life.pass(5s);
    return made.has_value() && inserted.has_value();
  };
  begin();
  const std::uint64_t writes = life.disk().writes() - before;
  if (nth > 0) {
    life.crash();
    EXPECT_TRUE(life.open());
    EXPECT_TRUE(begin());
  }
  life.pass(10s);
  EXPECT_EQ(life.rows_of("orders"), "+1 (1, 100)\n+1 (2, 900)\n+1 (77, 7700)\n");
  EXPECT_EQ(life.rows_of("large"), "+1 (2, 900)\n+1 (77, 7700)\n");
  EXPECT_EQ(life.ended(),
            (std::map<std::string, int>{{"book ", 1}, {"large 2", 1}, {"large 77", 1}}))
      << "executions were begun twice, or not at all";
  const std::string completed = life.rows_of("completed");
  EXPECT_EQ(std::count(completed.begin(), completed.end(), '\n'), 3) << completed;
  return writes;
}

TEST(Compose, I21RowsAndExecutionsAreThereOnceWhereverTheDiskFails) {
  const std::uint64_t writes = run_all(0);
  ASSERT_GT(writes, 20U);
  for (std::uint64_t nth = 1; nth <= writes && !::testing::Test::HasFailure(); ++nth) run_all(nth);
}

TEST(Compose, WhatATaskLeavesBehindEndsBeforeItsStore) {
  for (const Duration at : {0us, 100us, 1000us, 50'000us, 250'000us}) {
    SCOPED_TRACE(std::to_string(at.count()));
    Life life;
    ASSERT_TRUE(life.open());
    const auto begin = [&] {
      const auto request = workflow::NewExecution{.kind = "book", .idempotency_key = "b"};
      return life.run(life.engine().create_execution(request)).has_value() &&
             life.insert(77, 7700).has_value();
    };
    ASSERT_TRUE(begin());
    life.pass(at);
    life.drop();
    life.pass(1s);
    ASSERT_TRUE(life.open()) << "somebody keeps it open";
    ASSERT_TRUE(begin());
    life.pass(10s);
    EXPECT_EQ(life.rows_of("large"), "+1 (2, 900)\n+1 (77, 7700)\n");
    EXPECT_EQ(life.ended(),
              (std::map<std::string, int>{{"book ", 1}, {"large 2", 1}, {"large 77", 1}}));
  }
}

TEST(Compose, AChangeThatWasMissedIsMadeUpFor) {
  Life life;
  ASSERT_TRUE(life.open());
  ASSERT_TRUE(life.insert(1, 501));
  ASSERT_TRUE(life.insert(2, 1));
  ASSERT_TRUE(life.insert(2, 600));
  ASSERT_TRUE(life.insert(2, 600)) << "no change";
  ASSERT_TRUE(life.insert(1, 502)) << "another row";
  life.crash();
  ASSERT_TRUE(life.open());
  life.pass(5s);
  EXPECT_EQ(life.ended(), (std::map<std::string, int>{{"large 1", 2}, {"large 2", 1}}));
}

TEST(Compose, WhatCameTogetherIsBegunTogether) {
  Life life;
  ASSERT_TRUE(life.open());
  Start start{.name = "idle", .kind = "idle", .lane = "idle", .payload = [](const view::Row& row) {
                return std::optional(to_string(row.at(0)));
              }};
  auto idle = life.run(on_change(&life.engine(), &life.database(), "orders", std::move(start)));
  ASSERT_TRUE(idle);
  const auto orders = life.run(life.database().relation("orders")).value();
  constexpr std::int64_t rows = 100;
  view::Transaction transaction = life.database().begin();
  for (std::int64_t id = 1; id <= rows; ++id) {
    ASSERT_TRUE(life.run(transaction.insert(orders, {id, 1})));
  }
  const std::uint64_t before = life.disk().writes();
  ASSERT_TRUE(life.run(transaction.commit()));
  life.pass(5s);
  EXPECT_EQ(life.run(life.engine().queue("idle", 1000)).value().waiting.size(), rows);
  EXPECT_LT(life.disk().writes() - before, rows / 4) << "each is begun in a commit of its own";
}

TEST(Compose, AFailureIsToldUntilItGoesOn) {
  Life life;
  ASSERT_TRUE(life.open());
  auto is_fixed = std::make_shared<bool>(false);
  Start start{.name = "idle", .kind = "idle", .lane = "idle", .payload = [=](const view::Row&) {
                const std::size_t size = *is_fixed ? 1 : workflow::payload_bytes_max + 1;
                return std::optional(std::string(size, 'x'));
              }};
  auto idle = life.run(on_change(&life.engine(), &life.database(), "orders", std::move(start)));
  ASSERT_TRUE(idle);
  life.pass(5s);
  EXPECT_FALSE(idle->failure());
  ASSERT_TRUE(life.insert(1, 1));
  for (int look = 0; look < 3; ++look) {
    life.pass(5s);
    ASSERT_TRUE(idle->failure());
    EXPECT_EQ(*idle->failure(), workflow::Errc::too_large);
  }
  *is_fixed = true;
  life.pass(5s);
  EXPECT_FALSE(idle->failure()) << idle->failure()->message();
  EXPECT_EQ(life.run(life.engine().queue("idle", 10)).value().waiting.size(), 1U);
}

TEST(Compose, WhatAPayloadThrowsIsToldUntilItGoesOn) {
  Life life;
  ASSERT_TRUE(life.open());
  auto is_fixed = std::make_shared<bool>(false);
  Start start{
      .name = "idle", .kind = "idle", .lane = "idle", .payload = [=](const view::Row& row) {
        // Another type than the column has.
        return std::optional(*is_fixed ? to_string(row.at(0)) : row.at(0).as<std::string>());
      }};
  auto idle = life.run(on_change(&life.engine(), &life.database(), "orders", std::move(start)));
  ASSERT_TRUE(idle);
  ASSERT_TRUE(life.insert(1, 1));
  life.pass(5s);
  ASSERT_TRUE(idle->failure());
  EXPECT_NE(idle->failure()->message().find("'idle', the payload"), std::string::npos)
      << idle->failure()->message();
  *is_fixed = true;
  life.pass(5s);
  EXPECT_FALSE(idle->failure()) << idle->failure()->message();
  EXPECT_EQ(life.run(life.engine().queue("idle", 10)).value().waiting.size(), 1U);
}

TEST(Compose, RefusesWhatIsNotThere) {
  Life life;
  ASSERT_TRUE(life.open());
  const Start start{.name = "n", .kind = "k", .payload = [](const view::Row&) {
                      return std::optional<std::string>();
                    }};
  EXPECT_FALSE(life.run(on_change(&life.engine(), &life.database(), "nothing", start)));
  EXPECT_EQ(life.run(on_change(&life.engine(), &life.database(), "orders",
                               {.name = "", .kind = "k", .payload = {}}))
                .error(),
            workflow::Errc::invalid_argument);
}

}  // namespace
}  // namespace weir::flow::compose
