#include <set>

#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/command_board.hpp>

namespace weir::flow::workflow {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using testing::CommandBoard;
using testing::refuses;

TEST(Lease, EndsExactlyWhenItExpires) {
  CommandBoard board;
  const ExecutionId id = board.make();
  const Claimed claimed = board.claim(id, {.worker = "w", .lease = seconds(3)});
  board.now = claimed.expires_at - microseconds(1);
  EXPECT_EQ(board.expire_lease(id), false);
  EXPECT_TRUE(board.renew(claimed.handle, microseconds(2)));
  board.pass(microseconds(1));
  EXPECT_TRUE(board.renew(claimed.handle, microseconds(1)));
  // Whether or not anybody has noticed.
  board.pass(microseconds(1));
  const std::string text = to_string(id);
  EXPECT_TRUE(refuses(board.renew(claimed.handle, seconds(1)), Errc::lease_expired, text));
  EXPECT_TRUE(refuses(board.complete(claimed.handle), Errc::lease_expired, text));
  EXPECT_TRUE(refuses(board.fail(claimed.handle), Errc::lease_expired, text));
  EXPECT_TRUE(refuses(board.delay(claimed.handle, board.now), Errc::lease_expired, text));
  EXPECT_EQ(board.public_state(id), PublicState::active);
  EXPECT_EQ(board.leased(), 1U);
  EXPECT_EQ(board.expire_lease(id), true);
  EXPECT_EQ(board.leased(), 0U);
  EXPECT_EQ(board.expire_lease(id), false);
  EXPECT_TRUE(refuses(board.complete(claimed.handle), Errc::lease_expired, text));
}

TEST(Lease, RefusalsHaveAnOrder) {
  CommandBoard board;
  const ExecutionId id = board.make();
  const Handle first = board.claim(id, {.worker = "w", .lease = seconds(3)}).handle;
  Handle stale = first;
  ++stale.attempt;
  EXPECT_TRUE(refuses(board.complete(stale), Errc::stale_lease, "attempt 1"));
  stale = first;
  ++stale.epoch;
  EXPECT_TRUE(refuses(board.complete(stale), Errc::stale_lease, "epoch 2;"));
  // Of a stale handle, that the lease has passed comes first; of that, that it was revoked; of
  // that, that there is nothing to hold.
  board.pass(seconds(3));
  EXPECT_TRUE(refuses(board.complete(stale), Errc::lease_expired, ""));
  EXPECT_TRUE(board.revoke(id));
  EXPECT_TRUE(refuses(board.complete(stale), Errc::lease_revoked, ""));
  EXPECT_TRUE(refuses(board.complete(first), Errc::lease_revoked, ""));
  const Handle second = board.claim(id).handle;
  EXPECT_TRUE(refuses(board.complete(first), Errc::stale_lease, ""));
  EXPECT_EQ(board.cancel(id), true);
  EXPECT_TRUE(refuses(board.complete(stale), Errc::execution_not_active, ""));
  EXPECT_TRUE(refuses(board.complete(second), Errc::execution_not_active, ""));
  const Handle nobody = {ExecutionId::in_lane("default", testing::make_uuid(4, 4)), 0, 1, 0};
  EXPECT_TRUE(refuses(board.complete(nobody), Errc::not_found, to_string(nobody.execution)));
}

TEST(Lease, WhoHasItMayCancel) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "work", .retry = {.retries_max = 5}});
  const Handle first = board.claim(id, {.worker = "w1", .lease = seconds(3)}).handle;
  board.pass(seconds(3));
  EXPECT_TRUE(refuses(board.cancel(first), Errc::lease_expired, to_string(id)));
  EXPECT_TRUE(board.revoke(id));
  EXPECT_TRUE(refuses(board.cancel(first), Errc::lease_revoked, to_string(id)));
  const Handle second = board.claim(id, {.worker = "w2"}).handle;
  EXPECT_TRUE(refuses(board.cancel(first), Errc::stale_lease, "epoch 1"));
  EXPECT_EQ(board.public_state(id), PublicState::active) << "it is another one's";
  board.take_notices();
  EXPECT_TRUE(board.cancel(second, "nothing to do"));
  EXPECT_EQ(board.take_kinds(), (std::vector{NoticeKind::lease_released, NoticeKind::completion}));
  EXPECT_EQ(board.public_state(id), PublicState::cancelled);
  EXPECT_EQ(board.execution(id).ended_by, "w2");
  EXPECT_EQ(board.execution(id).end_reason, "nothing to do");
  EXPECT_EQ(board.attempt(id, 1).outcome, AttemptOutcome::ended_cancelled);
  EXPECT_EQ(board.leased(), 0U);
  EXPECT_TRUE(refuses(board.cancel(second), Errc::execution_not_active, to_string(id)));
  EXPECT_TRUE(board.take_notices().empty());
  EXPECT_TRUE(refuses(board.cancel(second, std::string(payload_bytes_max + 1, 'r')),
                      Errc::too_large, "reason has 1048577"));
}

