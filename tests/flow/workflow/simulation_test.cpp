// Workers that fail, forget what they have claimed, come too late or use a claim twice, crashes of
// the whole process at any point with what was not synced partly lost, disks that fail, clocks that
// jump: every execution ends exactly once, nobody's lease is used by two, and what was answered
// stays true.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/errc.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/explore_gtest.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/storage/support/hesitant_store.hpp>
#include <weir/tests/storage/support/long_run.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;

/// What was answered, across all lives.
struct Ledger {
  std::map<ExecutionId, bool> created;                     // whether its creation was answered
  std::map<ExecutionId, std::string> completed;            // with which result
  std::set<std::pair<ExecutionId, std::uint64_t>> epochs;  // that were given to a worker
  std::vector<WorkflowId> workflows;
  std::vector<std::pair<ExecutionId, std::string>>
      sent;  // signals that were answered, by their ids

  /// Whether a worker was given the same execution after whoever has `handle`.
  bool is_overtaken(const Handle& handle) const {
    const auto later = epochs.upper_bound({handle.execution, handle.epoch});
    return later != epochs.end() && later->first == handle.execution;
  }
};

struct Work {};
/// A claim that somebody else has, too.
struct Again {
  Claimed claim;
};

/// Makes executions and graphs of them.
class Maker final : public Actor<Work> {
 public:
  Maker(const Engine* engine, Ledger* ledger, int count)
      : engine_(engine), ledger_(ledger), count_(count) {}

  Task<> on(Work) {
    for (; count_ > 0; --count_) {
      const bool is_made = random() % 2 == 0 ? co_await make_one() : co_await make_graph();
      if (!is_made) co_return;
    }
  }

 private:
  NewExecution some() {
    NewExecution execution{.kind = "work",
                           .priority = static_cast<std::int32_t>(random() % 3),
                           .retry = {.retries_max = 2, .backoff = 5ms}};
    if (random() % 8 == 0) execution.attempt_timeout = 20ms;
    if (random() % 2 == 0) execution.limit_keys = {"key:" + std::to_string(random() % 3)};
    return execution;
  }
  Task<bool> make_one() {
    NewExecution request = some();
    request.idempotency_key = "key" + std::to_string(random() % 50);
    auto made = co_await engine_->create_execution(std::move(request));
    if (made) ledger_->created[made->id] = true;
    co_return made || made.error() == Errc::idempotency_mismatch;
  }
  Task<bool> make_graph() {
    NewGraph graph;
    graph.workflow.on_failure =
        random() % 4 == 0 ? FailurePolicy::fail_fast : FailurePolicy::isolate;
    const std::size_t nodes = 2 + random() % 5;
    for (std::size_t i = 0; i < nodes; ++i) graph.executions.push_back(some());
    for (std::size_t to = 1; to < nodes; ++to) {
      std::uint32_t edges = 0;
      for (std::size_t from = 0; from < to; ++from) {
        if (random() % 2 == 0) continue;
        graph.edges.push_back({from, to, "in"});
        ++edges;
      }
      if (edges > 1 && random() % 2 == 0) {
        graph.policies.push_back(
            {to, EdgePolicy::quorum(
                     1 + static_cast<std::uint32_t>(random() % edges),
                     random() % 2 == 0 ? OnSatisfied::cancel_remaining : OnSatisfied::let_run)});
      }
    }
    auto made = co_await engine_->create_graph(std::move(graph));
    if (!made) co_return false;
    for (const ExecutionId& id : made->executions) ledger_->created[id] = true;
    ledger_->workflows.push_back(made->workflow);
    if (random() % 8 == 0) {
      co_return (co_await engine_->cancel(made->workflow, CancelPolicy::cancel_all)).has_value();
    }
    co_return true;
  }

  const Engine* engine_;
  Ledger* ledger_;
  int count_;
};

/// Does what it claims, badly.
class Hand final : public Actor<Work, Again> {
 public:
  Hand(const Engine* engine, Ledger* ledger, bool is_honest)
      : engine_(engine), ledger_(ledger), is_honest_(is_honest) {}

  Task<> on(Work) {
    for (;;) {
      auto claimed = co_await engine_->next({.worker = "hand", .lease = 30ms});
      if (!claimed) co_return;
      for (Claimed& claim : *claimed) {
        // I19: nobody else has had, or will have, this right.
        EXPECT_TRUE(ledger_->epochs.insert({claim.handle.execution, claim.handle.epoch}).second);
        if (!co_await treat(std::move(claim))) co_return;
      }
    }
  }
  Task<> on(Again again) { static_cast<void>(co_await treat(std::move(again.claim))); }

