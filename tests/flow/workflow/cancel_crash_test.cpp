// Cancelling many, on whichever store: in pieces, wherever it crashes, and whoever cannot be
// cancelled.
#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/flow/workflow/support/engine_fixture.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;

class CancelCrashTest : public testing::EngineTest {
 protected:
  static constexpr std::size_t members = 40;

  void expect_cancelled(const CreatedGraph& graph) {
    const Workflow workflow = describe(graph.workflow);
    EXPECT_EQ(workflow.state, WorkflowState::cancelled);
    EXPECT_EQ(workflow.cancel_reason, "enough");
    EXPECT_EQ(workflow.counts[PublicState::cancelled], members);
    EXPECT_FALSE(workflow.cancelling);
    auto told = completions();
    for (const ExecutionId& id : graph.executions) EXPECT_EQ(told[id], 1) << to_string(id);
  }
  /// Once whoever asked has gone: all are, or none. What was on its way may come after that.
  bool all_are_cancelled(const CreatedGraph& graph) {
    pass(5s);
    if (describe(graph.workflow).state != WorkflowState::cancelled) reopen({.cancels_max = 7});
    if (describe(graph.workflow).state != WorkflowState::cancelled) {
      EXPECT_EQ(describe(graph.workflow).counts[PublicState::cancelled], 0U);
      return false;
    }
    wait_until("the rest", [&] {
      pass(1s);
      return !describe(graph.workflow).cancelling;
    });
    expect_cancelled(graph);
    return true;
  }
};

TEST_F(CancelCrashTest, AWorkflowOfManyIsCancelledInPiecesWhereverItCrashes) {
  bool is_through = false;
  for (std::uint64_t commit = 1; !is_through; ++commit) {
    ASSERT_LT(commit, 100U);
    SCOPED_TRACE("commit " + std::to_string(commit));
    reopen({.cancels_max = 7});
    const std::string lane = "lane" + std::to_string(commit);
    const NewGraph many{.executions =
                            std::vector<NewExecution>(members, {.kind = "work", .lane = lane})};
    const auto graph = run(engine().create_graph(many)).value();
    const Claimed held = claim({.worker = "w", .lane = lane, .lease = 1h}).at(0);
    fail_commit(commit);
    is_through =
        run(engine().cancel(graph.workflow, CancelPolicy::cancel_all, "enough")) && !has_failed();
    crash();
    // Once it is known that it is to be cancelled nobody need ask again.
    if (describe(graph.workflow).state != WorkflowState::cancelled) {
      EXPECT_EQ(commit, 1U);
      ASSERT_TRUE(run(engine().cancel(graph.workflow, CancelPolicy::cancel_all, "enough")));
    }
    pass(3s);
    expect_cancelled(graph);
    EXPECT_EQ(run(engine().complete(held.handle, "")).error(), Errc::execution_not_active);
    EXPECT_EQ(run(engine().lane(lane)).value().active, 0U);
  }
}

Task<> cancel_all_of(const Engine* engine, WorkflowId workflow, bool* is_answered) {
  auto done = co_await engine->cancel(workflow, CancelPolicy::cancel_all, "enough");
  *is_answered = done.has_value();
}

/// Asks, and does not wait for more than some turns. Whether there was an answer by then.
Task<bool> ask_for_a_while(const Engine* engine, WorkflowId workflow, int turns) {
  bool is_answered = false;
  TaskScope scope;
  scope.spawn(cancel_all_of(engine, workflow, &is_answered));
  for (int turn = 0; turn < turns; ++turn) co_await yield();
  scope.cancel_all();
  co_await scope.join();
  co_return is_answered;
}

TEST_F(CancelCrashTest, WhoGivesUpHasCancelledAllOrNothing) {
  reopen({.cancels_max = 7});
  int cancelled = 0;
  for (int turns = 0; turns < 30; ++turns) {
    SCOPED_TRACE(std::to_string(turns) + " turns");
    const NewGraph many{.executions = std::vector<NewExecution>(members, {.kind = "work"})};
    const auto graph = run(engine().create_graph(many)).value();
    const bool is_answered = run(ask_for_a_while(&engine(), graph.workflow, turns));
    const bool is_cancelled = all_are_cancelled(graph);
    EXPECT_TRUE(is_cancelled || !is_answered);
    cancelled += is_cancelled ? 1 : 0;
  }
  EXPECT_GT(cancelled, 0);
}

