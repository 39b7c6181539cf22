#include <weir/flow/workflow/internal/working_set.hpp>

#include <gtest/gtest.h>

namespace weir::flow::workflow::internal {
namespace {

constexpr std::size_t many = 1'000;

WorkflowId workflow_of(std::uint64_t number) { return {make_timed_uuid(1, 0, number)}; }
EdgeId edge_of(std::uint64_t number) { return {make_timed_uuid(2, 0, number)}; }
ExecutionId member_of(const WorkflowId& workflow, std::uint64_t number) {
  return ExecutionId::in_workflow(workflow, make_timed_uuid(3, 0, number));
}

/// A workflow of executions, of which each but the first depends on the one before.
class WorkingSetTest : public ::testing::Test {
 protected:
  void set_workflow(WorkflowState state, std::optional<CancelPolicy> cancelling = {}) {
    Workflow record;
    record.state = state;
    record.cancelling = cancelling;
    records.change<Workflow>(workflow, std::move(record));
  }
  void set_member(std::uint64_t number, Phase phase) {
    Execution record;
    record.workflow = workflow;
    record.state.phase = phase;
    records.change<Execution>(member_of(workflow, number), std::move(record));
    records.change<ExecutionSpec>(member_of(workflow, number), ExecutionSpec());
    Links links;
    if (number > 0) {
      links.in = {edge_of(number)};
      records.change<Edge>(edge_of(number), Edge());
    }
    records.change<Links>(member_of(workflow, number), std::move(links));
  }
  void store(std::size_t records_max = many) {
    records.note_taken();
    records.forget(records_max);
  }
  bool knows_member(std::uint64_t number) const {
    return records.find<Execution>(member_of(workflow, number)) != nullptr;
  }

  WorkingSet records;
  const WorkflowId workflow = workflow_of(1);
};

TEST_F(WorkingSetTest, KeepsWhatHasEndedWhileItsWorkflowGoesOn) {
  set_workflow(WorkflowState::open);
  set_member(0, Phase::terminal);
  set_member(1, Phase::active);
  store();
  EXPECT_TRUE(knows_member(0));
  EXPECT_TRUE(knows_member(1));
}

TEST_F(WorkingSetTest, ForgetsTheExecutionsOfAWorkflowThatHasEnded) {
  set_workflow(WorkflowState::open);
  set_member(0, Phase::terminal);
  set_member(1, Phase::active);
  store();
  set_member(1, Phase::terminal);
  set_workflow(WorkflowState::completed);
  store();
  for (const std::uint64_t number : {0U, 1U}) {
    EXPECT_FALSE(knows_member(number)) << number;
    EXPECT_EQ(records.find<ExecutionSpec>(member_of(workflow, number)), nullptr) << number;
    EXPECT_EQ(records.find<Links>(member_of(workflow, number)), nullptr) << number;
  }
  EXPECT_EQ(records.find<Edge>(edge_of(1)), nullptr);
  EXPECT_NE(records.find<Workflow>(workflow), nullptr);
}

TEST_F(WorkingSetTest, KeepsTheExecutionsOfAWorkflowThatIsBeingCancelled) {
  set_workflow(WorkflowState::cancelled, CancelPolicy::cancel_all);
  set_member(0, Phase::terminal);
  store();
  EXPECT_TRUE(knows_member(0));
  set_workflow(WorkflowState::cancelled);
  store();
  EXPECT_FALSE(knows_member(0));
}

TEST_F(WorkingSetTest, ForgetsWhatEndsAfterItsWorkflow) {
  set_workflow(WorkflowState::cancelled);
  set_member(0, Phase::active);
  store();
  EXPECT_TRUE(knows_member(0));
  set_member(0, Phase::terminal);
  store();
  EXPECT_FALSE(knows_member(0));
}

TEST_F(WorkingSetTest, KeepsWhatHasChangedSinceItWasGivenToTheStore) {
  set_workflow(WorkflowState::completed);
  set_member(0, Phase::terminal);
  records.note_taken();
  set_member(0, Phase::runnable);
  records.forget(many);
  EXPECT_TRUE(knows_member(0));
  EXPECT_NE(records.find<ExecutionSpec>(member_of(workflow, 0)), nullptr);
}

TEST_F(WorkingSetTest, ForgetsOtherWorkflowsOnlyWhenTheyHaveEnded) {
  set_workflow(WorkflowState::completed);
  set_member(0, Phase::terminal);
  const WorkflowId other = workflow_of(2);
  records.change<Workflow>(other, Workflow());
  Execution record;
  record.workflow = other;
  record.state.phase = Phase::terminal;
  records.change<Execution>(member_of(other, 7), std::move(record));
  store();
  EXPECT_FALSE(knows_member(0));
  EXPECT_NE(records.find<Execution>(member_of(other, 7)), nullptr);
}

TEST_F(WorkingSetTest, WhatWasForgottenForWantOfRoomIsNotLookedForAgain) {
  set_workflow(WorkflowState::open);
  for (std::uint64_t number = 0; number < 5; ++number) set_member(number, Phase::terminal);
  store(4);
  EXPECT_FALSE(knows_member(0));
  // Read again, it stays as long as anything does.
  set_workflow(WorkflowState::completed);
  records.add<Execution>(member_of(workflow, 0), Execution());
  store(4);
  EXPECT_TRUE(knows_member(0));
}

}  // namespace
}  // namespace weir::flow::workflow::internal
