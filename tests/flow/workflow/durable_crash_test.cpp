// Steps whose writes are committed with the journal, and crashes at every commit.
#include <weir/flow/workflow/workflow_context.hpp>

#include <chrono>
#include <stdexcept>

#include <gtest/gtest.h>

#include <weir/runtime/explore_gtest.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/try.hpp>
#include <weir/tests/flow/workflow/support/worker_fixture.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/storage/support/hesitant_store.hpp>
#include <weir/tests/storage/support/long_run.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using storage::Transaction;
using Lines = std::vector<std::string>;
using Ledger = storage::RowSpace<std::uint64_t, std::string>;

Task<Result<std::uint64_t>> enter(Transaction* transaction, const Ledger* ledger,
                                  std::string line) {
  std::uint64_t number = 1;
  for (;; ++number) {
    WEIR_CO_TRY(taken, co_await transaction->get(*ledger, number));
    if (!taken) break;
  }
  transaction->put(*ledger, number, line);
  co_return number;
}

Task<Result<Lines>> lines_of(storage::Store* store, const Ledger* ledger) {
  Lines lines;
  const auto now = store->read();
  auto scan = now.scan(*ledger);
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) co_return lines;
    lines.push_back(row->value);
  }
}

struct Trip {
  bool fails = false;
  std::int64_t patience = 10;  // seconds
  std::string name = {};       // in each line of the ledger
};

/// Pays, sleeps, begins a child, waits for a signal, and fails or not in the end.
Task<std::string> take(WorkflowContext ctx, const Ledger* ledger, Trip trip) {
  auto note = [ledger](Transaction& t, std::string line) { return enter(&t, ledger, line); };
  co_await ctx.step("pay", note, trip.name + "pay");
  ctx.compensate("refund", note, trip.name + "refund");
  co_await ctx.sleep(100ms);
  const auto child = ctx.child<std::uint64_t>("book", trip.name + "book");
  co_await ctx.result(child);
  co_await ctx.sleep(5s);
  const bool is_patched = ctx.patched("new");
  const auto word =
      co_await ctx.signal<std::string>("go", within(std::chrono::seconds(trip.patience)));
  co_await ctx.step("travel", note, trip.name + "travel " + word.value_or("silently"));
  if (trip.fails) throw std::runtime_error("rain");
  co_return is_patched ? "there" : "?";
}
Task<std::uint64_t> book(WorkflowContext ctx, const Ledger* ledger, std::string what) {
  auto note = [ledger](Transaction& t, std::string line) { return enter(&t, ledger, line); };
  co_return co_await ctx.step("book", note, what);
}

/// A process with a store, an engine and a worker, on a disk that outlives it.
class Life {
 public:
  Life(Simulation& simulation, std::shared_ptr<storage::engine::SimulatedDisk> disk)
      : simulation_(simulation) {
    options_.disk = std::move(disk);
    options_.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
  }
  ~Life() { close(); }

  bool open(EngineOptions engine = {}) {
    if (!simulation_.node().is_up()) simulation_.node().restart();
    auto store = storage::Store::open(simulation_.system(), options_);
    if (!store) return false;
    store_.emplace(*std::move(store));
    auto ledger = simulation_.run(store_->open_rows<std::uint64_t, std::string>("ledger"));
    if (!ledger) return false;
    ledger_.emplace(*std::move(ledger));
    auto opened = simulation_.run(Engine::open(&*store_, engine));
    if (!opened) return false;
    engine_.emplace(*std::move(opened));
    worker_.emplace(&*engine_, WorkerOptions{.lease = 3s, .memory_wait_max = 1s});
    worker_->on("trip", [this](WorkflowContext ctx, Trip t) { return take(ctx, &*ledger_, t); });
    worker_->on("book",
                [this](WorkflowContext ctx, std::string w) { return book(ctx, &*ledger_, w); });
    worker_->start();
    return true;
  }
  void crash(std::size_t survivors = 0) {
    if (store_) options_.opened_at = store_->time();
    options_.disk->crash(survivors);
    options_.disk->repair();
    simulation_.node().crash();
    close();
  }
  void close() {
    worker_.reset();
    engine_.reset();
    ledger_.reset();
    store_.reset();
  }