/// Asks, and is gone after some turns. Whether there was an answer by then.
Task<bool> ask_and_vanish(const Engine* engine, WorkflowId workflow, int turns) {
  bool is_answered = false;
  TaskScope scope;
  scope.spawn(cancel_all_of(engine, workflow, &is_answered));
  for (int turn = 0; turn < turns; ++turn) co_await yield();
  co_return is_answered;
}

TEST_F(CancelCrashTest, WhoIsDestroyedWhereItWaitsLeavesTheRestToOthers) {
  reopen({.cancels_max = 7});
  int cancelled = 0;
  for (int turns = 0; turns < 30; ++turns) {
    SCOPED_TRACE(std::to_string(turns) + " turns");
    const NewGraph many{.executions = std::vector<NewExecution>(members, {.kind = "work"})};
    const auto graph = run(engine().create_graph(many)).value();
    const bool is_answered = run(ask_and_vanish(&engine(), graph.workflow, turns));
    const bool is_cancelled = all_are_cancelled(graph);
    EXPECT_TRUE(is_cancelled || !is_answered);
    cancelled += is_cancelled ? 1 : 0;
  }
  EXPECT_GT(cancelled, 0);
}

class SetAsideTest : public testing::EngineTest {
 protected:
  /// Two of whom one is enough.
  CreatedGraph race(const std::string& lane) {
    NewGraph graph{.executions = std::vector<NewExecution>(3, {.kind = "w", .lane = lane}),
                   .edges = {{0, 2}, {1, 2}},
                   .policies = {{2, EdgePolicy::any_of(OnSatisfied::cancel_remaining)}}};
    return run(engine().create_graph(graph)).value();
  }
};

TEST_F(SetAsideTest, WhatCannotBeCancelledHoldsUpNobody) {
  const auto broken = race("broken");
  // A group that lists somebody who is not there.
  tamper<EdgeGroup>(broken.executions[2],
                    [](EdgeGroup& group) { group.cancelling = {ExecutionId{}}; });
  const auto graph = race("fine");
  ASSERT_TRUE(run(engine().complete(claim({.worker = "w", .lane = "fine"}).at(0).handle)));
  pass(1s);
  EXPECT_EQ(describe(graph.workflow).counts[PublicState::cancelled], 1U);
  const auto aside = run(engine().set_aside()).value();
  ASSERT_EQ(aside.size(), 1U);
  EXPECT_EQ(aside[0].what, "edge group of execution " + to_string(broken.executions[2]));
  EXPECT_EQ(aside[0].reason, Errc::corruption);
  EXPECT_EQ(run(engine().report()).value().dispatch_errors, 1U);
}

TEST_F(SetAsideTest, WhateverCannotBeDoneInTimeHoldsUpNoOtherTimer) {
  std::vector<ExecutionId> broken;
  for (int i = 0; i < 3; ++i) {
    broken.push_back(create({.kind = "work", .lane = "x", .not_before = time() + 1s}));
    // A state that nothing leads out of.
    tamper<Execution>(broken.back(), [](Execution& execution) {
      execution.state.attempt = AttemptState::attempt_terminal;
    });
  }
  const ExecutionId fine = create({.kind = "work", .lane = "x", .not_before = time() + 1500ms});
  pass(1600ms);
  EXPECT_EQ(state_of(fine), PublicState::waiting);
  const auto aside = run(engine().set_aside()).value();
  ASSERT_EQ(aside.size(), broken.size());
  for (const SetAside& one : aside) EXPECT_TRUE(one.what.starts_with("execution ")) << one.what;
  EXPECT_EQ(claim({.worker = "w", .lane = "x"}).at(0).handle.execution, fine);
}

}  // namespace
}  // namespace weir::flow::workflow
