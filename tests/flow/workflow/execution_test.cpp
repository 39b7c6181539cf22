#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/command_board.hpp>

namespace weir::flow::workflow {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::CommandBoard;
using testing::refuses;

TEST(Execution, IsReadyAtOnceOrWhenItsTimeHasCome) {
  CommandBoard board;
  const ExecutionId now = board.make();
  EXPECT_EQ(board.public_state(now), PublicState::waiting);
  EXPECT_EQ(board.state(now).eligibility, Eligibility::eligible_now);
  const Time later = board.now + seconds(5);
  const ExecutionId delayed = board.make({.kind = "work", .not_before = later});
  EXPECT_EQ(board.public_state(delayed), PublicState::delayed);
  EXPECT_EQ(board.execution(delayed).eligible_at, later);
  EXPECT_TRUE(refuses(board.try_claim(delayed), Errc::wrong_state, "not_eligible_until_time"));
  board.now = later - microseconds(1);
  EXPECT_EQ(board.promote_due(delayed), false);
  board.now = later;
  EXPECT_EQ(board.promote_due(delayed), true);
  EXPECT_EQ(board.promote_due(delayed), false);
  EXPECT_EQ(board.public_state(delayed), PublicState::waiting);
}

TEST(Execution, KeepsWhatItWasMadeWith) {
  CommandBoard board;
  const NewExecution request = {.kind = "mail",
                                .payload = "hello",
                                .space = "shop",
                                .lane = "slow",
                                .priority = 7,
                                .capabilities = {"gpu", "arm", "gpu"},
                                .tags = {{"team.name", "blue"}},
                                .creator = "me",
                                .reclaims_max = 4,
                                .replays_max = 5};
  const ExecutionId id = board.make(request);
  EXPECT_EQ(id.partition, ExecutionId::in_lane("slow", {}).partition);
  const Execution& execution = board.execution(id);
  EXPECT_EQ(execution.space, "shop");
  EXPECT_EQ(execution.lane, "slow");
  EXPECT_EQ(execution.priority, 7);
  EXPECT_EQ(execution.capabilities, (std::vector<std::string>{"arm", "gpu"}));
  EXPECT_EQ(execution.tags.at("team.name"), "blue");
  const ExecutionSpec& spec = *board.find<ExecutionSpec>(id);
  EXPECT_EQ(spec.kind, "mail");
  EXPECT_EQ(spec.payload, "hello");
  EXPECT_EQ(spec.creator, "me");
  EXPECT_EQ(spec.reclaims_max, 4U);
  EXPECT_EQ(spec.replays_max, 5U);
  EXPECT_EQ(spec.created_at, board.now);
}

TEST(Execution, AKeyThatWasUsedForAnotherRequestIsRefusedByName) {
  CommandBoard board;
  const NewExecution request = {.kind = "work", .payload = "p", .idempotency_key = "k"};
  const ExecutionId id = board.make(request);
  const auto refused = [&](auto change, std::string_view what) {
    NewExecution other = request;
    change(other);
    const auto created = board.create(other);
    return refuses(created, Errc::idempotency_mismatch, "another " + std::string(what)) &&
           refuses(created, Errc::idempotency_mismatch, to_string(id));
  };
  EXPECT_TRUE(refused([](auto& r) { r.kind = "other"; }, "kind"));
  EXPECT_TRUE(refused([](auto& r) { r.payload = "q"; }, "payload"));
  EXPECT_TRUE(refused([](auto& r) { r.retry.retries_max = 9; }, "specification"));
  EXPECT_TRUE(refused([](auto& r) { r.lane = "other"; }, "lane"));
  EXPECT_TRUE(refused([](auto& r) { r.capabilities = {"gpu"}; }, "capabilities"));
  EXPECT_TRUE(refused([](auto& r) { r.limit_keys = {"db"}; }, "limit keys"));
  // What may have changed since, and times, which differ whenever somebody asks again.
  NewExecution later = request;
  later.priority = 5;
  later.tags = {{"a.b", "c"}};
  later.deadline = board.now + hours(1);
  EXPECT_EQ(board.create(later).value().id, id);
}

TEST(Execution, TheSameKeyGivesTheSameExecutionForADayInOneNamespace) {
  CommandBoard board;
  const NewExecution request = {.kind = "work", .idempotency_key = "k"};
  const ExecutionId first = board.make(request);
  const Created again = board.create(request).value();
  EXPECT_TRUE(again.is_duplicate);
  EXPECT_EQ(again.id, first);
  EXPECT_NE(board.make({.kind = "work", .space = "other", .idempotency_key = "k"}), first);
  EXPECT_NE(board.make({.kind = "work"}), board.make({.kind = "work"}));
  board.pass(hours(24) - microseconds(1));
  EXPECT_EQ(board.make(request), first);
  board.pass(microseconds(1));
  const Created later = board.create(request).value();
  EXPECT_FALSE(later.is_duplicate);
  EXPECT_NE(later.id, first);
  EXPECT_EQ(board.make(request), later.id);
}

TEST(Execution, TheSameIdIsTheSameExecutionOrNone) {
  CommandBoard board;
  const ExecutionId id = ExecutionId::in_lane("default", testing::make_uuid(1, 2));
  EXPECT_FALSE(board.create({.kind = "work", .id = id}).value().is_duplicate);
  EXPECT_TRUE(board.create({.kind = "work", .id = id}).value().is_duplicate);
  const std::string text = to_string(id);
  EXPECT_TRUE(refuses(board.create({.kind = "other", .id = id}), Errc::already_exists, text));
  EXPECT_TRUE(refuses(board.create({.kind = "work", .space = "other", .id = id}),
                      Errc::already_exists, text));
  // A workflow in the same partition does not get it either.
  std::uint64_t i = 0;
  while (WorkflowId{testing::make_uuid(i, 1)}.partition() != id.partition) ++i;
  const WorkflowId workflow =
      board.create_workflow({.id = WorkflowId{testing::make_uuid(i, 1)}}).value();
  EXPECT_TRUE(refuses(board.create({.kind = "work", .id = id, .workflow = workflow}),
                      Errc::already_exists, "no workflow"));
  EXPECT_EQ(board.workflow(workflow).counts.total(), 0U);
}

TEST(Execution, AnIdOfAnotherPartitionIsRefused) {
  CommandBoard board;
  ExecutionId id = ExecutionId::in_lane("default", testing::make_uuid(1, 2));
  id.partition.number ^= 1;
  EXPECT_TRUE(
      refuses(board.create({.kind = "work", .id = id}), Errc::invalid_argument, to_string(id)));
  const WorkflowId workflow = board.create_workflow().value();
  id.partition.number = workflow.partition().number ^ 1;
  EXPECT_TRUE(refuses(board.create({.kind = "work", .id = id, .workflow = workflow}),
                      Errc::invalid_argument, to_string(id)));
}

TEST(Execution, BadInputIsRefusedByName) {
  CommandBoard board;
  const std::string long_name(name_bytes_max + 1, 'n');
  const auto refused = [&](auto spoil, Errc code, std::string_view what) {
    NewExecution request = {.kind = "work"};
    spoil(request);
    EXPECT_TRUE(refuses(board.create(request), code, what))
        << what << ": " << board.create(request).error().message();
  };
  const Errc invalid = Errc::invalid_argument;
  const Errc large = Errc::too_large;
  refused([](auto& r) { r.kind = ""; }, invalid, "kind is empty");
  refused([](auto& r) { r.kind = "weir.undo"; }, invalid, "kind 'weir.undo'");
  refused([](auto& r) { r.kind = "weir.schedule"; }, invalid, "kind 'weir.schedule'");
  refused([](auto& r) { r.space = ""; }, invalid, "namespace is empty");
  refused([](auto& r) { r.lane = ""; }, invalid, "lane is empty");
  refused([&](auto& r) { r.kind = long_name; }, large, "kind has 257");
  refused([&](auto& r) { r.space = long_name; }, large, "namespace has 257");
  refused([&](auto& r) { r.lane = long_name; }, large, "lane has 257");
  refused([&](auto& r) { r.creator = long_name; }, large, "creator has 257");
  refused([&](auto& r) { r.idempotency_key = long_name; }, large, "idempotency key has 257");
  refused([](auto& r) { r.payload.assign(payload_bytes_max + 1, 'p'); }, large, "1048577");
  refused([](auto& r) { r.priority = -1; }, invalid, "priority -1");
  refused([](auto& r) { r.priority = priority_max + 1; }, invalid, "priority 9001");
  refused([](auto& r) { r.capabilities = {"a", ""}; }, invalid, "capability is empty");
  refused([](auto& r) { r.capabilities.assign(257, "a"); }, large, "257 capabilities");
  refused([](auto& r) { r.capabilities = {std::string(4096, 'c')}; }, large, "4097 bytes");
  refused([](auto& r) { r.retry.backoff = Duration(-5); }, invalid, "-5 ns");
  refused([](auto& r) { r.retry.backoff_max = Duration(-6); }, invalid, "-6 ns");
  refused([](auto& r) { r.retry.multiplier = 0; }, invalid, "multiplier of 0");
  refused([](auto& r) { r.retry.categories = {std::string(4096, 'c')}; }, large, "4097 bytes");
  refused([](auto& r) { r.attempt_timeout = Duration(0); }, invalid, "timeout of 0 ns");
  refused([](auto& r) { r.attempt_timeout = Duration(-7); }, invalid, "timeout of -7 ns");
  refused([](auto& r) { r.not_before = r.deadline = Time(seconds(3)); }, invalid, "3000000 us");
  refused([](auto& r) { r.tags = {{"BAD", ""}}; }, invalid, "'BAD'");
  refused([](auto& r) { r.workflow = WorkflowId{testing::make_uuid(8, 9)}; }, Errc::not_found,
          to_string(WorkflowId{testing::make_uuid(8, 9)}));
  EXPECT_TRUE(board.records().table<Execution>().changed.empty());
}

TEST(Execution, TextThatSomeStoreCouldNotHoldIsRefused) {
  CommandBoard board;
  for (const std::string& bad : {std::string("\xff"), std::string("a\0b", 3)}) {
    const std::string_view shown = bad.size() == 1 ? R"('\xff')" : R"('a\x00b')";
    const auto refused = [&](auto spoil, std::string_view what) {
      NewExecution request = {.kind = "work"};
      spoil(request);
      const std::string named = std::string(what) + " " + std::string(shown);
      EXPECT_TRUE(refuses(board.create(request), Errc::invalid_argument, named)) << named;
    };
    refused([&](auto& r) { r.kind = bad; }, "kind");
    refused([&](auto& r) { r.space = bad; }, "namespace");
    refused([&](auto& r) { r.lane = bad; }, "lane");
    refused([&](auto& r) { r.creator = bad; }, "creator");
    refused([&](auto& r) { r.idempotency_key = bad; }, "idempotency key");
    refused([&](auto& r) { r.capabilities = {"gpu", bad}; }, "capability");
    refused([&](auto& r) { r.limit_keys = {bad}; }, "limit key");
    refused([&](auto& r) { r.retry.categories = {bad}; }, "retried category");
    const ExecutionId id = board.make();
    const auto claimed = [&](const ClaimRequest& request, std::string_view what) {
      EXPECT_TRUE(refuses(board.try_claim(id, request), Errc::invalid_argument, what)) << what;
    };
    claimed({.worker = bad}, "worker");
    claimed({.worker = "w", .lane = bad}, "lane");
    claimed({.worker = "w", .capabilities = {bad}}, "capability");
    claimed({.worker = "w", .spaces = {bad}}, "namespace");
    EXPECT_TRUE(refuses(board.set_lane_limit(bad, 1), Errc::invalid_argument, "lane"));
    EXPECT_TRUE(refuses(board.set_limit(bad, 1), Errc::invalid_argument, "limit key"));
    EXPECT_TRUE(refuses(board.approve({id, bad}), Errc::invalid_argument, "waitpoint"));
    EXPECT_TRUE(refuses(board.create_workflow({.kind = bad}), Errc::invalid_argument, "kind"));
    EXPECT_TRUE(refuses(board.create_workflow({.kind = "w", .space = bad}), Errc::invalid_argument,
                        "namespace"));
    // What nobody looks for may be anything.
    EXPECT_TRUE(board.create({.kind = "work", .payload = bad}));
  }
  EXPECT_TRUE(board.create({.kind = "K\u00fcche", .lane = "\u53a8\u623f"}));
}

TEST(Execution, TimesAreThoseThatEveryStoreCanHold) {
  CommandBoard board;
  const Time last =
      Time(std::chrono::sys_days(std::chrono::year(10'000) / 1 / 1)) - microseconds(1);
  for (const Time bad :
       {Time::min(), Time(microseconds(-1)), last + microseconds(1), Time::max()}) {
    const std::string shown = std::to_string(bad.time_since_epoch().count()) + " us";
    EXPECT_TRUE(refuses(board.create({.kind = "work", .not_before = bad}), Errc::invalid_argument,
                        "time to begin of " + shown));
    EXPECT_TRUE(refuses(board.create({.kind = "work", .deadline = bad}), Errc::invalid_argument,
                        "deadline of " + shown));
    const Handle handle = board.claim(board.make()).handle;
    EXPECT_TRUE(refuses(board.delay(handle, bad), Errc::invalid_argument, "go on of " + shown));
    EXPECT_EQ(board.public_state(handle.execution), PublicState::active);
  }
  EXPECT_TRUE(board.create({.kind = "work", .not_before = Time(), .deadline = last}));
  const Handle handle = board.claim(board.make()).handle;
  EXPECT_TRUE(board.delay(handle, last));
  EXPECT_EQ(board.execution(handle.execution).eligible_at, last);
}

TEST(Execution, WhatLastsForEverDoesNotOverflow) {
  CommandBoard board;
  const Duration ever = Duration::max();
  const ExecutionId id = board.make({.kind = "work", .attempt_timeout = ever});
  const Claimed claimed = board.claim(id, {.worker = "w", .lease = ever});
  EXPECT_GT(claimed.expires_at, board.now + hours(24 * 365 * 200));
  EXPECT_EQ(board.renew(claimed.handle, ever), claimed.expires_at);
  EXPECT_EQ(board.execution(id).attempt_deadline, claimed.expires_at);
  EXPECT_TRUE(board.suspend(
      claimed.handle,
      {.condition = WaitCondition::any_of({"go"}), .timeout = ever, .resume_delay = ever}));
  EXPECT_EQ(board.execution(id).suspended_until, claimed.expires_at);
  EXPECT_TRUE(board.resume(id));
  EXPECT_EQ(board.execution(id).eligible_at, claimed.expires_at);
  EXPECT_TRUE(board.resume_lane("default", {.from = 1, .to = 2, .over = ever}));
  EXPECT_TRUE(board.admission(board.make()).is_given());
}

TEST(Execution, TheLimitsThemselvesAreAccepted) {
  CommandBoard board;
  const std::string name(name_bytes_max, 'n');
  EXPECT_TRUE(board.create({.kind = name,
                            .payload = std::string(payload_bytes_max, 'p'),
                            .space = name,
                            .lane = name,
                            .idempotency_key = name,
                            .priority = priority_max,
                            .attempt_timeout = microseconds(1),
                            .capabilities = {std::string(4095, 'c')},
                            .creator = name}));
}

TEST(Execution, AJobIsClaimedRenewedAndCompleted) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "mail", .payload = "hello"});
  const Claimed claimed = board.claim(id, {.worker = "w1", .lease = seconds(10)});
  EXPECT_EQ(claimed.handle.execution, id);
  EXPECT_EQ(claimed.handle.attempt, 0U);
  EXPECT_EQ(claimed.spec.payload, "hello");
  EXPECT_EQ(claimed.attempt_kind, AttemptKind::initial);
  EXPECT_EQ(claimed.expires_at, board.now + seconds(10));
  EXPECT_EQ(board.public_state(id), PublicState::active);
  board.pass(seconds(9));
  EXPECT_EQ(board.renew(claimed.handle, seconds(10)), board.now + seconds(10));
  board.pass(seconds(9));
  EXPECT_TRUE(board.complete(claimed.handle, "done"));
  EXPECT_EQ(board.public_state(id), PublicState::completed);
  EXPECT_EQ(board.execution(id).result, "done");
  EXPECT_EQ(board.execution(id).ended_at, board.now);
  EXPECT_EQ(board.attempt(id, 0).outcome, AttemptOutcome::ended_success);
  EXPECT_EQ(board.attempt(id, 0).ended_at, board.now);
  EXPECT_EQ(board.attempt(id, 0).worker, "w1");
  EXPECT_EQ(board.take_kinds(), (std::vector{NoticeKind::lease_acquired, NoticeKind::lease_renewed,
                                             NoticeKind::lease_released, NoticeKind::completion}));
}

TEST(Execution, OnlyWhoCanDoWhatIsAskedForMayClaim) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "w", .lane = "a", .capabilities = {"gpu", "arm"}});
  const auto may = [&](const std::string& lane, std::vector<std::string> capabilities) {
    const auto claimed =
        board.try_claim(id, {.worker = "w", .lane = lane, .capabilities = std::move(capabilities)});
    return claimed.value().has_value();
  };
  EXPECT_FALSE(may("a", {}));
  EXPECT_FALSE(may("a", {"gpu"}));
  EXPECT_FALSE(may("a", {"GPU", "ARM"}));
  EXPECT_FALSE(may("b", {"gpu", "arm"}));
  EXPECT_EQ(board.public_state(id), PublicState::waiting);
  EXPECT_TRUE(may("a", {"x", "arm", "gpu"}));
}