  Result<ExecutionId> begin(std::string key, Trip trip) {
    auto made = simulation_.run(engine_->create_execution(
        {.kind = "trip", .payload = to_payload(trip), .idempotency_key = std::move(key)}));
    if (!made) return made.error();
    return made->id;
  }
  const Engine& engine() { return *engine_; }
  Lines lines() { return simulation_.run(lines_of(&*store_, &*ledger_)).value(); }

 private:
  Simulation& simulation_;
  storage::StoreOptions options_;
  std::optional<storage::Store> store_;
  std::optional<Ledger> ledger_;
  std::optional<Engine> engine_;
  std::optional<Worker> worker_;
};

/// Runs a trip to its end, with a crash at the `nth` write, if it is not zero. Gives how many
/// writes there were.
std::uint64_t run_trip(bool fails, std::uint64_t nth, bool is_sync) {
  SCOPED_TRACE((is_sync ? "sync " : "write ") + std::to_string(nth));
  Simulation simulation;
  const auto disk = std::make_shared<storage::engine::SimulatedDisk>();
  Life life(simulation, disk);
  EXPECT_TRUE(life.open());
  const std::uint64_t before = is_sync ? disk->syncs() : disk->writes();
  const Error broken(std::make_error_code(std::errc::io_error));
  if (nth > 0 && is_sync) disk->fail_sync(nth, broken);
  if (nth > 0 && !is_sync) disk->fail_write(nth, broken);
  const auto signal = [&](const ExecutionId& id) {
    static_cast<void>(simulation.run(life.engine().approve(
        {.execution = id, .waitpoint = "go", .payload = "gladly", .id = "the one"})));
  };
  if (auto id = life.begin("trip", {fails, 3600, {}}); id) {
    simulation.run_for(8s);
    signal(*id);
    simulation.run_for(20s);
  }
  const std::uint64_t writes = (is_sync ? disk->syncs() : disk->writes()) - before;
  if (nth > 0) {
    life.crash();
    EXPECT_TRUE(life.open());
  }
  auto id = life.begin("trip", {fails, 3600, {}});
  EXPECT_TRUE(id);
  simulation.run_for(1s);
  signal(*id);
  simulation.run_for(30s);
  const auto info = simulation.run(life.engine().describe(*id)).value();
  EXPECT_EQ(info->state, fails ? PublicState::failed : PublicState::completed)
      << to_string(info->execution.state) << " " << info->execution.end_reason;
  Lines expected = {"pay", "book", "travel gladly"};
  if (fails) expected.emplace_back("refund");
  EXPECT_EQ(life.lines(), expected);
  return writes;
}

TEST(DurableCrash, I21EachEffectIsThereOnceWhereverTheDiskFails) {
  for (const bool fails : {false, true}) {
    for (const bool is_sync : {false, true}) {
      const std::uint64_t writes = run_trip(fails, 0, is_sync);
      ASSERT_GT(writes, 8U);
      for (std::uint64_t nth = 1; nth <= writes && !::testing::Test::HasFailure(); ++nth) {
        run_trip(fails, nth, is_sync);
      }
    }
  }
}

class Scenario {
 public:
  explicit Scenario(Simulation& simulation)
      : simulation_(simulation),
        disk_(std::make_shared<storage::engine::SimulatedDisk>()),
        life_(simulation, disk_) {}

  void run() {
    for (int lives = 1 + pick(4); lives > 0; --lives) {
      ASSERT_TRUE(life_.open(pick(2) == 0 ? EngineOptions{.records_max = 4} : EngineOptions{}));
      for (int i = pick(4); i > 0; --i) begin();
      if (pick(3) == 0) {
        disk_->fail_write(1 + pick(40), Error(std::make_error_code(std::errc::io_error)));
      }
      simulation_.run_for(std::chrono::milliseconds(pick(9000)));
      if (pick(2) == 0 && !trips_.empty()) cancel_one();
      simulation_.run_steps(pick(400));
      const std::size_t unsynced = disk_->unsynced();
      life_.crash(simulation_.random() % (unsynced + 1));
    }
    ASSERT_TRUE(life_.open());
    begin();
    simulation_.run_for(60s);
    judge();
  }