 private:
  Task<bool> treat(Claimed claim) {
    const std::uint64_t choice = is_honest_ ? 9 : random() % 10;
    if (choice == 0) co_return true;  // forgotten
    if (choice <= 2) static_cast<void>(co_await sleep_for(Duration(random() % 60'000'000)));
    if (choice == 3)
      co_return lives(co_await use(claim, engine_->fail(claim.handle, {"bad luck"})));
    if (choice == 4) {
      const Time until = claim.expires_at + std::chrono::milliseconds(5);
      co_return lives(co_await use(claim, engine_->delay(claim.handle, until)));
    }
    if (choice == 5) static_cast<void>(co_await use(claim, engine_->renew(claim.handle, 30ms)));
    if (choice == 6) co_return co_await let_wait(std::move(claim));
    if (choice == 7) system().spawn<Hand>(engine_, ledger_, false).send<Again>(claim);
    const std::string result = "by epoch " + std::to_string(claim.handle.epoch);
    auto completed = co_await use(claim, engine_->complete(claim.handle, result));
    if (completed) {
      const bool is_first = ledger_->completed.emplace(claim.handle.execution, result).second;
      EXPECT_TRUE(is_first) << to_string(claim.handle.execution) << " completed twice";
    }
    co_return lives(completed);
  }
  /// Waits for signals, some of which it sends itself, early, late, twice or never.
  Task<bool> let_wait(Claimed claim) {
    const ExecutionId id = claim.handle.execution;
    if (random() % 2 == 0 && !co_await send(id, "a")) co_return false;
    SuspendRequest request{.condition = WaitCondition::all_of({"a", "b"}),
                           .key = "wait",
                           .timeout = std::chrono::milliseconds(10 + random() % 50),
                           .on_timeout = static_cast<OnTimeout>(1 + random() % 5)};
    auto waits = co_await use(claim, engine_->suspend(claim.handle, request));
    if (!waits) co_return lives(waits);
    if (waits->resumed) co_return lives(co_await engine_->complete(claim.handle, "waited"));
    if (random() % 2 == 0 && !co_await send(id, "a")) co_return false;
    co_return random() % 3 == 0 || co_await send(id, "b");
  }
  Task<bool> send(ExecutionId id, std::string waitpoint) {
    const std::string signal_id = waitpoint + std::to_string(random() % 2);
    auto sent = co_await engine_->approve({id, waitpoint, signal_id, signal_id});
    if (sent) ledger_->sent.emplace_back(id, signal_id);
    co_return lives(sent);
  }
  /// I19: what was given to somebody else later is nobody's right any more.
  template <class T>
  Task<Result<T>> use(const Claimed& claim, Task<Result<T>> call) {
    const Handle handle = claim.handle;
    const bool is_overtaken = ledger_->is_overtaken(handle);
    auto answer = co_await std::move(call);
    EXPECT_FALSE(answer && is_overtaken)
        << to_string(handle.execution) << " with epoch " << handle.epoch;
    co_return answer;
  }
  template <class T>
  static bool lives(const Result<T>& result) {
    return result || !(result.error() == Errc::unavailable || result.error() == Errc::closed);
  }

  const Engine* engine_;
  Ledger* ledger_;
  bool is_honest_;
};

class Scenario {
 public:
  explicit Scenario(Simulation& simulation) : simulation_(simulation) {
    options_.disk = std::make_shared<storage::engine::SimulatedDisk>();
    options_.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
    if (simulation.random() % 3 == 0) is_buffered_ = true;
    if (is_buffered_) options_.durability = storage::Durability::buffered(2ms);
    waits_for_disk_ = simulation.random() % 4 == 0;
  }

  void run() {
    for (int life = 0; life < 3 && !::testing::Test::HasFailure(); ++life) {
      open();
      for (int hands = 1 + pick(3); hands > 0; --hands) spawn_hand(false);
      for (int makers = 1 + pick(2); makers > 0; --makers) {
        simulation_.system().spawn<Maker>(&*engine_, &ledger_, 1 + pick(6)).send<Work>();
      }
      if (pick(4) == 0)
        options_.disk->fail_write(1 + pick(30), Error(std::make_error_code(std::errc::io_error)));
      simulation_.run_for(std::chrono::milliseconds(pick(120)));
      simulation_.run_steps(pick(300));
      crash();
    }
    if (::testing::Test::HasFailure()) return;
    open();
    for (int hands = 0; hands < 3; ++hands) spawn_hand(true);
    simulation_.run_for(60s);
    // What waits for people is let go on, also if who made it was not answered.
    for (const ExecutionId& id : unfinished()) {
      static_cast<void>(simulation_.run(engine_->resume(id, "boss")));
    }
    simulation_.run_for(60s);
    for (const ExecutionId& id : unfinished()) {
      ADD_FAILURE() << to_string(id) << " is "
                    << to_string(simulation_.run(engine_->describe(id)).value()->execution.state);
    }
    judge();
    close();
  }

