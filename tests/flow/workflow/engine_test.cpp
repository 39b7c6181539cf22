#include <weir/flow/workflow/engine.hpp>

#include <chrono>

#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/engine_fixture.hpp>
#include <weir/tests/flow/workflow/support/patient.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::ask;
using testing::EngineTest;
using testing::IsTaken;
using testing::Patient;
using testing::Take;
using testing::Taken;

NewExecution work(std::string payload) { return {.kind = "work", .payload = std::move(payload)}; }

TEST_F(EngineTest, AnExecutionIsClaimedAndCompletedOnce) {
  const ExecutionId id = create(work("in"));
  EXPECT_EQ(state_of(id), PublicState::waiting);
  const Claimed claimed = claim_one();
  EXPECT_EQ(claimed.handle.execution, id);
  EXPECT_EQ(claimed.spec.payload, "in");
  EXPECT_TRUE(claim({.worker = "other"}).empty());
  EXPECT_TRUE(run(engine().complete(claimed.handle, "out")));
  EXPECT_EQ(run(engine().result(id)).value(), "out");
  EXPECT_EQ(run(engine().complete(claimed.handle, "again")).error(), Errc::execution_not_active);
  EXPECT_EQ(run(engine().result(id)).value(), "out");
  EXPECT_EQ(completions()[id], 1);
}

TEST_F(EngineTest, WhatWasAnsweredIsThereAfterACrash) {
  const ExecutionId ready = create(work("ready"));
  const ExecutionId leased = create({.kind = "work", .lane = "leased"});
  const auto held = claim({.worker = "w", .lane = "leased"}).at(0);
  const ExecutionId done = create({.kind = "work", .lane = "done"});
  ASSERT_TRUE(run(engine().complete(claim({.worker = "w", .lane = "done"}).at(0).handle, "x")));
  crash();
  EXPECT_EQ(state_of(ready), PublicState::waiting);
  EXPECT_EQ(state_of(leased), PublicState::active);
  EXPECT_EQ(run(engine().result(done)).value(), "x");
  EXPECT_EQ(claim_one().handle.execution, ready);
  // The worker may live elsewhere: its lease is as good as before.
  EXPECT_TRUE(run(engine().complete(held.handle, "y")));
  EXPECT_EQ(completions(), (std::map<ExecutionId, int>{{leased, 1}, {done, 1}}));
}

TEST_F(EngineTest, ALeaseThatIsNotRenewedExpiresByItselfAndFencesItsWorker) {
  const ExecutionId id = create();
  const auto first = claim({.worker = "slow", .lease = 10s}).at(0);
  pass(9s);
  EXPECT_EQ(describe(id).execution.state.ownership, Ownership::leased);
  ASSERT_TRUE(run(engine().renew(first.handle, 10s)));
  pass(9s);
  EXPECT_EQ(describe(id).execution.state.ownership, Ownership::leased);
  pass(2s);
  EXPECT_EQ(describe(id).execution.state.ownership, Ownership::lease_expired_reclaimable);
  const auto second = claim({.worker = "quick"}).at(0);
  EXPECT_EQ(second.attempt_kind, AttemptKind::reclaim);
  EXPECT_GT(second.handle.epoch, first.handle.epoch);
  EXPECT_EQ(run(engine().complete(first.handle, "slow")).error(), Errc::stale_lease);
  EXPECT_TRUE(run(engine().complete(second.handle, "quick")));
  EXPECT_EQ(run(engine().result(id)).value(), "quick");
  const auto attempts = run(engine().attempts(id)).value();
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0].outcome, AttemptOutcome::interrupted_reclaimed);
  EXPECT_EQ(attempts[1].outcome, AttemptOutcome::ended_success);
  EXPECT_EQ(attempts[1].after, 0U);
}

TEST_F(EngineTest, TimersGoOnAfterARestart) {
  const ExecutionId delayed = create({.kind = "work", .not_before = time() + 60s});
  const ExecutionId doomed = create({.kind = "work", .lane = "other", .deadline = time() + 90s});
  EXPECT_EQ(state_of(delayed), PublicState::delayed);
  crash();
  pass(59s);
  EXPECT_EQ(state_of(delayed), PublicState::delayed);
  pass(2s);
  EXPECT_EQ(state_of(delayed), PublicState::waiting);
  reopen();
  EXPECT_EQ(state_of(doomed), PublicState::waiting);
  pass(30s);
  EXPECT_EQ(state_of(doomed), PublicState::expired);
}