 private:
  int pick(int below) { return static_cast<int>(simulation_.random() % below); }
  void begin() {
    const bool fails = pick(2) == 0;
    const std::string key = "trip " + std::to_string(begun_++);
    if (auto id = life_.begin(key, {.fails = fails, .name = key + ": "})) {
      trips_.emplace(*id, Begun{fails, key + ": "});
    }
  }
  void cancel_one() {
    const auto& [id, begun] = *std::next(trips_.begin(), pick(static_cast<int>(trips_.size())));
    static_cast<void>(simulation_.run(life_.engine().cancel(id, "no more")));
  }
  void judge() {
    std::map<std::string, std::size_t> lines;
    for (const std::string& line : life_.lines()) ++lines[line];
    for (const auto& [line, times] : lines) EXPECT_EQ(times, 1U) << line;
    for (const auto& [id, begun] : trips_) {
      const auto info = simulation_.run(life_.engine().describe(id)).value();
      ASSERT_TRUE(info) << to_string(id);
      ASSERT_TRUE(info->execution.has_ended())
          << to_string(id) << " is " << to_string(info->execution.state);
      const auto has = [&](const char* what) { return lines.contains(begun.name + what); };
      if (has("travel silently")) EXPECT_TRUE(has("pay") && has("book")) << begun.name;
      // What was cancelled has done some of it, and that was undone.
      if (info->state == PublicState::cancelled) {
        EXPECT_EQ(has("refund"), has("pay")) << begun.name;
        continue;
      }
      EXPECT_EQ(info->state, begun.fails ? PublicState::failed : PublicState::completed)
          << info->execution.end_reason;
      EXPECT_TRUE(has("travel silently")) << begun.name;
      EXPECT_EQ(has("refund"), begun.fails) << begun.name;
    }
  }

  struct Begun {
    bool fails = false;
    std::string name;
  };

  Simulation& simulation_;
  std::shared_ptr<storage::engine::SimulatedDisk> disk_;
  Life life_;
  std::map<ExecutionId, Begun> trips_;
  int begun_ = 0;
};

TEST(DurableCrash, I21HoldsWhateverCrashes) {
  explore_in_test({.seeds = storage::test::lengthened(
                       static_cast<std::uint64_t>(weir::testing::scaled_seeds(1000))),
                   .first_seed = storage::test::first_seed()},
                  [](Simulation& simulation) { Scenario(simulation).run(); });
}

class TransactionStep : public testing::WorkerTest {
 protected:
  void SetUp() override {
    testing::WorkerTest::SetUp();
    ledger.emplace(run(store().open_rows<std::uint64_t, std::string>("ledger")).value());
  }
  std::optional<Ledger> ledger;
};

TEST_F(TransactionStep, IsRunAgainWhenOthersWereFaster) {
  int tries = 0;
  struct Code {
    static Task<Result<std::uint64_t>> slowly(Transaction* t, const Ledger* ledger, int* tries) {
      ++*tries;
      WEIR_CO_TRY(number, co_await enter(t, ledger, "slow"));
      static_cast<void>(co_await sleep_for(1s));
      co_return number;
    }
    static Task<std::uint64_t> run(WorkflowContext ctx, const Ledger* ledger, int* tries) {
      co_return co_await ctx.step("slow",
                                  [=](Transaction& t) { return slowly(&t, ledger, tries); });
    }
  };
  start([&](Worker& worker) {
    worker.on("w", [&](WorkflowContext ctx) { return Code::run(ctx, &*ledger, &tries); });
  });
  const ExecutionId id = begin_execution("w");
  pass(500ms);
  Transaction other = store().begin();
  ASSERT_EQ(run(enter(&other, &*ledger, "quick")).value(), 1U);
  ASSERT_TRUE(run(other.commit()));
  EXPECT_EQ(finish(id).state, PublicState::completed);
  EXPECT_EQ(result<std::uint64_t>(id), 2U);
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(run(lines_of(&store(), &*ledger)).value(), (Lines{"quick", "slow"}));
}