 private:
  int pick(int below) { return static_cast<int>(simulation_.random() % below); }
  void spawn_hand(bool is_honest) {
    simulation_.system().spawn<Hand>(&*engine_, &ledger_, is_honest).send<Work>();
  }
  /// All that have not ended, whoever knows of them.
  std::vector<ExecutionId> unfinished() {
    using enum PublicState;
    const ExecutionFilter filter{
        .states = {waiting, delayed, rate_limited, waiting_children, active, suspended}};
    std::vector<ExecutionId> found;
    for (std::optional<ExecutionId> after;;) {
      const auto page = simulation_.run(engine_->list_executions(filter, after, 1000)).value();
      for (const ExecutionSummary& one : page.items) found.push_back(one.id);
      if (!page.next) return found;
      after = page.next;
    }
  }
  Result<storage::Store> open_store() {
    ActorSystem& system = simulation_.system();
    if (!waits_for_disk_) return storage::Store::open(system, options_);
    return storage::test::open_hesitant(system, options_);
  }
  void open() {
    if (!simulation_.node().is_up()) simulation_.node().restart();
    auto store = open_store();
    ASSERT_TRUE(store) << store.error().message();
    store_.emplace(*std::move(store));
    EngineOptions options;
    if (pick(2) == 0) options = {.records_max = 4, .cancels_max = 2};
    auto engine = simulation_.run(Engine::open(&*store_, options));
    ASSERT_TRUE(engine) << engine.error().message();
    engine_.emplace(*std::move(engine));
    const Rate rate{.count = 2000, .per = 1s, .burst = 3};
    static_cast<void>(simulation_.run(engine_->set_limit("key:*", 1 + pick(3), rate)));
  }
  /// By which the clock is wrong when it starts again. Less is caught up with at the end.
  Duration jump() {
    if (pick(4) == 0) return -std::chrono::milliseconds(pick(10'000));
    if (pick(4) == 0) return std::chrono::seconds(pick(3'600));
    return {};
  }
  void crash() {
    options_.opened_at = store_->time() + jump();
    const std::size_t unsynced = options_.disk->unsynced();
    options_.disk->crash(simulation_.random() % (unsynced + 1));
    options_.disk->repair();
    simulation_.node().crash();
    engine_.reset();
    store_.reset();
    // What was answered may be lost then, as it says.
    if (is_buffered_) ledger_ = {};
  }
  void close() {
    engine_.reset();
    store_.reset();
  }

  void judge() {
    std::map<ExecutionId, int> told;
    std::map<ExecutionId, Outcome> outcomes;
    for (std::uint64_t from = 1;;) {
      const auto notices = simulation_.run(engine_->notices(from)).value();
      if (notices.empty()) break;
      for (const auto& [number, notice] : notices) {
        ASSERT_EQ(number, from++);
        if (notice.kind != NoticeKind::completion) continue;
        ++told[notice.execution];
        outcomes[notice.execution] = notice.outcome;
      }
    }
    for (const auto& [id, is_answered] : ledger_.created) {
      const auto info = simulation_.run(engine_->describe(id)).value();
      ASSERT_TRUE(info) << to_string(id) << " was answered, and is lost";
      EXPECT_TRUE(info->execution.has_ended())
          << to_string(id) << " is " << to_string(info->execution.state);
      EXPECT_EQ(told[id], 1) << to_string(id);
      EXPECT_EQ(outcomes[id], info->execution.state.outcome) << to_string(id);
    }
    for (const auto& [id, result] : ledger_.completed) {
      EXPECT_EQ(simulation_.run(engine_->result(id)).value(), result) << to_string(id);
    }
    for (const WorkflowId& id : ledger_.workflows) judge(id);
    judge_signals();
    EXPECT_EQ(simulation_.run(engine_->lane("default")).value().active, 0U);
    for (const std::string key : {"key:0", "key:1", "key:2"}) {
      EXPECT_EQ(simulation_.run(engine_->limit(key)).value().active, 0U) << key;
    }
  }

  /// Each that was answered is there, and once, however often it was sent.
  void judge_signals() {
    for (const auto& [id, signal_id] : ledger_.sent) {
      const auto signals = simulation_.run(engine_->signals(id)).value();
      EXPECT_EQ(std::ranges::count(signals, signal_id, &Signal::id), 1) << to_string(id);
      EXPECT_FALSE(simulation_.run(engine_->suspension(id)).value()) << to_string(id);
    }
  }

  void judge(const WorkflowId& id) {
    const Workflow workflow = simulation_.run(engine_->describe(id)).value().value().workflow;
    EXPECT_TRUE(workflow.has_ended()) << to_string(id);
    EXPECT_FALSE(workflow.cancelling) << to_string(id);
    StateCounts counts;
    for (const ExecutionId& member : simulation_.run(engine_->members(id)).value().items) {
      ++counts[simulation_.run(engine_->describe(member)).value().value().state];
    }
    EXPECT_EQ(workflow.counts, counts) << to_string(id);
  }

  Simulation& simulation_;
  storage::StoreOptions options_;
  bool is_buffered_ = false;
  bool waits_for_disk_ = false;  // often, so that others go on meanwhile
  std::optional<storage::Store> store_;
  std::optional<Engine> engine_;
  Ledger ledger_;
};

TEST(WorkflowSimulation, I19I20EveryExecutionEndsOnceWhateverHappens) {
  const int seeds = 1500;
  explore_in_test({.seeds = storage::test::lengthened(
                       static_cast<std::uint64_t>(weir::testing::scaled_seeds(seeds))),
                   .first_seed = storage::test::first_seed()},
                  [](Simulation& simulation) { Scenario(simulation).run(); });
}

}  // namespace
}  // namespace weir::flow::workflow