TEST_F(EngineTest, AFailureIsTriedAgainAfterItsBackoffAndThenNoMore) {
  const ExecutionId id =
      create({.kind = "work", .retry = RetryPolicy{.retries_max = 2, .backoff = 10s}});
  for (const Duration pause : {Duration(10s), Duration(20s)}) {
    const Time from = time();
    const auto failed = run(engine().fail(claim_one().handle, {"no luck"})).value();
    EXPECT_GE(failed.retry_at.value() - from, pause);
    EXPECT_LT(failed.retry_at.value() - from, pause + 1s);
    EXPECT_EQ(state_of(id), PublicState::delayed);
    EXPECT_TRUE(claim({.worker = "w"}).empty());
    pass(pause + 1s);
  }
  EXPECT_FALSE(run(engine().fail(claim_one().handle, {"no luck"})).value().retry_at);
  EXPECT_EQ(state_of(id), PublicState::failed);
  EXPECT_EQ(describe(id).execution.end_reason, "no luck");
  EXPECT_EQ(run(engine().attempts(id)).value().size(), 3U);
}

TEST_F(EngineTest, TheMostUrgentIsClaimedFirstByWhoIsAbleTo) {
  const ExecutionId low = create({.kind = "work", .priority = 1});
  const ExecutionId first = create({.kind = "work", .priority = 5});
  pass(1s);
  const ExecutionId second = create({.kind = "work", .priority = 5});
  const ExecutionId special = create({.kind = "work", .priority = 9, .capabilities = {"gpu"}});
  std::vector<ExecutionId> order;
  for (const auto& claimed : claim({.worker = "w", .executions_max = 10})) {
    order.push_back(claimed.handle.execution);
  }
  EXPECT_EQ(order, (std::vector{first, second, low}));
  const auto claimed = claim({.worker = "w", .capabilities = {"cpu", "gpu"}});
  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_EQ(claimed[0].handle.execution, special);
}

TEST_F(EngineTest, WhoAsksForSomeNamespacesGetsNothingOfOthers) {
  create({.kind = "work", .space = "a", .priority = 9});
  const ExecutionId second = create({.kind = "work", .space = "b", .priority = 5});
  const ExecutionId third = create({.kind = "work", .space = "c", .priority = 7});
  EXPECT_TRUE(claim({.worker = "w", .spaces = {"d"}, .executions_max = 10}).empty());
  std::vector<ExecutionId> order;
  for (const auto& claimed : claim({.worker = "w", .spaces = {"b", "c"}, .executions_max = 10}))
    order.push_back(claimed.handle.execution);
  EXPECT_EQ(order, (std::vector{third, second}));
  EXPECT_EQ(claim({.worker = "w", .executions_max = 10}).size(), 1U);
}

TEST_F(EngineTest, ATimeBeyondWhatATimerCountsIsWaitedFor) {
  const Time far = std::chrono::sys_days(std::chrono::year(9999) / 12 / 31);
  const ExecutionId late = create({.kind = "work", .not_before = far});
  create({.kind = "work", .lane = "other", .deadline = far});
  pass(1h);
  EXPECT_EQ(state_of(late), PublicState::delayed);
  EXPECT_TRUE(claim({.worker = "w"}).empty());
  EXPECT_EQ(claim({.worker = "w", .lane = "other"}).size(), 1U);
}

TEST_F(EngineTest, WhoWaitsIsWokenByWhatArrives) {
  auto patient = system().spawn<Patient>(&engine());
  patient.send<Take>();
  pass(10s);
  EXPECT_FALSE(run(ask<IsTaken>(patient)).value());
  const ExecutionId id = create({.kind = "work", .not_before = time() + 5s});
  pass(4s);
  EXPECT_FALSE(run(ask<IsTaken>(patient)).value());
  pass(2s);
  EXPECT_EQ(run(ask<Taken>(patient)).value().handle.execution, id);
}

TEST_F(EngineTest, AGraphRunsInTheOrderOfItsEdgesAndPassesResultsOn) {
  const auto graph =
      run(engine().create_graph(NewGraph{.executions = {work("a"), work("b"), work("c")},
                                         .edges = {{0, 2, "left"}, {1, 2, "right"}}}))
          .value();
  auto claimed = claim({.worker = "w", .executions_max = 10});
  ASSERT_EQ(claimed.size(), 2U);
  EXPECT_EQ(state_of(graph.executions[2]), PublicState::waiting_children);
  for (const auto& claim : claimed) {
    ASSERT_TRUE(run(engine().complete(claim.handle, claim.spec.payload + "!")));
  }
  const Claimed last = claim_one();
  EXPECT_EQ(last.handle.execution, graph.executions[2]);
  ASSERT_EQ(last.inputs.size(), 2U);
  std::map<std::string, std::string> inputs;
  for (const Input& input : last.inputs) inputs[input.name] = input.payload;
  EXPECT_EQ(inputs, (std::map<std::string, std::string>{{"left", "a!"}, {"right", "b!"}}));
  EXPECT_EQ(describe(graph.workflow).state, WorkflowState::open);
  ASSERT_TRUE(run(engine().complete(last.handle, "")));
  EXPECT_EQ(describe(graph.workflow).state, WorkflowState::completed);
  EXPECT_EQ(run(engine().create_execution({.kind = "late", .workflow = graph.workflow})).error(),
            Errc::workflow_sealed);
}