TEST(Lease, IsTakenFromAWorkerWhateverItIsCalled) {
  CommandBoard board;
  for (const std::uint32_t retries : {0U, 1U}) {
    const ExecutionId id = board.make(
        {.kind = "work", .attempt_timeout = seconds(1), .retry = {.retries_max = retries}});
    board.claim(id, {.worker = "engine"});
    board.pass(seconds(1));
    board.take_notices();
    EXPECT_EQ(board.expire_attempt(id), true);
    EXPECT_EQ(board.take_kinds().at(0), NoticeKind::lease_revoked) << retries;
  }
}

TEST(Lease, OfAnExecutionThatWasEndedAndReplayedTheOldOneIsStale) {
  CommandBoard board;
  const ExecutionId id = board.make();
  const Handle first = board.claim(id).handle;
  EXPECT_EQ(board.cancel(id), true);
  EXPECT_TRUE(board.replay(id));
  EXPECT_TRUE(refuses(board.complete(first), Errc::execution_not_active, ""));
  const Handle second = board.claim(id).handle;
  EXPECT_GT(second.epoch, first.epoch + 1);
  EXPECT_TRUE(refuses(board.complete(first), Errc::stale_lease, ""));
  EXPECT_TRUE(board.complete(second));
}

TEST(Lease, ReclaimingIsANewAttemptAndTheOldOneKeepsItsHistory) {
  CommandBoard board;
  const ExecutionId id = board.make();
  const Time start = board.now;
  const Handle first = board.claim(id, {.worker = "w1", .lease = seconds(3)}).handle;
  board.pass(seconds(3));
  EXPECT_EQ(board.expire_lease(id), true);
  board.pass(seconds(1));
  board.take_notices();
  const Claimed second = board.claim(id, {.worker = "w2"});
  EXPECT_EQ(second.attempt_kind, AttemptKind::reclaim);
  EXPECT_EQ(second.handle.attempt, 1U);
  EXPECT_EQ(second.handle.epoch, first.epoch + 1);
  EXPECT_EQ(board.execution(id).reclaims, 1U);
  const Attempt& interrupted = board.attempt(id, 0);
  EXPECT_EQ(interrupted.outcome, AttemptOutcome::interrupted_reclaimed);
  EXPECT_EQ(interrupted.worker, "w1");
  EXPECT_EQ(interrupted.started_at, start);
  EXPECT_EQ(interrupted.ended_at, board.now);
  EXPECT_EQ(interrupted.epoch, first.epoch);
  EXPECT_EQ(board.attempt(id, 1).after, 0U);
  EXPECT_EQ(board.attempt(id, 1).worker, "w2");
  EXPECT_TRUE(refuses(board.complete(first), Errc::stale_lease, ""));
  EXPECT_TRUE(board.complete(second.handle));
  EXPECT_EQ(board.attempt(id, 0).outcome, AttemptOutcome::interrupted_reclaimed);
  EXPECT_EQ(board.take_kinds(), (std::vector{NoticeKind::lease_acquired, NoticeKind::lease_released,
                                             NoticeKind::completion}));
}

TEST(Lease, IsRevokedOnceAndWhoeverComesNextReclaims) {
  CommandBoard board;
  const ExecutionId id = board.make();
  EXPECT_TRUE(refuses(board.revoke(id), Errc::wrong_state, "revoke_lease"));
  board.claim(id);
  board.take_notices();
  EXPECT_TRUE(board.revoke(id, "worker is ill"));
  EXPECT_EQ(board.take_kinds(), std::vector{NoticeKind::lease_revoked});
  EXPECT_EQ(board.leased(), 0U);
  EXPECT_EQ(board.attempt(id, 0).reason, "worker is ill");
  EXPECT_TRUE(refuses(board.revoke(id), Errc::wrong_state, "lease_revoked"));
  EXPECT_EQ(board.claim(id).attempt_kind, AttemptKind::reclaim);
  EXPECT_EQ(board.attempt(id, 0).reason, "worker is ill");
}