TEST(Execution, AClaimThatMakesNoSenseIsRefused) {
  CommandBoard board;
  const ExecutionId id = board.make();
  EXPECT_TRUE(refuses(board.try_claim(id, {.worker = ""}), Errc::invalid_argument, "worker"));
  EXPECT_TRUE(refuses(board.try_claim(id, {.worker = std::string(257, 'w')}), Errc::too_large,
                      "worker has 257"));
  EXPECT_TRUE(refuses(board.try_claim(id, {.worker = "w", .lease = Duration(0)}),
                      Errc::invalid_argument, "lease of 0 ns"));
  EXPECT_TRUE(refuses(board.try_claim(id, {.worker = "w", .lease = seconds(-1)}),
                      Errc::invalid_argument, "lease of -1000000000 ns"));
  const ExecutionId nobody = ExecutionId::in_lane("default", testing::make_uuid(4, 4));
  EXPECT_TRUE(refuses(board.try_claim(nobody), Errc::not_found, to_string(nobody)));
  const Handle handle = board.claim(id).handle;
  EXPECT_TRUE(refuses(board.try_claim(id), Errc::wrong_state, "active/leased"));
  EXPECT_TRUE(refuses(board.renew(handle, Duration(999)), Errc::invalid_argument, "999 ns"));
  EXPECT_TRUE(refuses(board.complete(handle, std::string(payload_bytes_max + 1, 'r')),
                      Errc::too_large, "result has 1048577"));
  EXPECT_TRUE(board.complete(handle, std::string(payload_bytes_max, 'r')));
}

