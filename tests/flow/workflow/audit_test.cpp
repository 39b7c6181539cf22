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
    tamper<Workflow>(id, [](Workflow& workflow) {
      ++workflow.counts[PublicState::failed];
      --workflow.counts[PublicState::waiting];
    });
  }
  AuditReport audit(AuditRequest request = {}) { return run(engine().audit(request)).value(); }
};

TEST_F(AuditTest, FindsWhatIsWrongAndPutsItRight) {
  make(3);
  const auto wrong = make(600);
  run(engine().create_workflow({})).value();
  damage(wrong.workflow);
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

TEST_F(AuditTest, GoesOnInTheBackgroundFromOneToTheNextAndBeginsAgain) {
  std::vector<WorkflowId> all;
  for (int i = 0; i < 7; ++i) all.push_back(make(2).workflow);
  pass(1s);
  reopen({.audit = {.period = 10ms, .workflows_max = 3}});
  const auto wait_for = [&](auto is_there) {
    for (int i = 0; i < 10'000 && !is_there(run(engine().report()).value()); ++i) pass(10ms);
    return is_there(run(engine().report()).value());
  };
  // More than once over all of them, and nothing is wrong.
  ASSERT_TRUE(wait_for([](const EngineReport& report) { return report.workflows_audited > 20; }));
  EXPECT_EQ(run(engine().report()).value().workflows_drifted, 0U);
  for (const WorkflowId& id : {all[0], all[6]}) damage(id);
  ASSERT_TRUE(wait_for([](const EngineReport& report) { return report.workflows_repaired == 2; }));
  for (const WorkflowId& id : all) EXPECT_EQ(describe(id).counts[PublicState::waiting], 2U);
  ASSERT_TRUE(run(engine().last_audit()).value());
  EXPECT_EQ(run(engine().report()).value().audit_errors, 0U);
}

TEST_F(AuditTest, InTheBackgroundKeepsToItsNamespaceAndOnlyTellsIfItIsToldSo) {
  const auto mine = make(2, "mine").workflow;
  const auto theirs = make(2, "theirs").workflow;
  damage(mine);
  damage(theirs);
  pass(1s);
  reopen({.audit = {.period = 10ms, .space = "mine", .repairs = false}});
  std::uint64_t drifted = 0;
  for (int i = 0; i < 10'000 && drifted == 0; ++i) {
    pass(10ms);
    drifted = run(engine().report()).value().workflows_drifted;
  }
  EXPECT_GT(drifted, 0U);
  EXPECT_EQ(run(engine().report()).value().workflows_repaired, 0U);
  const AuditReport last = run(engine().last_audit()).value().value();
  EXPECT_EQ(last.filtered, 1U);
  EXPECT_EQ(last.drifts.at(0).workflow, mine);
  EXPECT_EQ(describe(mine).counts[PublicState::failed], 1U);
  EXPECT_EQ(describe(theirs).counts[PublicState::failed], 1U);
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