TEST(Lease, EveryNoticeNamesItsNamespaceAndWorkflow) {
  CommandBoard board;
  const WorkflowId workflow = board.create_workflow({.space = "shop"}).value();
  const ExecutionId id = board.make_member(workflow, {.kind = "w", .space = "shop"});
  const ExecutionId other = board.make_member(workflow, {.kind = "w", .space = "shop"});
  ASSERT_TRUE(board.apply(workflow, {id, other}));
  const SuspendRequest wait{.condition = WaitCondition::any_of({"go"}),
                            .timeout = seconds(1),
                            .on_timeout = OnTimeout::escalate};
  const Handle first = board.claim(id).handle;
  ASSERT_TRUE(board.renew(first, seconds(10)));
  ASSERT_TRUE(board.suspend(first, wait));
  ASSERT_TRUE(board.approve({id, "go"}));
  board.claim(id);
  ASSERT_TRUE(board.revoke(id));
  board.claim(id, {.worker = "w", .lease = seconds(1)});
  ASSERT_TRUE(board.suspend(board.claim(other).handle, wait));
  board.pass(seconds(2));
  EXPECT_EQ(board.expire_lease(id), true);
  EXPECT_EQ(board.expire_suspension(other), true);
  ASSERT_EQ(board.cancel(workflow, CancelPolicy::cancel_all), true);
  ASSERT_TRUE(board.cancel_members(workflow, {id, other}, true));
  std::set<NoticeKind> kinds;
  for (const Notice& notice : board.take_notices()) {
    kinds.insert(notice.kind);
    EXPECT_EQ(notice.space, "shop") << to_string(notice.kind);
    EXPECT_EQ(notice.workflow, workflow) << to_string(notice.kind);
  }
  EXPECT_EQ(kinds.size(), 10U) << "each kind of notice that is told unasked";
}

TEST(Lease, OneWhoseWorkersAllDieIsGivenUp) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "w", .reclaims_max = 2});
  for (int lost = 0; lost < 3; ++lost) {
    board.claim(id, {.worker = "w", .lease = seconds(1)});
    board.pass(seconds(1));
    EXPECT_EQ(board.expire_lease(id), true);
  }
  board.take_notices();
  EXPECT_EQ(board.try_claim(id).value(), std::nullopt);
  EXPECT_EQ(board.public_state(id), PublicState::failed);
  EXPECT_EQ(board.execution(id).end_reason, "reclaims_exhausted");
  EXPECT_EQ(board.execution(id).reclaims, 2U);
  EXPECT_EQ(board.attempt(id, 2).outcome, AttemptOutcome::ended_failure);
  EXPECT_EQ(board.take_kinds(), std::vector{NoticeKind::completion});
}

TEST(Lease, EndsByCancelAfterItExpiredWithoutASecondLeaseNotice) {
  CommandBoard board;
  const ExecutionId id = board.make();
  board.claim(id, {.worker = "w", .lease = seconds(1)});
  board.pass(seconds(1));
  EXPECT_EQ(board.expire_lease(id), true);
  board.take_notices();
  EXPECT_EQ(board.cancel(id), true);
  EXPECT_EQ(board.take_kinds(), std::vector{NoticeKind::completion});
  EXPECT_EQ(board.leased(), 0U);
  EXPECT_EQ(board.attempt(id, 0).outcome, AttemptOutcome::ended_cancelled);
}

TEST(Retry, ComesAfterItsBackoffAndThenNoMore) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "w", .retry = {.retries_max = 2}});
  for (int retry = 1; retry <= 2; ++retry) {
    const FailResult failed = board.fail(board.claim(id).handle, {"broken", "io"}).value();
    EXPECT_EQ(failed.retry_at, board.now + seconds(retry));
    EXPECT_EQ(board.public_state(id), PublicState::delayed);
    EXPECT_EQ(board.state(id).reason, BlockingReason::waiting_for_retry_backoff);
    EXPECT_EQ(board.leased(), 0U);
    EXPECT_EQ(board.promote_due(id), false);
    board.pass(seconds(retry));
    EXPECT_EQ(board.promote_due(id), true);
  }
  const Claimed last = board.claim(id);
  EXPECT_EQ(last.attempt_kind, AttemptKind::retry);
  EXPECT_EQ(last.handle.attempt, 2U);
  EXPECT_EQ(board.fail(last.handle, {"for good", ""})->retry_at, std::nullopt);
  EXPECT_EQ(board.public_state(id), PublicState::failed);
  EXPECT_EQ(board.execution(id).end_reason, "for good");
  EXPECT_EQ(board.execution(id).ended_by, "w");
  for (std::uint32_t number = 0; number < 3; ++number) {
    EXPECT_EQ(board.attempt(id, number).outcome, AttemptOutcome::ended_failure);
    EXPECT_EQ(board.attempt(id, number).reason, number < 2 ? "broken" : "for good");
    EXPECT_EQ(board.attempt(id, number).after.has_value(), number > 0);
  }
}