TEST(Execution, WhatIsPutOffIsTheSameAttemptWhenItIsClaimedAgain) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "w", .attempt_timeout = seconds(9)});
  const Handle first = board.claim(id).handle;
  board.pass(seconds(8));
  const Time until = board.now + minutes(1);
  EXPECT_TRUE(board.delay(first, until));
  EXPECT_EQ(board.public_state(id), PublicState::delayed);
  EXPECT_EQ(board.leased(), 0U);
  EXPECT_TRUE(refuses(board.complete(first), Errc::execution_not_active, "delay"));
  board.pass(minutes(1));
  EXPECT_EQ(board.expire_attempt(id), false);
  EXPECT_EQ(board.promote_due(id), true);
  const Claimed again = board.claim(id, {.worker = "other"});
  EXPECT_EQ(again.handle.attempt, first.attempt);
  EXPECT_GT(again.handle.epoch, first.epoch);
  EXPECT_EQ(board.execution(id).attempts, 1U);
  EXPECT_EQ(board.attempt(id, 0).worker, "other");
  EXPECT_EQ(board.execution(id).attempt_deadline, board.now + seconds(9));
  EXPECT_TRUE(refuses(board.complete(first), Errc::stale_lease, "epoch 1;"));
  EXPECT_TRUE(board.complete(again.handle));
}