TEST_F(EngineTest, AQuorumLetsTheNextBeginAndCancelsTheRest) {
  NewGraph race{.executions = std::vector<NewExecution>(6, work("race"))};
  for (std::size_t i = 0; i < 5; ++i) race.edges.push_back({i, 5});
  race.policies = {{5, EdgePolicy::quorum(2, OnSatisfied::cancel_remaining)}};
  const auto graph = run(engine().create_graph(race)).value();
  const auto claimed = claim({.worker = "w", .executions_max = 4});
  ASSERT_EQ(claimed.size(), 4U);
  ASSERT_TRUE(run(engine().complete(claimed[0].handle, "")));
  ASSERT_TRUE(run(engine().complete(claimed[1].handle, "")));
  pass(1s);
  int cancelled = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    cancelled += state_of(graph.executions[i]) == PublicState::cancelled ? 1 : 0;
  }
  EXPECT_EQ(cancelled, 3);
  EXPECT_EQ(run(engine().complete(claimed[2].handle, "")).error(), Errc::execution_not_active);
  const Claimed last = claim_one();
  EXPECT_EQ(last.handle.execution, graph.executions[5]);
  ASSERT_TRUE(run(engine().complete(last.handle, "")));
  EXPECT_EQ(describe(graph.workflow).state, WorkflowState::completed);
  EXPECT_EQ(describe(graph.workflow).counts[PublicState::cancelled], 3U);
  for (const auto& [id, times] : completions()) EXPECT_EQ(times, 1) << to_string(id);
}

TEST_F(EngineTest, AWorkflowOfManyIsCancelledInPieces) {
  NewGraph many{.executions = std::vector<NewExecution>(300, work("many"))};
  const auto graph = run(engine().create_graph(many)).value();
  const auto held = claim({.worker = "w"}).at(0);
  reopen({.cancels_max = 7});
  const auto cancelled =
      run(engine().cancel(graph.workflow, CancelPolicy::cancel_all, "enough")).value();
  EXPECT_EQ(cancelled.cancelled.size(), 300U);
  const Workflow workflow = describe(graph.workflow);
  EXPECT_EQ(workflow.state, WorkflowState::cancelled);
  EXPECT_EQ(workflow.counts[PublicState::cancelled], 300U);
  EXPECT_FALSE(workflow.cancelling);
  EXPECT_EQ(run(engine().complete(held.handle, "")).error(), Errc::execution_not_active);
  const auto told = completions();
  EXPECT_EQ(told.size(), 300U);
  for (const auto& [id, times] : told) EXPECT_EQ(times, 1) << to_string(id);
}

TEST_F(EngineTest, TheFirstFailureCancelsTheRestOfAWorkflowThatIsToFailFast) {
  NewGraph three{.workflow = {.on_failure = FailurePolicy::fail_fast},
                 .executions = std::vector<NewExecution>(3, work("three"))};
  for (NewExecution& execution : three.executions) execution.retry.retries_max = 0;
  const auto graph = run(engine().create_graph(three)).value();
  ASSERT_TRUE(run(engine().fail(claim_one().handle, {"broken"})));
  pass(1s);
  const Workflow workflow = describe(graph.workflow);
  EXPECT_EQ(workflow.state, WorkflowState::failed);
  EXPECT_FALSE(workflow.cancelling);
  EXPECT_EQ(workflow.counts[PublicState::cancelled], 2U);
}

TEST_F(EngineTest, CancellingListsWhatItCancelledAndAgainNothing) {
  NewGraph three{.executions = std::vector<NewExecution>(3, work("three")),
                 .edges = {{0, 1}, {1, 2}}};
  const auto graph = run(engine().create_graph(three)).value();
  const Claimed begun = claim_one();
  auto cancelled = run(engine().cancel(graph.workflow, CancelPolicy::cancel_pending)).value();
  EXPECT_TRUE(cancelled.is_new);
  EXPECT_EQ(cancelled.cancelled.size(), 2U);
  EXPECT_TRUE(run(engine().complete(begun.handle, "")));
  EXPECT_EQ(state_of(begun.handle.execution), PublicState::completed);
  cancelled = run(engine().cancel(graph.workflow, CancelPolicy::cancel_all)).value();
  EXPECT_FALSE(cancelled.is_new);
  EXPECT_TRUE(cancelled.cancelled.empty());
  EXPECT_EQ(run(engine().cancel(WorkflowId{}, CancelPolicy::cancel_all)).error(), Errc::not_found);
}