TEST(Retry, WithoutABackoffIsAtOnceAndFencesOffWhoFailed) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "w", .retry = RetryPolicy::fixed(Duration(0))});
  const Handle handle = board.claim(id).handle;
  board.take_notices();
  EXPECT_EQ(board.fail(handle)->retry_at, board.now);
  EXPECT_EQ(board.public_state(id), PublicState::waiting);
  EXPECT_EQ(board.take_kinds(), std::vector{NoticeKind::lease_released});
  EXPECT_GT(board.execution(id).epoch, handle.epoch);
  EXPECT_TRUE(refuses(board.fail(handle), Errc::execution_not_active, ""));
  EXPECT_EQ(board.claim(id).attempt_kind, AttemptKind::retry);
}

TEST(Retry, OnlyFailuresOfItsCategoriesAreTriedAgain) {
  CommandBoard board;
  const NewExecution request = {.kind = "w", .retry = {.categories = {"io", "timeout"}}};
  const ExecutionId tried = board.make(request);
  EXPECT_TRUE(board.fail(board.claim(tried).handle, {"broken", "io"})->retry_at);
  for (const std::string category : {"", "bug", "IO"}) {
    const ExecutionId id = board.make(request);
    EXPECT_FALSE(board.fail(board.claim(id).handle, {"broken", category})->retry_at);
    EXPECT_EQ(board.public_state(id), PublicState::failed);
  }
  const ExecutionId id = board.make(request);
  EXPECT_TRUE(refuses(board.fail(board.claim(id).handle, {std::string((1U << 20U) + 1, 'r'), ""}),
                      Errc::too_large, "reason has 1048577"));
}

TEST(Retry, AnAttemptThatTakesTooLongFailsAsOneOfItsWorker) {
  CommandBoard board;
  const ExecutionId id = board.make(
      {.kind = "w", .attempt_timeout = seconds(5), .retry = RetryPolicy::fixed(Duration(0), 1)});
  Handle handle = board.claim(id, {.worker = "w", .lease = seconds(60)}).handle;
  EXPECT_TRUE(board.renew(handle, seconds(60)));
  board.pass(seconds(5) - microseconds(1));
  EXPECT_EQ(board.expire_attempt(id), false);
  board.pass(microseconds(1));
  board.take_notices();
  EXPECT_EQ(board.expire_attempt(id), true);
  // The worker did not give it back.
  EXPECT_EQ(board.take_kinds(), std::vector{NoticeKind::lease_revoked});
  EXPECT_EQ(board.public_state(id), PublicState::waiting);
  EXPECT_EQ(board.attempt(id, 0).reason, "attempt_timeout");
  EXPECT_TRUE(refuses(board.complete(handle), Errc::execution_not_active, ""));
  EXPECT_EQ(board.expire_attempt(id), false);
  board.claim(id, {.worker = "w", .lease = seconds(60)});
  board.pass(seconds(5));
  board.take_notices();
  EXPECT_EQ(board.expire_attempt(id), true);
  EXPECT_EQ(board.public_state(id), PublicState::failed);
  EXPECT_EQ(board.execution(id).ended_by, "engine");
  EXPECT_EQ(board.take_kinds(), (std::vector{NoticeKind::lease_revoked, NoticeKind::completion}));
  EXPECT_EQ(board.leased(), 0U);
}

TEST(Retry, AnAttemptWhoseLeaseIsLostDoesNotTimeOut) {
  for (const bool is_revoked : {false, true}) {
    CommandBoard board;
    const ExecutionId id = board.make({.kind = "w", .attempt_timeout = seconds(5)});
    board.claim(id, {.worker = "w", .lease = seconds(3)});
    board.pass(seconds(3));
    if (is_revoked) {
      EXPECT_TRUE(board.revoke(id));
    } else {
      EXPECT_EQ(board.expire_lease(id), true);
    }
    board.pass(seconds(2));
    EXPECT_EQ(board.expire_attempt(id), false);
    EXPECT_EQ(board.public_state(id), PublicState::active);
  }
}

TEST(Retry, ATimeoutIsACategoryToo) {
  CommandBoard board;
  const auto ends_as = [&](const std::string& category) {
    const ExecutionId id = board.make(
        {.kind = "w", .attempt_timeout = seconds(5), .retry = {.categories = {category}}});
    board.claim(id);
    board.pass(seconds(5));
    EXPECT_EQ(board.expire_attempt(id), true);
    return board.public_state(id);
  };
  EXPECT_EQ(ends_as("timeout"), PublicState::delayed);
  EXPECT_EQ(ends_as("io"), PublicState::failed);
}