TEST(Execution, CancellingFencesOffItsWorkerWhateverItDid) {
  CommandBoard board;
  const ExecutionId id = board.make();
  const Handle handle = board.claim(id).handle;
  const std::uint64_t epoch = board.execution(id).epoch;
  board.take_notices();
  EXPECT_EQ(board.cancel(id, "no more", "boss"), true);
  const Execution& execution = board.execution(id);
  EXPECT_EQ(execution.public_state(), PublicState::cancelled);
  EXPECT_EQ(execution.end_reason, "no more");
  EXPECT_EQ(execution.ended_by, "boss");
  EXPECT_GT(execution.epoch, epoch);
  EXPECT_FALSE(execution.lease);
  EXPECT_EQ(board.leased(), 0U);
  EXPECT_EQ(board.attempt(id, 0).outcome, AttemptOutcome::ended_cancelled);
  EXPECT_EQ(board.attempt(id, 0).reason, "no more");
  EXPECT_EQ(board.take_kinds(), (std::vector{NoticeKind::lease_revoked, NoticeKind::completion}));
  EXPECT_TRUE(refuses(board.complete(handle), Errc::execution_not_active, "terminal"));
  EXPECT_EQ(board.cancel(id), false);
  EXPECT_TRUE(board.take_kinds().empty());
  EXPECT_EQ(board.execution(id).end_reason, "no more");
  const ExecutionId nobody = ExecutionId::in_lane("default", testing::make_uuid(4, 4));
  EXPECT_TRUE(refuses(board.cancel(nobody), Errc::not_found, to_string(nobody)));
}