TEST_F(EngineTest, ListsComeInPages) {
  NewGraph many{.executions = std::vector<NewExecution>(25, work("x"))};
  const auto graph = run(engine().create_graph(many)).value();
  std::vector<ExecutionId> seen;
  std::optional<ExecutionId> after;
  do {
    const auto page = run(engine().members(graph.workflow, after, 10)).value();
    seen.insert(seen.end(), page.items.begin(), page.items.end());
    after = page.next;
  } while (after);
  auto expected = graph.executions;
  std::ranges::sort(expected);
  EXPECT_EQ(seen, expected);
  const auto partition = graph.workflow.partition();
  EXPECT_EQ(run(engine().list(partition)).value().items, std::vector{graph.workflow});
  EXPECT_TRUE(run(engine().list(partition, {}, 0)).value().items.empty());
  EXPECT_TRUE(run(engine().list(partition, graph.workflow)).value().items.empty());
  EXPECT_EQ(run(engine().list(Partition{256})).error(), Errc::invalid_argument);
}

TEST_F(EngineTest, WhatIsOfNoWorkflowIsNotFound) {
  const auto graph = run(engine().create_graph({.executions = {work("x")}})).value();
  const ExecutionId member = graph.executions[0];
  EXPECT_TRUE(run(engine().members(graph.workflow, member)).value().items.empty());
  EXPECT_TRUE(run(engine().edges_into(graph.workflow, member)).value().empty());
  EXPECT_TRUE(run(engine().edges_from(graph.workflow, member)).value().empty());
  EXPECT_TRUE(run(engine().edges(graph.workflow, {member})).value().empty());
  const WorkflowId unknown;
  EXPECT_EQ(run(engine().members(unknown)).error(), Errc::not_found);
  EXPECT_EQ(run(engine().edges_into(unknown, member)).error(), Errc::not_found);
  EXPECT_EQ(run(engine().edges_from(unknown, member)).error(), Errc::not_found);
  EXPECT_EQ(run(engine().edges(unknown, {member})).error(), Errc::not_found);
}

TEST_F(EngineTest, NobodyWaitsForTheEndOfNothing) {
  EXPECT_EQ(run(engine().wait_for_end({})).error(), Errc::invalid_argument);
}

TEST_F(EngineTest, AHandleOfAnotherStoreIsRefused) {
  create();
  Handle handle = claim_one().handle;
  handle.store ^= 1;
  EXPECT_EQ(run(engine().complete(handle, "")).error(), Errc::foreign_handle);
  EXPECT_EQ(run(engine().renew(handle, 1s)).error(), Errc::foreign_handle);
}

TEST_F(EngineTest, RecordsThatAreNotInMemoryAreRead) {
  reopen({.records_max = 1});
  NewGraph chain{.executions = std::vector<NewExecution>(20, work("x"))};
  for (std::size_t i = 0; i + 1 < 20; ++i) chain.edges.push_back({i, i + 1, "before"});
  const auto graph = run(engine().create_graph(chain)).value();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(run(engine().complete(claim_one().handle, "y")));
  EXPECT_EQ(describe(graph.workflow).state, WorkflowState::completed);
}

TEST_F(EngineTest, ALaneKeepsItsLimitAndItsPause) {
  for (int i = 0; i < 5; ++i) create();
  ASSERT_TRUE(run(engine().set_lane_limit("default", 2)));
  auto claimed = claim({.worker = "w", .executions_max = 10});
  EXPECT_EQ(claimed.size(), 2U);
  EXPECT_TRUE(claim({.worker = "w", .executions_max = 10}).empty());
  ASSERT_TRUE(run(engine().complete(claimed[0].handle, "")));
  EXPECT_EQ(claim({.worker = "w", .executions_max = 10}).size(), 1U);
  ASSERT_TRUE(run(engine().set_lane_limit("default", std::nullopt)));
  ASSERT_TRUE(run(engine().set_lane_state("default", LaneState::paused)));
  EXPECT_TRUE(claim({.worker = "w", .executions_max = 10}).empty());
  ASSERT_TRUE(run(engine().set_lane_state("default", LaneState::active)));
  EXPECT_EQ(claim({.worker = "w", .executions_max = 10}).size(), 2U);
  EXPECT_EQ(run(engine().lane("default")).value().active, 4U);
}

TEST_F(EngineTest, NothingIsAnsweredAfterItIsClosed) {
  ASSERT_TRUE(run(engine().close()));
  EXPECT_FALSE(run(engine().create_execution({.kind = "late"})));
  EXPECT_FALSE(run(engine().next({.worker = "w"})));
}

}  // namespace
}  // namespace weir::flow::workflow
