#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/graph_board.hpp>

// How workflows end: by themselves, by a failure, by being cancelled; and what replays do then.
namespace weir::flow::workflow {
namespace {

using std::chrono::seconds;
using testing::GraphBoard;
using testing::refuses;

constexpr auto let_run = OnSatisfied::let_run;
constexpr auto cancel_remaining = OnSatisfied::cancel_remaining;

TEST(Ending, AWorkflowOfWhichNothingIsSaidHasItsDefaults) {
  GraphBoard board;
  const WorkflowId id = board.create_workflow({}).value();
  const Workflow& workflow = board.workflow(id);
  EXPECT_EQ(workflow.kind, "");
  EXPECT_EQ(workflow.space, "default");
  EXPECT_EQ(workflow.state, WorkflowState::open);
  EXPECT_EQ(workflow.on_failure, FailurePolicy::isolate);
  EXPECT_FALSE(workflow.stays_open);
  EXPECT_EQ(workflow.counts.total(), 0U);
  EXPECT_EQ(workflow.edges, 0U);
  EXPECT_EQ(workflow.revision, 0U);
  EXPECT_EQ(workflow.created_at, board.now);
  EXPECT_EQ(workflow.changed_at, board.now);
  EXPECT_FALSE(workflow.ended_at);
  EXPECT_TRUE(workflow.tags.empty());
}

TEST(Ending, AWorkflowIsMadeOnceAndKeepsWhatItWasMadeWith) {
  GraphBoard board;
  const NewWorkflow request = {.kind = "order",
                               .space = "shop",
                               .id = WorkflowId{testing::make_uuid(1, 1)},
                               .tags = {{"a.b", "c"}}};
  const WorkflowId id = board.create_workflow(request).value();
  EXPECT_EQ(board.create_workflow(request), id);
  EXPECT_EQ(board.workflow(id).space, "shop");
  EXPECT_EQ(board.workflow(id).kind, "order");
  EXPECT_EQ(board.workflow(id).tags.at("a.b"), "c");
  EXPECT_EQ(board.workflow(id).created_at, board.now);
  NewWorkflow other = request;
  other.space = "else";
  EXPECT_TRUE(refuses(board.create_workflow(other), Errc::already_exists, "namespace 'shop'"));
  EXPECT_TRUE(refuses(board.create({.kind = "w", .workflow = id}), Errc::invalid_argument,
                      "namespace 'default'"));
}

TEST(Ending, BadWorkflowsAreRefusedByName) {
  GraphBoard board;
  const std::string name(name_bytes_max + 1, 'n');
  const Errc large = Errc::too_large;
  EXPECT_TRUE(refuses(board.create_workflow({.space = ""}), Errc::invalid_argument, "namespace"));
  EXPECT_TRUE(refuses(board.create_workflow({.space = name}), large, "namespace has 257"));
  EXPECT_TRUE(refuses(board.create_workflow({.kind = name}), large, "kind has 257"));
  EXPECT_TRUE(refuses(board.create_workflow({.tags = {{"A", ""}}}), Errc::invalid_argument, "'A'"));
  EXPECT_TRUE(refuses(board.create_workflow({.on_failure = static_cast<FailurePolicy>(4)}),
                      Errc::unsupported_policy, "failure policy 4"));
  EXPECT_TRUE(refuses(board.cancel(board.id, static_cast<CancelPolicy>(0)),
                      Errc::unsupported_policy, "cancel policy 0"));
  EXPECT_TRUE(refuses(board.cancel(board.id, static_cast<CancelPolicy>(4)),
                      Errc::unsupported_policy, "cancel policy 4"));
  EXPECT_FALSE(board.workflow().has_ended());
}

TEST(Ending, AWorkflowHasTags) {
  GraphBoard board;
  EXPECT_TRUE(board.set_tag(board.id, "a.b", "1"));
  EXPECT_TRUE(board.set_tag(board.id, "a.b", "2"));
  EXPECT_EQ(board.workflow().tags, (Tags{{"a.b", "2"}}));
  EXPECT_TRUE(refuses(board.set_tag(board.id, "a", "2"), Errc::invalid_argument, "'a'"));
}

TEST(Ending, AWorkflowIsSealedWithTheLastOfItsExecutions) {
  GraphBoard board;
  const auto ids = board.members(2);
  board.apply_all();
  board.succeed(ids[0]);
  EXPECT_EQ(board.workflow().state, WorkflowState::open);
  board.pass(seconds(1));
  board.succeed(ids[1]);
  EXPECT_EQ(board.workflow().state, WorkflowState::completed);
  EXPECT_EQ(board.workflow().ended_at, board.now);
  EXPECT_TRUE(refuses(board.create({.kind = "w", .workflow = board.id}), Errc::workflow_sealed,
                      "completed"));
  EXPECT_TRUE(refuses(board.stage(board.id, {}), Errc::workflow_sealed, to_string(board.id)));
  EXPECT_TRUE(refuses(board.apply(board.id, {}), Errc::workflow_sealed, to_string(board.id)));
  EXPECT_TRUE(refuses(board.close(board.id), Errc::workflow_sealed, to_string(board.id)));
  EXPECT_EQ(board.cancel(board.id, CancelPolicy::cancel_all), false);
  EXPECT_EQ(board.workflow().state, WorkflowState::completed);
}

TEST(Ending, OneThatStaysOpenIsSealedWhenItIsClosed) {
  GraphBoard board({.stays_open = true});
  const ExecutionId first = board.member();
  board.apply_all();
  board.succeed(first);
  EXPECT_EQ(board.workflow().state, WorkflowState::open);
  const ExecutionId second = board.member();
  board.apply_all();
  EXPECT_TRUE(board.close(board.id));
  EXPECT_EQ(board.workflow().state, WorkflowState::open);
  board.succeed(second);
  EXPECT_EQ(board.workflow().state, WorkflowState::completed);
  GraphBoard other({.stays_open = true});
  const ExecutionId only = other.member();
  other.apply_all();
  other.succeed(only);
  EXPECT_TRUE(other.close(other.id));
  EXPECT_EQ(other.workflow().state, WorkflowState::completed);
}

TEST(Ending, AnEmptyWorkflowStaysOpen) {
  GraphBoard board;
  EXPECT_TRUE(board.apply(board.id, {}));
  EXPECT_TRUE(board.close(board.id));
  EXPECT_EQ(board.workflow().state, WorkflowState::open);
}

TEST(Ending, WhoEndsBeforeItWasAppliedDoesNotKeepTheWorkflowOpen) {
  GraphBoard board;
  const auto ids = board.members(2);
  EXPECT_TRUE(board.apply(board.id, {ids[0]}));
  board.cancel(ids[1]).value();
  EXPECT_EQ(board.workflow().unpromoted, 0U);
  board.succeed(ids[0]);
  EXPECT_EQ(board.workflow().state, WorkflowState::failed);
}

TEST(Ending, FailuresAreIsolatedAndTheWorkflowFailsInTheEnd) {
  GraphBoard board;
  const auto ids = board.members(3);
  board.link(ids[0], ids[1]);
  board.apply_all();
  board.fail_for_good(ids[0]);
  EXPECT_EQ(board.public_state(ids[1]), PublicState::skipped);
  EXPECT_EQ(board.workflow().state, WorkflowState::open);
  board.succeed(ids[2]);
  EXPECT_EQ(board.workflow().state, WorkflowState::failed);
}

TEST(Ending, CollectedFailuresAreResults) {
  GraphBoard board({.on_failure = FailurePolicy::collect});
  const auto ids = board.members(2);
  board.apply_all();
  board.fail_for_good(ids[0]);
  board.cancel(ids[1]).value();
  EXPECT_EQ(board.workflow().state, WorkflowState::completed);
}

TEST(Ending, TheFirstFailureStopsTheRestIfItIsToFailFast) {
  GraphBoard board({.on_failure = FailurePolicy::fail_fast});
  const auto ids = board.members(4);
  board.link(ids[0], ids[1]);
  board.apply_all();
  const Handle running = board.claim(ids[2]).handle;
  board.cancel(ids[3]).value();
  EXPECT_EQ(board.workflow().state, WorkflowState::open);
  board.fail_for_good(ids[0]);
  EXPECT_EQ(board.workflow().state, WorkflowState::failed);
  EXPECT_EQ(board.workflow().ended_at, board.now);
  EXPECT_EQ(board.cancel_members(board.id, ids, true).value(), (std::vector{ids[1], ids[2]}));
  EXPECT_EQ(board.public_state(ids[2]), PublicState::cancelled);
  EXPECT_EQ(board.execution(ids[2]).end_reason, "workflow_failed");
  EXPECT_EQ(board.public_state(ids[1]), PublicState::cancelled);
  EXPECT_TRUE(refuses(board.complete(running), Errc::execution_not_active, ""));
  EXPECT_FALSE(board.workflow().cancelling);
}

TEST(Ending, CancellingAWorkflowAloneTouchesNoneOfItsExecutions) {
  GraphBoard board;
  const auto ids = board.members(2);
  board.link(ids[0], ids[1]);
  board.apply_all();
  EXPECT_EQ(board.cancel(board.id, CancelPolicy::cancel_workflow_only), true);
  EXPECT_EQ(board.workflow().state, WorkflowState::cancelled);
  EXPECT_EQ(board.workflow().cancel_reason, "stop");
  EXPECT_EQ(board.workflow().cancel_policy, CancelPolicy::cancel_workflow_only);
  EXPECT_EQ(board.cancel_members(board.id, ids, true).value(), std::vector<ExecutionId>());
  board.succeed(ids[0]);
  board.succeed(ids[1]);
  EXPECT_EQ(board.workflow().state, WorkflowState::cancelled);
  EXPECT_EQ(board.cancel(board.id, CancelPolicy::cancel_all), false);
  EXPECT_EQ(board.workflow().cancel_policy, CancelPolicy::cancel_workflow_only);
}

/// One of each: submitted, blocked, ready, delayed, active, retrying, ended; and one elsewhere.
struct Mixed : GraphBoard {
  Mixed() {
    ids = members(6);
    const Time later = now + seconds(9);
    ids.push_back(make_member(id, {.kind = "w", .not_before = later}));
    ids.push_back(make_member(id, {.kind = "w"}));
    link(ids[2], ids[1]);
    apply(id, {ids.begin() + 1, ids.end()}).value();
    active = claim(ids[3]).handle;
    succeed(ids[4]);
    claim(ids[5]);
    revoke(ids[5]).value();
    fail(claim(ids[7]).handle).value();
    elsewhere = make();
    take_notices();
  }
  std::vector<ExecutionId> ids;
  Handle active;
  ExecutionId elsewhere;
};

TEST(Ending, CancelAllEndsEveryoneWhoHasNotEndedOnce) {
  Mixed board;
  EXPECT_EQ(board.cancel(board.id, CancelPolicy::cancel_all), true);
  std::vector<ExecutionId> given = board.ids;
  given.push_back(board.elsewhere);
  const auto cancelled = board.cancel_members(board.id, given, true).value();
  EXPECT_EQ(cancelled.size(), 7U);
  EXPECT_EQ(board.public_state(board.ids[4]), PublicState::completed);
  EXPECT_EQ(board.public_state(board.elsewhere), PublicState::waiting);
  EXPECT_EQ(board.workflow().counts[PublicState::cancelled], 7U);
  EXPECT_EQ(board.workflow().counts.terminal(), 8U);
  for (const ExecutionId& id : cancelled) {
    EXPECT_EQ(board.execution(id).end_reason, "workflow_cancelled");
    EXPECT_EQ(board.execution(id).ended_by, "cancel_workflow");
  }
  EXPECT_TRUE(refuses(board.complete(board.active), Errc::execution_not_active, ""));
  // Of a lease that there was, and of no other.
  const auto kinds = board.take_kinds();
  EXPECT_EQ(std::ranges::count(kinds, NoticeKind::completion), 7);
  EXPECT_EQ(std::ranges::count(kinds, NoticeKind::lease_revoked), 1);
  EXPECT_EQ(kinds.size(), 8U);
  EXPECT_EQ(board.leased(), 0U);
}

TEST(Ending, CancelPendingLetsThoseThatHaveBegunFinish) {
  Mixed board;
  EXPECT_EQ(board.cancel(board.id, CancelPolicy::cancel_pending), true);
  const auto cancelled = board.cancel_members(board.id, board.ids, true).value();
  EXPECT_EQ(cancelled, (std::vector{board.ids[0], board.ids[1], board.ids[2], board.ids[6]}));
  EXPECT_TRUE(board.complete(board.active));
  board.succeed(board.ids[5]);
  EXPECT_EQ(board.workflow().state, WorkflowState::cancelled);
}

TEST(Ending, ThePiecesInWhichAWorkflowIsCancelledDoNotMatter) {
  for (const auto policy : {CancelPolicy::cancel_all, CancelPolicy::cancel_pending}) {
    for (std::size_t first = 0; first < 3; ++first) {
      GraphBoard board;
      const auto ids = board.members(3);
      board.link(ids[0], ids[1]);
      board.link(ids[1], ids[2]);
      board.apply_all();
      EXPECT_EQ(board.cancel(board.id, policy), true);
      EXPECT_EQ(board.cancel_members(board.id, {ids[first]}, false)->size(), 1U);
      EXPECT_EQ(board.workflow().cancelling, policy);
      EXPECT_EQ(board.cancel_members(board.id, ids, true)->size(), 2U);
      EXPECT_FALSE(board.workflow().cancelling);
      EXPECT_EQ(board.workflow().counts[PublicState::cancelled], 3U) << first;
      EXPECT_EQ(board.cancel_members(board.id, ids, true)->size(), 0U);
    }
  }
}

TEST(Ending, NobodyIsClaimedWhomTheCancellingOfItsWorkflowHasNotReachedYet) {
  GraphBoard board;
  const auto ids = board.members(2);
  board.apply_all();
  const Handle running = board.claim(ids[0]).handle;
  EXPECT_EQ(board.cancel(board.id, CancelPolicy::cancel_pending), true);
  EXPECT_EQ(board.try_claim(ids[1]).value(), std::nullopt);
  EXPECT_EQ(board.public_state(ids[1]), PublicState::cancelled);
  EXPECT_EQ(board.execution(ids[1]).end_reason, "workflow_cancelled");
  EXPECT_TRUE(board.revoke(ids[0]));
  EXPECT_TRUE(board.try_claim(ids[0]).value());
  EXPECT_TRUE(refuses(board.complete(running), Errc::stale_lease, ""));
  EXPECT_TRUE(board.cancel_members(board.id, ids, true)->empty());
}

TEST(Sibling, WhoIsNotNeededAnyMoreIsCancelledAndNobodyFailsForIt) {
  GraphBoard board;
  const ExecutionId last = board.fan_in(4, EdgePolicy::quorum(1, cancel_remaining));
  const Handle running = board.claim(board.all[1]).handle;
  board.succeed(board.all[3]);
  board.succeed(board.all[0]);
  board.take_notices();
  const auto first = board.cancel_siblings(last, 1).value();
  EXPECT_EQ(first.cancelled, std::vector{board.all[2]});
  EXPECT_EQ(first.left, 2U);
  const auto rest = board.cancel_siblings(last).value();
  EXPECT_EQ(rest.cancelled, std::vector{board.all[1]});
  EXPECT_EQ(rest.ended_before, 1U);
  EXPECT_EQ(rest.spared + rest.left, 0U);
  EXPECT_EQ(board.execution(board.all[1]).end_reason, "sibling_quorum_satisfied");
  EXPECT_EQ(board.execution(board.all[1]).ended_by, "engine");
  EXPECT_TRUE(refuses(board.complete(running), Errc::execution_not_active, ""));
  EXPECT_EQ(board.take_kinds(), (std::vector{NoticeKind::completion, NoticeKind::lease_revoked,
                                             NoticeKind::completion}));
  EXPECT_TRUE(board.cancel_siblings(last)->cancelled.empty());
  EXPECT_EQ(board.group(last).failed, 2U);
  EXPECT_EQ(board.workflow().cancelled_siblings, 2U);
  board.succeed(last);
  EXPECT_EQ(board.workflow().state, WorkflowState::completed);
}

TEST(Sibling, LosersOfWhatHasBecomeImpossibleAreCancelledToo) {
  GraphBoard board;
  const ExecutionId last = board.fan_in(3, EdgePolicy::quorum(2, cancel_remaining));
  board.fail_for_good(board.all[0]);
  board.fail_for_good(board.all[1]);
  EXPECT_EQ(board.public_state(last), PublicState::skipped);
  EXPECT_EQ(board.cancel_siblings(last)->cancelled, std::vector{board.all[2]});
  EXPECT_EQ(board.execution(board.all[2]).end_reason, "sibling_quorum_impossible");
  EXPECT_EQ(board.workflow().state, WorkflowState::failed);
  const ExecutionId nobody = ExecutionId::in_workflow(board.id, testing::make_uuid(4, 4));
  EXPECT_TRUE(refuses(board.cancel_siblings(nobody), Errc::not_found, to_string(nobody)));
}

TEST(Sibling, WhoIsNeededElsewhereIsSpared) {
  GraphBoard board;
  const auto ids = board.members(2);
  const auto lasts = board.members(2);
  board.set_policy(board.id, lasts[0], EdgePolicy::any_of(cancel_remaining)).value();
  for (const ExecutionId& last : lasts) {
    for (const ExecutionId& id : ids) board.link(id, last);
  }
  board.apply_all();
  board.succeed(ids[0]);
  const auto report = board.cancel_siblings(lasts[0]).value();
  EXPECT_TRUE(report.cancelled.empty());
  EXPECT_EQ(report.spared, 1U);
  board.succeed(ids[1]);
  EXPECT_EQ(board.public_state(lasts[1]), PublicState::waiting);
}

TEST(Sibling, WhomOnlyACancelledOneNeedsIsNotSpared) {
  GraphBoard board;
  const auto ids = board.members(2);
  const auto lasts = board.members(2);
  board.set_policy(board.id, lasts[0], EdgePolicy::any_of(cancel_remaining)).value();
  for (const ExecutionId& last : lasts) {
    for (const ExecutionId& id : ids) board.link(id, last);
  }
  board.apply_all();
  board.cancel(lasts[1]).value();
  board.succeed(ids[0]);
  EXPECT_EQ(board.cancel_siblings(lasts[0])->cancelled, std::vector{ids[1]});
}

TEST(Sibling, ItsOtherDependentsLearnThatItWasCancelled) {
  GraphBoard board;
  const auto ids = board.members(2);
  const auto lasts = board.members(2);
  board.set_policy(board.id, lasts[0], EdgePolicy::any_of(cancel_remaining)).value();
  board.set_policy(board.id, lasts[1], EdgePolicy::any_of(let_run)).value();
  for (const ExecutionId& last : lasts) {
    for (const ExecutionId& id : ids) board.link(id, last);
  }
  board.apply_all();
  board.succeed(ids[0]);
  EXPECT_EQ(board.cancel_siblings(lasts[0])->cancelled, std::vector{ids[1]});
  EXPECT_EQ(board.group(lasts[1]).succeeded, 1U);
  EXPECT_EQ(board.group(lasts[1]).failed, 1U);
}

TEST(Sibling, OneThatWasReplayedIsNotCancelledForWhatWasDecidedBefore) {
  GraphBoard board;
  const ExecutionId last = board.fan_in(2, EdgePolicy::any_of(cancel_remaining));
  board.succeed(board.all[0]);
  board.succeed(board.all[1]);
  EXPECT_TRUE(board.replay(board.all[1]));
  const auto report = board.cancel_siblings(last).value();
  EXPECT_TRUE(report.cancelled.empty());
  EXPECT_EQ(report.ended_before, 1U);
}

TEST(Replay, OpensAWorkflowThatHasEndedAndItEndsAnew) {
  GraphBoard board;
  const auto ids = board.members(2);
  board.link(ids[0], ids[1], "in");
  board.apply_all();
  board.fail_for_good(ids[0]);
  EXPECT_EQ(board.workflow().state, WorkflowState::failed);
  EXPECT_TRUE(board.replay(ids[0]));
  EXPECT_EQ(board.workflow().state, WorkflowState::open);
  EXPECT_FALSE(board.workflow().ended_at);
  EXPECT_EQ(board.workflow().counts[PublicState::waiting], 1U);
  board.succeed(ids[0]);
  // Its edges were resolved once: who was skipped for it stays so until it is replayed itself.
  EXPECT_EQ(board.public_state(ids[1]), PublicState::skipped);
  EXPECT_EQ(board.group(ids[1]).state, EdgeState::impossible);
  EXPECT_EQ(board.workflow().state, WorkflowState::completed);
  EXPECT_TRUE(board.replay(ids[1]));
  board.succeed(ids[1]);
  EXPECT_EQ(board.workflow().state, WorkflowState::completed);
}

TEST(Replay, OfOneThatWasSkippedNeedsWhatItDependsOnAndGetsIt) {
  GraphBoard board({.on_failure = FailurePolicy::isolate});
  const auto ids = board.members(3);
  board
      .stage(board.id, {{.upstream = ids[0], .downstream = ids[2], .input = "left"},
                        {.upstream = ids[1], .downstream = ids[2], .input = "right"}})
      .value();
  board.apply_all();
  board.fail_for_good(ids[0]);
  board.succeed(ids[1], "r");
  EXPECT_EQ(board.public_state(ids[2]), PublicState::skipped);
  EXPECT_TRUE(
      refuses(board.replay(ids[2]), Errc::wrong_state, "needs 2 of 2 dependencies, and has 1"));
  EXPECT_TRUE(board.replay(ids[0]));
  EXPECT_TRUE(refuses(board.replay(ids[2]), Errc::wrong_state, "and has 1"));
  board.succeed(ids[0], "l");
  EXPECT_TRUE(board.replay(ids[2]));
  const Claimed claimed = board.claim(ids[2]);
  ASSERT_EQ(claimed.inputs.size(), 2U);
  EXPECT_EQ(claimed.inputs[0].payload, "l");
  EXPECT_EQ(claimed.inputs[1].payload, "r");
}

TEST(Replay, OfOneThatWasCancelledBeforeItsTimeDoesNotBeginWithoutItsInputs) {
  GraphBoard board;
  const auto ids = board.members(2);
  board.link(ids[0], ids[1]);
  board.apply_all();
  board.cancel(ids[1]).value();
  EXPECT_TRUE(refuses(board.replay(ids[1]), Errc::wrong_state, "dependencies"));
  board.succeed(ids[0]);
  EXPECT_TRUE(board.replay(ids[1]));
}

TEST(Replay, IsRefusedInAWorkflowThatWasCancelled) {
  GraphBoard board;
  const auto ids = board.members(2);
  board.apply_all();
  board.succeed(ids[0]);
  EXPECT_EQ(board.cancel(board.id, CancelPolicy::cancel_all), true);
  EXPECT_TRUE(refuses(board.replay(ids[0]), Errc::workflow_sealed, to_string(board.id)));
  board.cancel_members(board.id, ids, true).value();
  EXPECT_TRUE(refuses(board.replay(ids[0]), Errc::workflow_sealed, to_string(board.id)));
}

TEST(Replay, OfOneThatFailedFastBeginsAgainOnceTheRestIsCancelled) {
  GraphBoard board({.on_failure = FailurePolicy::fail_fast});
  const auto ids = board.members(2);
  board.apply_all();
  board.fail_for_good(ids[0]);
  EXPECT_TRUE(refuses(board.replay(ids[0]), Errc::workflow_sealed, to_string(board.id)));
  board.cancel_members(board.id, ids, true).value();
  EXPECT_TRUE(board.replay(ids[0]));
  EXPECT_TRUE(board.replay(ids[1]));
  EXPECT_EQ(board.workflow().cancel_reason, "");
  board.succeed(ids[0]);
  board.succeed(ids[1]);
  EXPECT_EQ(board.workflow().state, WorkflowState::completed);
}

// The reason is the caller's own, whatever it looks like.
TEST(Replay, OfOneThatAnOperatorCancelledDoesNotForgiveAnother) {
  GraphBoard board;
  const auto ids = board.members(2);
  board.apply_all();
  board.cancel(ids[0], "sibling_quorum_satisfied", "engine").value();
  EXPECT_TRUE(board.replay(ids[0]));
  EXPECT_EQ(board.workflow().cancelled_siblings, 0U);
  board.cancel(ids[1]).value();
  board.succeed(ids[0]);
  EXPECT_EQ(board.workflow().state, WorkflowState::failed);
}

}  // namespace
}  // namespace weir::flow::workflow