TEST(Execution, OneThatHadNoLeaseEndsWithoutALeaseNotice) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "w", .space = "shop"});
  EXPECT_EQ(board.cancel(id), true);
  const auto notices = board.take_notices();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].kind, NoticeKind::completion);
  EXPECT_EQ(notices[0].outcome, Outcome::cancelled);
  EXPECT_EQ(notices[0].space, "shop");
  EXPECT_EQ(notices[0].at, board.now);
}

TEST(Execution, IsReplayedOnlyAfterItsEndAndNotForEver) {
  CommandBoard board;
  const ExecutionId id =
      board.make({.kind = "w", .retry = RetryPolicy::fixed(Duration(0), 1), .replays_max = 2});
  EXPECT_TRUE(refuses(board.replay(id), Errc::wrong_state, "replay"));
  EXPECT_TRUE(board.fail(board.claim(id).handle)->retry_at);
  board.fail_for_good(id);
  EXPECT_TRUE(board.replay(id));
  const Execution& execution = board.execution(id);
  EXPECT_EQ(execution.public_state(), PublicState::waiting);
  EXPECT_EQ(execution.retries, 0U);
  EXPECT_EQ(execution.replays, 1U);
  EXPECT_FALSE(execution.ended_at);
  EXPECT_TRUE(execution.end_reason.empty());
  const Claimed claimed = board.claim(id);
  EXPECT_EQ(claimed.attempt_kind, AttemptKind::replay);
  EXPECT_EQ(claimed.handle.attempt, 2U);
  EXPECT_EQ(board.attempt(id, 2).after, 1U);
  EXPECT_TRUE(board.complete(claimed.handle, "second"));
  EXPECT_EQ(board.execution(id).result, "second");
  EXPECT_TRUE(board.replay(id));
  board.succeed(id, "third");
  EXPECT_TRUE(refuses(board.replay(id), Errc::limit_reached, "2 times"));
  EXPECT_EQ(board.attempt(id, 1).outcome, AttemptOutcome::ended_failure);
}

