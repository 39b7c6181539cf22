#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/internal/audit.hpp>
#include <weir/tests/flow/workflow/support/engine_fixture.hpp>
#include <weir/tests/flow/workflow/support/graph_board.hpp>

// Counters that are wrong are found and put right; those that are right are left alone.
namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using internal::Audited;
using internal::Draft;
using testing::EngineTest;
using testing::GraphBoard;

class AuditTest : public EngineTest {
 protected:
  CreatedGraph make(std::size_t executions, const std::string& space = "default") {
    NewGraph graph{.workflow = {.space = space},
                   .executions = std::vector<NewExecution>(executions, {.kind = "w"})};
    return run(engine().create_graph(graph)).value();
  }
  /// As nothing in Weir does it.
  void damage(const WorkflowId& id) {
    const auto space = run(store().open_state<WorkflowId, Workflow>("workflow.workflows")).value();
    auto transaction = store().begin();
    Workflow workflow = describe(id);
    ++workflow.counts[PublicState::failed];
    --workflow.counts[PublicState::waiting];
    transaction.put(space, id, workflow);
    ASSERT_TRUE(run(transaction.commit()));
  }
  AuditReport audit(AuditRequest request = {}) { return run(engine().audit(request)).value(); }
};

TEST_F(AuditTest, FindsWhatIsWrongAndPutsItRight) {
  make(3);
  const auto wrong = make(600);
  run(engine().create_workflow({})).value();
  damage(wrong.workflow);
  crash();
  pass(1s);
  AuditReport report = audit({.repairs = false});
  EXPECT_EQ(report.processed, 2U);
  EXPECT_EQ(report.empty, 1U);
  EXPECT_EQ(report.drifted, 1U);
  EXPECT_EQ(report.repaired, 0U);
  report = audit();
  EXPECT_EQ(report.drifted, 1U);
  EXPECT_EQ(report.repaired, 1U);
  ASSERT_EQ(report.drifts.size(), 1U);
  EXPECT_EQ(report.drifts[0].workflow, wrong.workflow);
  EXPECT_EQ(report.drifts[0].stored[PublicState::failed], 1U);
  EXPECT_EQ(report.drifts[0].counted[PublicState::waiting], 600U);
  EXPECT_EQ(describe(wrong.workflow).counts[PublicState::waiting], 600U);
  pass(1s);
  // Twice is once.
  report = audit();
  EXPECT_EQ(report.processed, 2U);
  EXPECT_EQ(report.drifted + report.busy + report.errors, 0U);
}

TEST_F(AuditTest, KeepsToItsNamespaceAndGoesOnFromItsCursor) {
  std::vector<WorkflowId> wrong;
  for (int i = 0; i < 10; ++i) {
    wrong.push_back(make(2, i % 2 == 0 ? "mine" : "theirs").workflow);
    damage(wrong.back());
  }
  crash();
  pass(1s);
  AuditReport all;
  AuditRequest request{.space = "mine", .workflows_max = 3};
  do {
    const AuditReport report = audit(request);
    all.drifted += report.drifted;
    all.filtered += report.filtered;
    request.after = report.next;
  } while (request.after);
  EXPECT_EQ(all.drifted, 5U);
  EXPECT_EQ(all.filtered, 5U);
  EXPECT_EQ(describe(wrong[0]).counts[PublicState::failed], 0U);
  EXPECT_EQ(describe(wrong[1]).counts[PublicState::failed], 1U);
}

TEST_F(AuditTest, OneThatCannotBeCountedIsToldAndHoldsUpNobody) {
  const auto broken = make(2);
  const auto wrong = make(2);
  damage(wrong.workflow);
  const auto executions = run(store().open_state<ExecutionId, Execution>("workflow.live")).value();
  auto transaction = store().begin();
  transaction.remove(executions, broken.executions[0]);
  ASSERT_TRUE(run(transaction.commit()));
  crash();
  pass(1s);
  const AuditReport report = audit();
  EXPECT_EQ(report.errors, 1U);
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(report.problems[0], Errc::corruption);
  EXPECT_NE(report.problems[0].message().find(to_string(broken.executions[0])), std::string::npos);
  EXPECT_EQ(report.repaired, 1U);
}

TEST(Audit, WhatChangesWhileItIsCountedIsNotJudged) {
  GraphBoard board;
  const auto ids = board.members(2);
  board.apply_all();
  const auto begin = [&] {
    return board.run([&](Draft& draft) { return internal::begin_audit(draft, board.id); }).value();
  };
  const auto count = [&](const internal::AuditTally& tally, std::vector<ExecutionId> members) {
    return board.run([&](Draft& draft) { return internal::count_members(draft, tally, members); })
        .value();
  };
  const auto end = [&](const internal::AuditTally& tally) {
    return board.run([&](Draft& draft) { return internal::end_audit(draft, tally, true); }).value();
  };
  // Not at the time of the last change: another one could have the same time.
  EXPECT_EQ(end(count(begin(), ids)).outcome, Audited::Outcome::busy);
  board.pass(1s);
  EXPECT_EQ(end(count(begin(), ids)).outcome, Audited::Outcome::right);
  // One begins as the other is given back: the counters are the same as before, the sum is not.
  const Handle first = board.claim(ids[0]).handle;
  board.pass(1s);
  auto tally = count(begin(), {ids[0]});
  EXPECT_TRUE(board.fail(first, {"again"}));
  board.claim(ids[1]);
  tally = count(tally, {ids[1]});
  EXPECT_EQ(tally.counted[PublicState::active], 2U);
  EXPECT_EQ(end(tally).outcome, Audited::Outcome::busy);
}

TEST_F(EngineTest, AnEngineReportsWhatItHasDone) {
  NewGraph race{.executions = std::vector<NewExecution>(4, {.kind = "race"})};
  for (std::size_t i = 0; i < 3; ++i) race.edges.push_back({i, 3});
  race.policies = {{3, EdgePolicy::any_of(OnSatisfied::cancel_remaining)}};
  run(engine().create_graph(race)).value();
  ASSERT_TRUE(run(engine().complete(claim_one().handle)));
  pass(1s);
  const ExecutionId other = create({.kind = "w", .lane = "other"});
  const auto held = claim({.worker = "w", .lane = "other", .lease = 1s}).at(0);
  pass(2s);
  ASSERT_TRUE(run(engine().fail(claim({.worker = "w", .lane = "other"}).at(0).handle, {"no"})));
  ASSERT_EQ(run(engine().approve({other, "x"})), SignalEffect::kept);
  const EngineReport report = run(engine().report()).value();
  EXPECT_EQ(report.claims, 3U);
  EXPECT_EQ(report.leases_expired, 1U);
  EXPECT_EQ(report.retries, 1U);
  EXPECT_EQ(report.signals, 1U);
  EXPECT_EQ(report.groups_dispatched, 1U);
  EXPECT_EQ(report.siblings_cancelled, 2U);
  EXPECT_EQ(report.waiting, 1U);
  EXPECT_EQ(report.delayed, 1U);
  EXPECT_EQ(report.active + report.suspended, 0U);
  EXPECT_EQ(report.due, 1U);
  EXPECT_GE(report.commands, 8U);
  EXPECT_GE(report.commits, 5U);
}

}  // namespace
}  // namespace weir::flow::workflow