TEST_F(TransactionStep, ThatFailsWritesNothing) {
  struct Code {
    static Task<Result<>> bad(Transaction* t, const Ledger* ledger) {
      WEIR_CO_TRY_VOID(co_await enter(t, ledger, "bad"));
      co_return Error(Errc::step_failed, "on second thought");
    }
    static Task<> run(WorkflowContext ctx, const Ledger* ledger) {
      co_await ctx.step("bad", [=](Transaction& t) { return bad(&t, ledger); });
    }
  };
  start([&](Worker& worker) {
    worker.on("w", [&](WorkflowContext ctx) { return Code::run(ctx, &*ledger); });
  });
  const ExecutionId id = begin_execution("w");
  EXPECT_EQ(finish(id).state, PublicState::failed);
  EXPECT_EQ(run(lines_of(&store(), &*ledger)).value(), Lines());
  EXPECT_EQ(names(id), (Lines{"step bad failed"}));
}

/// A commit of a step, while somebody else gets the execution: in every order.
class Handover {
 public:
  explicit Handover(Simulation& simulation) : simulation_(simulation) {
    options_.disk = std::make_shared<storage::engine::SimulatedDisk>();
    store_.emplace(storage::test::open_hesitant(simulation.system(), options_).value());
    ledger_.emplace(simulation.run(store_->open_rows<std::uint64_t, std::string>("l")).value());
    engine_.emplace(simulation.run(Engine::open(&*store_)).value());
  }

  void run() {
    id_ = simulation_.run(engine_->create_execution({.kind = "w"})).value().id;
    const auto claimed = simulation_.run(engine_->claim({.worker = "slow"})).value().at(0);
    Transaction transaction = store_->begin();
    transaction.put(*ledger_, 1, "in");
    auto commit = std::make_shared<StorageStepCommit>(std::move(transaction));
    const Duration after(simulation_.random() % 3 * 1000);
    simulation_.run(both(this, claimed.handle, std::move(commit), after));
    const Lines lines = simulation_.run(lines_of(&*store_, &*ledger_)).value();
    EXPECT_EQ(lines.size(), is_in_ ? 1U : 0U);
    EXPECT_EQ(seen_, lines.size()) << "the other one does not know what was done";
    EXPECT_EQ(simulation_.run(engine_->journal(id_)).value().entries.size(), lines.size());
  }

 private:
  static Task<> write(Handover* self, Handle handle, std::shared_ptr<StepCommit> commit) {
    auto written = co_await self->engine_->append_journal(handle, 0, {{.name = "s", .number = 1}},
                                                          std::move(commit));
    self->is_in_ = written.has_value();
  }
  static Task<> take_over(Handover* self, Duration after) {
    static_cast<void>(co_await sleep_for(after));
    EXPECT_TRUE(co_await self->engine_->revoke(self->id_, "too slow"));
    EXPECT_EQ((co_await self->engine_->claim({.worker = "quick"})).value().size(), 1U);
    self->seen_ = (co_await self->engine_->journal(self->id_)).value().entries.size();
  }
  static Task<> both(Handover* self, Handle handle, std::shared_ptr<StepCommit> commit,
                     Duration after) {
    TaskScope scope;
    scope.spawn(write(self, handle, std::move(commit)));
    scope.spawn(take_over(self, after));
    co_await scope.join();
  }

  Simulation& simulation_;
  storage::StoreOptions options_;
  std::optional<storage::Store> store_;
  std::optional<Ledger> ledger_;
  std::optional<Engine> engine_;
  ExecutionId id_;
  bool is_in_ = false;
  std::size_t seen_ = 0;
};

TEST(TransactionStepRace, WhoTakesOverKnowsWhatWasCommitted) {
  explore_in_test({.seeds = 500}, [](Simulation& simulation) { Handover(simulation).run(); });
}

}  // namespace
}  // namespace weir::flow::workflow