TEST(Execution, OneThatExpiredIsNotExpiredAgainAsSoonAsItIsReplayed) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "w", .deadline = board.now + seconds(1)});
  board.pass(seconds(1));
  EXPECT_EQ(board.expire_execution(id), true);
  EXPECT_TRUE(board.replay(id));
  EXPECT_EQ(board.expire_execution(id), false);
  board.succeed(id);
}

TEST(Execution, PriorityIsChangedOnlyBeforeItIsClaimed) {
  CommandBoard board;
  const ExecutionId id = board.make();
  EXPECT_TRUE(board.change_priority(id, 12));
  EXPECT_EQ(board.execution(id).priority, 12);
  EXPECT_TRUE(refuses(board.change_priority(id, -2), Errc::invalid_argument, "-2"));
  EXPECT_TRUE(refuses(board.change_priority(id, 9001), Errc::invalid_argument, "9001"));
  const Handle handle = board.claim(id).handle;
  EXPECT_TRUE(refuses(board.change_priority(id, 1), Errc::wrong_state, "active"));
  EXPECT_TRUE(board.complete(handle));
  EXPECT_TRUE(refuses(board.change_priority(id, 1), Errc::wrong_state, "terminal"));
}

TEST(Execution, TagsAreSetOneByOneUpToTheirLimit) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "w", .tags = {{"a.a", "1"}}});
  EXPECT_TRUE(board.set_tag(id, "a.b", "2"));
  EXPECT_TRUE(board.set_tag(id, "a.a", "3"));
  EXPECT_EQ(board.execution(id).tags, (Tags{{"a.a", "3"}, {"a.b", "2"}}));
  EXPECT_TRUE(refuses(board.set_tag(id, "a", "2"), Errc::invalid_argument, "'a'"));
  for (std::size_t i = 2; i < tags_max; ++i) {
    EXPECT_TRUE(board.set_tag(id, "n." + std::to_string(i), ""));
  }
  EXPECT_TRUE(refuses(board.set_tag(id, "z.z", ""), Errc::too_large, "65 tags"));
  EXPECT_EQ(board.execution(id).tags.size(), tags_max);
  const ExecutionId nobody = ExecutionId::in_lane("default", testing::make_uuid(4, 4));
  EXPECT_TRUE(refuses(board.set_tag(nobody, "a.b", ""), Errc::not_found, to_string(nobody)));
}

}  // namespace
}  // namespace weir::flow::workflow
