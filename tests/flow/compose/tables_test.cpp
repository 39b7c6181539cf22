// Executions and workflows as tables: a row for each, as it is, wherever it crashes.
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <weir/flow/compose/execution_table.hpp>
#include <weir/flow/compose/workflow_table.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/engine/simulated_disk.hpp>

namespace weir::flow::compose {
namespace {

using namespace std::chrono_literals;
using data::col;
using workflow::ExecutionId;
using workflow::Handle;
using workflow::PublicState;
using States = std::map<std::string, std::string>;

/// An engine without workers, and a database that shows what it does.
class Shown {
 public:
  explicit Shown(workflow::EngineOptions options = {}) : engine_options_(std::move(options)) {
    options_.disk = std::make_shared<storage::engine::SimulatedDisk>();
    options_.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
  }
  ~Shown() { close(); }

  bool open(bool follows = true) {
    if (!simulation_.node().is_up()) simulation_.node().restart();
    auto store = storage::Store::open(simulation_.system(), options_);
    if (!store) return false;
    store_ = std::make_unique<storage::Store>(*std::move(store));
    return run(open_all()).has_value() && (!follows || run(follow_all()).has_value());
  }
  void crash() {
    options_.opened_at = store_->time();
    disk().crash();
    disk().repair();
    simulation_.node().crash();
    close();
  }
  bool follow() { return run(follow_all()).has_value(); }
  void pass(Duration time) { simulation_.run_for(time); }
  template <class T>
  T run(Task<T> task) {
    return simulation_.run(std::move(task));
  }
  storage::engine::SimulatedDisk& disk() { return *options_.disk; }
  const workflow::Engine& engine() { return *engine_; }
  workflow::Time time() { return store_->time(); }

  /// The value of a column, by id.
  States column(const std::string& relation, const std::string& name) {
    const auto found = run(database_->relation(relation)).value();
    const std::size_t place = found.schema()->index_of(name).value();
    view::Snapshot snapshot = database_->read();
    view::RowScan scan = snapshot.scan(found);
    States values;
    for (;;) {
      const auto batch = run(scan.next(100)).value();
      if (batch.is_empty()) return values;
      for (std::size_t row = 0; row < batch.size(); ++row) {
        values[to_string(batch.row(row).front())] = to_string(batch.row(row).at(place));
      }
    }
  }
  /// The tables are what the engine has.
  void expect_the_same() {
    States executions;
    for (std::optional<ExecutionId> after;;) {
      const auto page = run(engine_->list_executions({}, after)).value();
      for (const auto& one : page.items) {
        executions[quoted(to_string(one.id))] = quoted(std::string(to_string(one.state)));
      }
      if (!page.next) break;
      after = page.next;
    }
    EXPECT_EQ(column("executions", "state"), executions);
    States workflows;
    States waiting;
    for (const auto& id : run(engine_->list_workflows({}, 1000)).value().items) {
      const auto info = run(engine_->describe(id)).value().value();
      workflows[quoted(to_string(id))] = quoted(std::string(to_string(info.workflow.state)));
      waiting[quoted(to_string(id))] = std::to_string(info.workflow.counts[PublicState::waiting]);
    }
    EXPECT_EQ(column("workflows", "state"), workflows);
    EXPECT_EQ(column("workflows", "waiting"), waiting);
  }
  static std::string quoted(const std::string& text) { return to_string(data::Value(text)); }

 private:
  Task<Result<>> open_all() {
    WEIR_CO_TRY(database, co_await view::Database::open(&*store_));
    database_ = std::make_unique<view::Database>(std::move(database));
    WEIR_CO_TRY(opened, co_await workflow::Engine::open(&*store_, engine_options_));
    engine_ = std::make_unique<workflow::Engine>(std::move(opened));
    co_return {};
  }
  Task<Result<>> follow_all() {
    WEIR_CO_TRY(executions, co_await follow_executions(&*engine_, &*database_, "executions"));
    executions_.emplace(std::move(executions));
    WEIR_CO_TRY(workflows, co_await follow_workflows(&*engine_, &*database_, "workflows"));
    workflows_.emplace(std::move(workflows));
    WEIR_CO_TRY(table, co_await database_->relation("executions"));
    static_cast<void>(co_await database_->create_view(
        "waiting", from(table).filter(col("state") == "waiting" && col("lane") == "a")));
    co_return {};
  }
  void close() {
    workflows_.reset();
    executions_.reset();
    engine_.reset();
    database_.reset();
    store_.reset();
  }

