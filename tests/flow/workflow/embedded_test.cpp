// What only the embedded store can show: disks that fail, and one engine at a time.
#include <weir/flow/workflow/engine.hpp>

#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/step_commit.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/explore_gtest.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/store.hpp>
#include <weir/tests/flow/workflow/support/engine_fixture.hpp>
#include <weir/tests/storage/support/hesitant_store.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;

class EmbeddedEngineTest : public testing::EngineTest {};

NewExecution work(std::string payload) { return {.kind = "work", .payload = std::move(payload)}; }

TEST_F(EmbeddedEngineTest, AWorkflowOfManyIsCancelledInPiecesAlsoAcrossACrash) {
  NewGraph many{.executions = std::vector<NewExecution>(1000, work("many"))};
  const auto graph = run(engine().create_graph(many)).value();
  const auto held = claim({.worker = "w"}).at(0);
  reopen({.cancels_max = 7});
  // The writes after the one that marks the workflow fail: it is not finished.
  disk().fail_write(10, Error(storage::Errc::io_error, "simulated"));
  EXPECT_FALSE(run(engine().cancel(graph.workflow, CancelPolicy::cancel_all, "enough")));
  crash();
  pass(1s);
  const Workflow workflow = describe(graph.workflow);
  EXPECT_EQ(workflow.state, WorkflowState::cancelled);
  EXPECT_EQ(workflow.cancel_reason, "enough");
  EXPECT_EQ(workflow.counts[PublicState::cancelled], 1000U);
  EXPECT_FALSE(workflow.cancelling);
  EXPECT_EQ(run(engine().complete(held.handle, "")).error(), Errc::execution_not_active);
  const auto told = completions();
  EXPECT_EQ(told.size(), 1000U);
  for (const auto& [id, times] : told) EXPECT_EQ(times, 1) << to_string(id);
}

TEST_F(EmbeddedEngineTest, AfterAFailedWriteNothingIsAnsweredUntilItIsReopened) {
  const ExecutionId before = create();
  disk().fail_write(1, Error(storage::Errc::io_error, "simulated"));
  EXPECT_EQ(run(engine().create_execution({.kind = "lost"})).error(), Errc::unavailable);
  EXPECT_EQ(run(engine().describe(before)).error(), Errc::unavailable);
  EXPECT_FALSE(run(engine().claim({.worker = "w"})));
  crash();
  EXPECT_EQ(claim_one().handle.execution, before);
  EXPECT_TRUE(claim({.worker = "w"}).empty());
}

TEST_F(EmbeddedEngineTest, OneThatCannotBeCountedIsToldAndHoldsUpNobody) {
  NewGraph two{.executions = std::vector<NewExecution>(2, work("x"))};
  const auto broken = run(engine().create_graph(two)).value();
  const auto wrong = run(engine().create_graph(two)).value();
  tamper<Workflow>(wrong.workflow,
                   [](Workflow& workflow) { ++workflow.counts[PublicState::failed]; });
  const auto executions = run(store().open_state<ExecutionId, Execution>("workflow.live")).value();
  auto transaction = store().begin();
  transaction.remove(executions, broken.executions[0]);
  ASSERT_TRUE(run(transaction.commit()));
  crash();
  pass(1s);
  const AuditReport report = run(engine().audit()).value();
  EXPECT_EQ(report.errors, 1U);
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(report.problems[0], Errc::corruption);
  EXPECT_NE(report.problems[0].message().find(to_string(broken.executions[0])), std::string::npos);
  EXPECT_EQ(report.repaired, 1U);
}

TEST_F(EmbeddedEngineTest, WhoeverCannotBeClaimedIsSetAsideAndHoldsUpNobody) {
  const ExecutionId broken = create({.kind = "work", .priority = 9});
  const ExecutionId odd = create({.kind = "work", .priority = 8});
  const ExecutionId fine = create();
  const auto specs =
      run(store().open_state<ExecutionId, ExecutionSpec>("workflow.execution_specs")).value();
  auto transaction = store().begin();
  transaction.remove(specs, broken);
  ASSERT_TRUE(run(transaction.commit()));
  tamper<Execution>(
      odd, [](Execution& execution) { execution.state.attempt = AttemptState::attempt_terminal; });
  crash();
  EXPECT_EQ(claim_one().handle.execution, fine);
  EXPECT_TRUE(claim({.worker = "w"}).empty());
  const auto aside = run(engine().set_aside()).value();
  ASSERT_EQ(aside.size(), 2U);
  for (const SetAside& one : aside) {
    EXPECT_TRUE(one.what == "execution " + to_string(broken) ||
                one.what == "execution " + to_string(odd));
  }
}

TEST_F(EmbeddedEngineTest, AStaleWorkerCannotCommitAStep) {
  create();
  const Claimed slow = claim({.worker = "slow", .lease = 3s}).at(0);
  pass(4s);
  const Claimed quick = claim({.worker = "quick"}).at(0);
  EXPECT_EQ(run(engine().append_journal(slow.handle, 0, {{.name = "stale"}},
                                        std::make_shared<StorageStepCommit>(store().begin())))
                .error(),
            Errc::stale_lease);
  ASSERT_TRUE(run(engine().append_journal(quick.handle, 0, {{.name = "b", .number = 1}},
                                          std::make_shared<StorageStepCommit>(store().begin()))));
}