TEST(Deadline, EndsAnExecutionWhereverItIs) {
  CommandBoard board;
  const NewExecution request = {.kind = "w", .deadline = board.now + seconds(5)};
  const ExecutionId waiting = board.make(request);
  NewExecution delayed_request = request;
  delayed_request.not_before = board.now + seconds(4);
  const ExecutionId delayed = board.make(delayed_request);
  const ExecutionId active = board.make(request);
  const Handle handle = board.claim(active).handle;
  const ExecutionId retried = board.make(request);
  EXPECT_TRUE(board.fail(board.claim(retried).handle)->retry_at);
  const ExecutionId ended = board.make(request);
  board.succeed(ended);
  board.pass(seconds(5) - microseconds(1));
  EXPECT_EQ(board.expire_execution(waiting), false);
  board.pass(microseconds(1));
  for (const ExecutionId& id : {waiting, delayed, active, retried}) {
    board.take_notices();
    EXPECT_EQ(board.expire_execution(id), true);
    EXPECT_EQ(board.public_state(id), PublicState::expired);
    EXPECT_EQ(board.execution(id).end_reason, "execution_deadline");
    EXPECT_EQ(board.take_notices().back().outcome, Outcome::expired);
    EXPECT_EQ(board.expire_execution(id), false);
  }
  EXPECT_EQ(board.expire_execution(ended), false);
  EXPECT_EQ(board.public_state(ended), PublicState::completed);
  EXPECT_EQ(board.leased(), 0U);
  EXPECT_TRUE(refuses(board.complete(handle), Errc::execution_not_active, ""));
  EXPECT_EQ(board.attempt(active, 0).outcome, AttemptOutcome::ended_failure);
  EXPECT_EQ(board.expire_execution(board.make()), false);
}

TEST(Lane, PausedGivesNothingAndDrainingTakesNothing) {
  CommandBoard board;
  const ExecutionId id = board.make();
  const auto create = [&] { return board.create({.kind = "w"}); };
  EXPECT_TRUE(board.set_lane_state("default", LaneState::paused));
  EXPECT_EQ(board.try_claim(id).value(), std::nullopt);
  EXPECT_TRUE(create());
  EXPECT_TRUE(board.set_lane_state("default", LaneState::disabled));
  EXPECT_EQ(board.try_claim(id).value(), std::nullopt);
  EXPECT_TRUE(refuses(create(), Errc::wrong_state, "lane 'default' is disabled"));
  EXPECT_TRUE(board.set_lane_state("default", LaneState::draining));
  EXPECT_TRUE(refuses(create(), Errc::wrong_state, "lane 'default' is draining"));
  EXPECT_TRUE(board.try_claim(id).value());
  EXPECT_TRUE(board.set_lane_state("default", LaneState::active));
  EXPECT_TRUE(create());
  EXPECT_TRUE(refuses(board.set_lane_state("", LaneState::paused), Errc::invalid_argument, "lane"));
  EXPECT_TRUE(refuses(board.set_lane_state("l", static_cast<LaneState>(9)), Errc::invalid_argument,
                      "state 9"));
  EXPECT_TRUE(refuses(board.set_lane_limit(std::string(257, 'l'), 1), Errc::too_large, "257"));
}

TEST(Lane, HasNoMoreLeasesThanItsLimit) {
  CommandBoard board;
  const ExecutionId first = board.make();
  const ExecutionId second = board.make();
  const ExecutionId elsewhere = board.make({.kind = "w", .lane = "other"});
  EXPECT_TRUE(board.set_lane_limit("default", 1));
  const Handle handle = board.claim(first).handle;
  EXPECT_EQ(board.try_claim(second).value(), std::nullopt);
  EXPECT_TRUE(board.try_claim(elsewhere, {.worker = "w", .lane = "other"}).value());
  EXPECT_TRUE(board.complete(handle));
  board.claim(second);
  EXPECT_TRUE(board.set_lane_limit("default", 0));
  EXPECT_EQ(board.leased(), 1U);
  EXPECT_TRUE(board.revoke(second));
  EXPECT_EQ(board.try_claim(second).value(), std::nullopt);
  EXPECT_TRUE(board.set_lane_limit("default", std::nullopt));
  EXPECT_TRUE(board.try_claim(second).value());
}

}  // namespace
}  // namespace weir::flow::workflow