  Simulation simulation_;
  storage::StoreOptions options_;
  const workflow::EngineOptions engine_options_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<view::Database> database_;
  std::unique_ptr<workflow::Engine> engine_;
  std::optional<Follower> executions_;
  std::optional<Follower> workflows_;
};

TEST(Tables, ExecutionsAreSeenBeforeAnybodyClaimsThem) {
  Shown shown;
  ASSERT_TRUE(shown.open());
  for (const char* lane : {"a", "a", "b"}) {
    ASSERT_TRUE(shown.run(shown.engine().create_execution({.kind = "w", .lane = lane})));
  }
  const auto later = shown.run(shown.engine().create_execution(
      {.kind = "w", .lane = "a", .not_before = shown.time() + 1min}));
  ASSERT_TRUE(later);
  shown.pass(1s);
  EXPECT_EQ(shown.column("waiting", "lane").size(), 2U);
  EXPECT_EQ(shown.column("executions", "state").at(Shown::quoted(to_string(later->id))),
            Shown::quoted("delayed"));
  shown.expect_the_same();
  shown.pass(2min);
  EXPECT_EQ(shown.column("waiting", "lane").size(), 3U) << "its time has come";
}

TEST(Tables, AReplayAndAnotherPriorityAreSeen) {
  Shown shown;
  ASSERT_TRUE(shown.open());
  const auto& engine = shown.engine();
  const auto made = shown.run(engine.create_execution({.kind = "w"})).value();
  const Handle handle = shown.run(engine.claim({.worker = "w"})).value().at(0).handle;
  ASSERT_TRUE(shown.run(engine.complete(handle)));
  shown.pass(1s);
  const std::string id = Shown::quoted(to_string(made.id));
  EXPECT_EQ(shown.column("executions", "state").at(id), Shown::quoted("completed"));
  ASSERT_TRUE(shown.run(engine.replay(made.id)));
  shown.pass(1s);
  EXPECT_EQ(shown.column("executions", "state").at(id), Shown::quoted("waiting"));
  const std::string before = shown.column("executions", "changed_at").at(id);
  ASSERT_TRUE(shown.run(engine.change_priority(made.id, 7)));
  shown.pass(1s);
  EXPECT_NE(shown.column("executions", "changed_at").at(id), before);
}

TEST(Tables, RowsGoWithWhatTheyShow) {
  Shown shown({.retention = {.keep = 1s, .period = 1s}});
  ASSERT_TRUE(shown.open());
  const auto& engine = shown.engine();
  ASSERT_TRUE(shown.run(engine.create_graph({.executions = {{.kind = "w"}, {.kind = "w"}}})));
  const auto claimed = shown.run(engine.claim({.worker = "w", .executions_max = 2})).value();
  for (const auto& one : claimed) ASSERT_TRUE(shown.run(engine.complete(one.handle)));
  shown.pass(500ms);
  EXPECT_EQ(shown.column("executions", "state").size(), 2U);
  shown.pass(10s);
  EXPECT_TRUE(shown.column("executions", "state").empty());
  EXPECT_TRUE(shown.column("workflows", "state").empty());
}

TEST(Tables, WorkflowsAreSeenFromTheirBeginningToTheirEnd) {
  Shown shown;
  ASSERT_TRUE(shown.open());
  const auto& engine = shown.engine();
  const auto empty = shown.run(engine.create_workflow({.kind = "none"})).value();
  const auto graph = shown
                         .run(engine.create_graph({.workflow = {.kind = "trip"},
                                                   .executions = {{.kind = "a"}, {.kind = "b"}},
                                                   .edges = {{0, 1}}}))
                         .value();
  const std::string id = Shown::quoted(to_string(graph.workflow));
  const auto seen = [&](const std::string& column) {
    shown.pass(1s);
    return shown.column("workflows", column).at(id);
  };
  EXPECT_EQ(seen("state"), Shown::quoted("open"));
  EXPECT_EQ(seen("waiting"), "1");
  EXPECT_EQ(seen("waiting_children"), "1");
  for (int i = 0; i < 2; ++i) {
    const Handle handle = shown.run(engine.claim({.worker = "w"})).value().at(0).handle;
    EXPECT_EQ(seen("progress"), Shown::quoted("running"));
    ASSERT_TRUE(shown.run(engine.complete(handle)));
  }
  EXPECT_EQ(seen("state"), Shown::quoted("completed"));
  EXPECT_EQ(seen("completed"), "2");
  EXPECT_EQ(seen("kind"), Shown::quoted("trip"));
  ASSERT_TRUE(shown.run(engine.cancel(empty, workflow::CancelPolicy::cancel_workflow_only)));
  shown.pass(1s);
  shown.expect_the_same();
}

TEST(Tables, WhatHappenedWhileNobodyFollowedIsMadeUpFor) {
  Shown shown({.retention = {.keep = 1s, .period = 1s}});
  ASSERT_TRUE(shown.open());
  const auto ended = shown.run(shown.engine().create_execution({.kind = "w"})).value();
  ASSERT_TRUE(shown.run(shown.engine().create_execution({.kind = "w", .lane = "a"})));
  shown.pass(1s);
  shown.crash();
  ASSERT_TRUE(shown.open(false));
  ASSERT_TRUE(shown.run(shown.engine().cancel(ended.id)));
  ASSERT_TRUE(shown.run(shown.engine().create_execution({.kind = "w", .lane = "a"})));
  ASSERT_TRUE(shown.run(shown.engine().create_workflow({.kind = "late"})));
  shown.pass(10s);
  ASSERT_TRUE(shown.follow());
  shown.pass(1s);
  EXPECT_EQ(shown.column("waiting", "lane").size(), 2U);
  shown.expect_the_same();
}

/// Gives how many writes there were.
std::uint64_t play(std::uint64_t nth) {
  SCOPED_TRACE("write " + std::to_string(nth));
  Shown shown;
  EXPECT_TRUE(shown.open());
  const std::uint64_t before = shown.disk().writes();
  if (nth > 0) shown.disk().fail_write(nth, Error(std::make_error_code(std::errc::io_error)));
  const auto act = [&] {
    const auto& engine = shown.engine();
    auto first = shown.run(engine.create_execution({.kind = "w", .idempotency_key = "a"}));
    static_cast<void>(shown.run(engine.create_execution(
        {.kind = "w", .idempotency_key = "b", .not_before = shown.time() + 2s})));
    static_cast<void>(shown.run(engine.create_graph({.executions = {{.kind = "g"}}})));
    auto claimed = shown.run(engine.claim({.worker = "w"}));
    if (claimed && !claimed->empty()) {
      static_cast<void>(shown.run(engine.complete(claimed->front().handle)));
    }
    shown.pass(1s);
    if (first) static_cast<void>(shown.run(engine.replay(first->id)));
    shown.pass(5s);
  };
  act();
  const std::uint64_t writes = shown.disk().writes() - before;
  if (nth > 0) {
    shown.crash();
    EXPECT_TRUE(shown.open());
    act();
  }
  shown.pass(5s);
  shown.expect_the_same();
  return writes;
}

TEST(Tables, I21AreTheSameAsTheEngineWhereverTheDiskFails) {
  const std::uint64_t writes = play(0);
  ASSERT_GT(writes, 10U);
  for (std::uint64_t nth = 1; nth <= writes && !::testing::Test::HasFailure(); ++nth) play(nth);
}

}  // namespace
}  // namespace weir::flow::compose