TEST_F(EmbeddedEngineTest, ASecondOneOnTheSameStoreIsRefused) {
  EXPECT_EQ(run(Engine::open(&store())).error(), Errc::already_exists);
  EXPECT_EQ(claim({.worker = "w"}).size(), 0U);
  reopen();
  create();
  claim_one();
}

/// What an execution was before there were results in it.
struct OldExecution {
  std::string space;
  std::int32_t priority = 0;

  static auto weir_fields(auto& self) { return std::tie(self.space, self.priority); }
};

TEST(OldStore, IsRefusedByTheSpaceThatIsOtherwiseAndLeftAsItIs) {
  ActorSystem system{{.threads = 1}};
  storage::Store store = storage::Store::open(system, {}).value();
  const ExecutionId id;
  const auto space =
      system.run(store.open_state<ExecutionId, OldExecution>("workflow.executions")).value();
  auto transaction = store.begin();
  transaction.put(space, id, OldExecution{"old", 7});
  ASSERT_TRUE(system.run(transaction.commit()));
  const auto refused = system.run(Engine::open(&store));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), storage::Errc::wrong_type) << refused.error().message();
  EXPECT_NE(refused.error().message().find("workflow.executions"), std::string::npos)
      << refused.error().message();
  EXPECT_EQ(store.current_state().get(space, id).blocking().value()->priority, 7);
  // Another one is refused as well: nothing has been made over.
  EXPECT_EQ(system.run(Engine::open(&store)).error(), storage::Errc::wrong_type);
}

/// A store in memory with an engine, on real threads.
struct Shop {
  ActorSystem system{{.threads = 1}};
  storage::Store store = storage::Store::open(system, {}).value();
  Engine engine = system.run(Engine::open(&store)).value();
};

TEST(Identity, HandlesOfOneStoreAreForeignToAnother) {
  // Both systems draw the same random numbers.
  Shop one;
  Shop other;
  for (Shop* shop : {&one, &other}) {
    ASSERT_TRUE(shop->system.run(shop->engine.create_execution({.kind = "work"})));
  }
  const auto claimed = one.system.run(one.engine.claim({.worker = "w"})).value();
  ASSERT_TRUE(other.system.run(other.engine.claim({.worker = "w"})));
  const Handle handle = claimed.at(0).handle;
  EXPECT_EQ(other.system.run(other.engine.complete(handle)).error(), Errc::foreign_handle);
  EXPECT_TRUE(one.system.run(one.engine.complete(handle)));
}

/// Two who cancel a workflow at once, each of whom may have to wait for the disk.
class CancelRace {
 public:
  explicit CancelRace(Simulation& simulation) : simulation_(simulation) {
    options_.disk = std::make_shared<storage::engine::SimulatedDisk>();
    store_.emplace(storage::test::open_hesitant(simulation.system(), options_).value());
    open();
  }

  void run() {
    const NewGraph three{.executions = std::vector<NewExecution>(3, work("x"))};
    const auto graph = simulation_.run(engine_->create_graph(three)).value();
    open();  // the workflow has to be read
    // Which of the reads to come has to wait depends on how many there were.
    for (std::uint64_t reads = simulation_.random() % 20; reads > 0; --reads) {
      const ExecutionId nobody = ExecutionId::in_lane("x", make_timed_uuid(1, 2, reads));
      EXPECT_FALSE(simulation_.run(engine_->describe(nobody)).value());
    }
    simulation_.run(both(&*engine_, graph.workflow));
    simulation_.run_for(1s);
    const Workflow workflow = simulation_.run(engine_->describe(graph.workflow)).value()->workflow;
    EXPECT_EQ(workflow.counts[PublicState::cancelled], 3U);
    EXPECT_FALSE(workflow.cancelling);
  }

 private:
  void open() {
    engine_.reset();
    engine_.emplace(simulation_.run(Engine::open(&*store_)).value());
  }
  static Task<> cancel(const Engine* engine, WorkflowId workflow) {
    EXPECT_TRUE(co_await engine->cancel(workflow, CancelPolicy::cancel_all));
  }
  static Task<> both(const Engine* engine, WorkflowId workflow) {
    TaskScope scope;
    for (int i = 0; i < 2; ++i) scope.spawn(cancel(engine, workflow));
    co_await scope.join();
  }

  Simulation& simulation_;
  storage::StoreOptions options_;
  std::optional<storage::Store> store_;
  std::optional<Engine> engine_;
};

TEST(CancelRaces, AllMembersAreCancelledWhoeverOfTwoIsFirst) {
  explore_in_test({.seeds = 20}, [](Simulation& simulation) { CancelRace(simulation).run(); });
}

}  // namespace
}  // namespace weir::flow::workflow
