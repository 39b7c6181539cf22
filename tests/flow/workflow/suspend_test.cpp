#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/graph_board.hpp>

// Executions that wait for signals, and what ends that.
namespace weir::flow::workflow {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using testing::CommandBoard;
using testing::GraphBoard;
using testing::refuses;
using Distinct = WaitCondition::Distinct;
using Payloads = std::vector<std::string>;

SuspendRequest waiting_for(std::vector<std::string> waitpoints) {
  return {.condition = WaitCondition::all_of(std::move(waitpoints))};
}

Payloads payloads(const std::optional<Resumption>& resumption) {
  Payloads found;
  if (!resumption) return {"not resumed"};
  for (const Signal& signal : resumption->signals) found.push_back(signal.payload);
  return found;
}

TEST(Suspend, TheAttemptGoesOnWithTheSignalThatEndsIt) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "w", .attempt_timeout = seconds(9)});
  const Handle first = board.claim(id).handle;
  board.take_notices();
  const SuspendResult waits = board.suspend(first, waiting_for({"paid"})).value();
  EXPECT_FALSE(waits.resumed);
  ASSERT_EQ(waits.tokens.size(), 1U);
  EXPECT_EQ(waits.tokens[0].waitpoint, "paid");
  EXPECT_EQ(board.public_state(id), PublicState::suspended);
  EXPECT_EQ(board.state(id).reason, BlockingReason::waiting_for_signal);
  EXPECT_EQ(board.attempt(id, 0).outcome, AttemptOutcome::suspended);
  EXPECT_EQ(board.leased(), 0U);
  EXPECT_EQ(board.take_kinds(), (std::vector{NoticeKind::lease_released, NoticeKind::suspended}));
  board.pass(seconds(20));
  EXPECT_EQ(board.expire_attempt(id), false);
  EXPECT_TRUE(refuses(board.complete(first), Errc::execution_not_active, "suspended"));
  EXPECT_TRUE(refuses(board.try_claim(id), Errc::wrong_state, "suspended"));
  EXPECT_EQ(board.signal({id, "paid", "42 EUR"}, waits.tokens[0].token), SignalEffect::resumed);
  EXPECT_EQ(board.take_kinds(), (std::vector{NoticeKind::signal, NoticeKind::resumed}));
  EXPECT_EQ(board.public_state(id), PublicState::waiting);
  const Claimed again = board.claim(id, {.worker = "other"});
  EXPECT_EQ(again.handle.attempt, first.attempt);
  EXPECT_GT(again.handle.epoch, first.epoch);
  EXPECT_EQ(board.execution(id).attempts, 1U);
  EXPECT_EQ(again.resumed->state, SuspensionState::satisfied);
  EXPECT_EQ(payloads(again.resumed), Payloads{"42 EUR"});
  EXPECT_EQ(board.execution(id).attempt_deadline, board.now + seconds(9));
  EXPECT_TRUE(refuses(board.complete(first), Errc::stale_lease, ""));
  EXPECT_TRUE(board.complete(again.handle));
  EXPECT_EQ(board.find<Suspension>(id), nullptr);
}

TEST(Suspend, NoticesOfSignalsHaveNamespaceAndWaitpoint) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "w", .space = "shop"});
  EXPECT_EQ(board.approve({id, "paid"}), SignalEffect::kept);
  const auto notices = board.take_notices();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].kind, NoticeKind::signal);
  EXPECT_EQ(notices[0].space, "shop");
  EXPECT_EQ(notices[0].waitpoint, "paid");
  EXPECT_EQ(notices[0].at, board.now);
}

TEST(Suspend, SignalsThatCameBeforeCount) {
  CommandBoard board;
  const ExecutionId id = board.make();
  EXPECT_EQ(board.approve({id, "a", "early"}), SignalEffect::kept);
  const Handle handle = board.claim(id).handle;
  EXPECT_EQ(board.approve({id, "b", "running"}), SignalEffect::kept);
  EXPECT_EQ(board.approve({id, "a", "second"}), SignalEffect::kept);
  board.take_notices();
  // All is there: its lease is kept, and nobody is told.
  EXPECT_EQ(payloads(board.suspend(handle, waiting_for({"b", "a"}))->resumed),
            (Payloads{"early", "running"}));
  EXPECT_EQ(board.public_state(id), PublicState::active);
  EXPECT_TRUE(board.take_notices().empty());
  EXPECT_EQ(payloads(board.suspend(handle, waiting_for({"a"}))->resumed), Payloads{"second"});
  EXPECT_FALSE(board.suspend(handle, waiting_for({"a"}))->resumed);
  EXPECT_EQ(board.public_state(id), PublicState::suspended);
}

// What was sent, in order, as waitpoint and source; and how many of them end it.
TEST(Suspend, ConditionsAreSatisfiedAsTheTableSays) {
  struct Case {
    WaitCondition condition;
    std::vector<std::pair<std::string, std::string>> sent;
    std::optional<std::size_t> ended_by;  // the last of so many
    Payloads taken;
  };
  const std::vector<Case> cases = {
      {WaitCondition::all_of({"a"}), {{"b", ""}, {"a", ""}}, 2, {"1"}},
      {WaitCondition::all_of({"a", "b"}), {{"a", ""}, {"a", ""}, {"b", ""}}, 3, {"0", "2"}},
      {WaitCondition::all_of({"a", "b"}), {{"a", ""}, {"a", ""}, {"c", ""}}, {}, {}},
      {WaitCondition::any_of({"a", "b"}), {{"c", ""}, {"b", ""}}, 2, {"1"}},
      {WaitCondition::count_of(2, Distinct::waitpoints, {"a", "b", "c"}),
       {{"a", "x"}, {"a", "y"}, {"c", "x"}},
       3,
       {"0", "2"}},
      {WaitCondition::count_of(2, Distinct::signals, {"a"}),
       {{"a", "x"}, {"b", "x"}, {"a", "x"}},
       3,
       {"0", "2"}},
      {WaitCondition::count_of(2, Distinct::sources, {"a", "b"}),
       {{"a", "x"}, {"b", "x"}, {"c", "y"}, {"b", "y"}},
       4,
       {"0", "3"}},
      {WaitCondition::count_of(3, Distinct::sources, {"a"}),
       {{"a", "x"}, {"a", "y"}, {"a", "x"}},
       {},
       {}},
  };
  for (std::size_t c = 0; c < cases.size(); ++c) {
    // However many of them come before it is suspended.
    for (std::size_t early = 0; early <= cases[c].sent.size(); ++early) {
      CommandBoard board;
      const ExecutionId id = board.make();
      const Handle handle = board.claim(id).handle;
      std::size_t sent = 0;
      const auto send = [&] {
        const auto& [waitpoint, source] = cases[c].sent[sent];
        return board.approve({id, waitpoint, std::to_string(sent++), "", source}).value();
      };
      while (sent < early) EXPECT_EQ(send(), SignalEffect::kept);
      const bool is_ended = cases[c].ended_by && early >= *cases[c].ended_by;
      const auto resumed = board.suspend(handle, {.condition = cases[c].condition})->resumed;
      ASSERT_EQ(resumed.has_value(), is_ended) << c << ", " << early;
      if (is_ended) EXPECT_EQ(payloads(resumed), cases[c].taken) << c;
      while (!is_ended && sent < cases[c].sent.size()) {
        const bool ends = sent + 1 == cases[c].ended_by;
        EXPECT_EQ(send(), ends ? SignalEffect::resumed : SignalEffect::kept) << c << ", " << sent;
      }
      if (!cases[c].ended_by) {
        EXPECT_EQ(board.public_state(id), PublicState::suspended) << c;
      } else if (!is_ended) {
        EXPECT_EQ(payloads(board.claim(id).resumed), cases[c].taken) << c;
      }
    }
  }
}

TEST(Suspend, ASignalWithTheSameIdCountsOnce) {
  CommandBoard board;
  const ExecutionId id = board.make();
  const Handle handle = board.claim(id).handle;
  const NewSignal signal = {id, "a", "first", "id1"};
  EXPECT_EQ(board.approve(signal), SignalEffect::kept);
  NewSignal again = signal;
  again.payload = "other";
  EXPECT_EQ(board.approve(again), SignalEffect::duplicate);
  again.waitpoint = "b";
  EXPECT_EQ(board.approve(again), SignalEffect::kept);
  const auto two = WaitCondition::count_of(2, Distinct::signals, {"a"});
  EXPECT_FALSE(board.suspend(handle, {.condition = two})->resumed);
  EXPECT_EQ(board.approve(signal), SignalEffect::duplicate);
  EXPECT_EQ(board.approve({id, "a", "second", "id2"}), SignalEffect::resumed);
  EXPECT_EQ(board.approve(signal), SignalEffect::duplicate);
  const Claimed resumed = board.claim(id);
  EXPECT_EQ(payloads(resumed.resumed), (Payloads{"first", "second"}));
  board.take_notices();
  EXPECT_TRUE(board.complete(resumed.handle));
  // Whoever had no answer may ask again.
  EXPECT_EQ(board.approve(signal), SignalEffect::duplicate);
  EXPECT_TRUE(refuses(board.approve({id, "a"}), Errc::wrong_state, "terminal"));
  EXPECT_EQ(board.execution(id).signals, 3U);
}

TEST(Suspend, WithAKeyTheSameSuspensionAnswersTheSameToEveryAttempt) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "w", .retry = RetryPolicy::fixed(Duration(0))});
  SuspendRequest request = waiting_for({"a"});
  request.key = "step 1";
  EXPECT_FALSE(board.suspend(board.claim(id).handle, request)->resumed);
  EXPECT_EQ(board.approve({id, "a", "one"}), SignalEffect::resumed);
  const Claimed first = board.claim(id, {.worker = "w", .lease = seconds(1)});
  EXPECT_EQ(payloads(board.suspend(first.handle, request)->resumed), Payloads{"one"});
  // Its worker dies, the next one fails.
  board.pass(seconds(1));
  EXPECT_EQ(board.expire_lease(id), true);
  const Claimed second = board.claim(id);
  EXPECT_EQ(payloads(second.resumed), Payloads{"one"});
  EXPECT_EQ(payloads(board.suspend(second.handle, request)->resumed), Payloads{"one"});
  EXPECT_TRUE(board.fail(second.handle)->retry_at);
  const Claimed third = board.claim(id);
  EXPECT_EQ(third.handle.attempt, 2U);
  EXPECT_EQ(payloads(board.suspend(third.handle, request)->resumed), Payloads{"one"});
  request.key = "step 2";
  EXPECT_FALSE(board.suspend(third.handle, request)->resumed);
  EXPECT_EQ(board.approve({id, "a", "two"}), SignalEffect::resumed);
  EXPECT_EQ(payloads(board.suspend(board.claim(id).handle, request)->resumed), Payloads{"two"});
}

TEST(Suspend, TimesOutAsTheTableSays) {
  struct Case {
    OnTimeout on_timeout;
    PublicState then;
    std::vector<NoticeKind> notices;
  };
  using enum NoticeKind;
  const std::vector<Case> cases = {
      {OnTimeout::fail, PublicState::failed, {completion}},
      {OnTimeout::cancel, PublicState::cancelled, {completion}},
      {OnTimeout::expire, PublicState::expired, {completion}},
      {OnTimeout::resume, PublicState::waiting, {resumed}},
      {OnTimeout::escalate, PublicState::suspended, {escalated}},
  };
  for (const Case& c : cases) {
    CommandBoard board;
    const ExecutionId id = board.make({.kind = "w", .retry = {.retries_max = 0}});
    SuspendRequest request = waiting_for({"a"});
    request.timeout = seconds(5);
    request.on_timeout = c.on_timeout;
    EXPECT_TRUE(board.suspend(board.claim(id).handle, request));
    board.take_notices();
    board.pass(seconds(5) - microseconds(1));
    EXPECT_EQ(board.expire_suspension(id), false);
    board.pass(microseconds(1));
    EXPECT_EQ(board.expire_suspension(id), true);
    EXPECT_EQ(board.public_state(id), c.then) << to_string(c.on_timeout);
    EXPECT_EQ(board.take_kinds(), c.notices) << to_string(c.on_timeout);
    EXPECT_EQ(board.expire_suspension(id), false);
    EXPECT_FALSE(board.execution(id).suspended_until);
    if (board.execution(id).has_ended()) {
      EXPECT_EQ(board.execution(id).end_reason, "suspension_timeout");
      EXPECT_EQ(board.attempt(id, 0).ended_at, board.now);
      EXPECT_EQ(board.find<Suspension>(id), nullptr);
    }
  }
}

TEST(Suspend, OneThatGoesOnAfterItsTimeoutIsTold) {
  CommandBoard board;
  const ExecutionId id = board.make();
  SuspendRequest request = waiting_for({"a"});
  request.key = "k";
  request.timeout = seconds(5);
  request.on_timeout = OnTimeout::resume;
  EXPECT_TRUE(board.suspend(board.claim(id).handle, request));
  board.pass(seconds(5));
  EXPECT_EQ(board.expire_suspension(id), true);
  EXPECT_EQ(board.approve({id, "a", "late"}), SignalEffect::kept);
  const Claimed again = board.claim(id);
  EXPECT_EQ(again.resumed->state, SuspensionState::timed_out);
  EXPECT_TRUE(again.resumed->signals.empty());
  EXPECT_EQ(board.suspend(again.handle, request)->resumed->state, SuspensionState::timed_out);
}

TEST(Suspend, AFailureByTimeoutIsTriedAgainAndWaitsAnew) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "w", .retry = RetryPolicy::fixed(Duration(0), 1)});
  SuspendRequest request = waiting_for({"a"});
  request.key = "k";
  request.timeout = seconds(5);
  EXPECT_TRUE(board.suspend(board.claim(id).handle, request));
  board.pass(seconds(5));
  EXPECT_EQ(board.expire_suspension(id), true);
  EXPECT_EQ(board.public_state(id), PublicState::waiting);
  EXPECT_EQ(board.attempt(id, 0).reason, "suspension_timeout");
  EXPECT_EQ(board.attempt(id, 0).outcome, AttemptOutcome::ended_failure);
  const Claimed second = board.claim(id);
  EXPECT_EQ(second.attempt_kind, AttemptKind::retry);
  EXPECT_FALSE(second.resumed);
  EXPECT_FALSE(board.suspend(second.handle, request)->resumed);
  EXPECT_EQ(board.approve({id, "a"}), SignalEffect::resumed);
  EXPECT_EQ(board.expire_suspension(id), false);
}

TEST(Suspend, WhoWasEscalatedWaitsForPeopleWithoutALimit) {
  CommandBoard board;
  const ExecutionId id = board.make();
  SuspendRequest request = waiting_for({"a"});
  request.timeout = seconds(5);
  request.on_timeout = OnTimeout::escalate;
  EXPECT_TRUE(board.suspend(board.claim(id).handle, request));
  board.pass(seconds(5));
  EXPECT_EQ(board.expire_suspension(id), true);
  EXPECT_EQ(board.state(id).reason, BlockingReason::waiting_for_approval);
  board.pass(seconds(5000));
  EXPECT_EQ(board.expire_suspension(id), false);
  EXPECT_EQ(board.approve({id, "a", "well"}), SignalEffect::resumed);
  EXPECT_EQ(payloads(board.claim(id).resumed), Payloads{"well"});
}

TEST(Suspend, AnOperatorMayOverruleIt) {
  CommandBoard board;
  const ExecutionId id = board.make();
  EXPECT_TRUE(refuses(board.resume(id), Errc::wrong_state, to_string(id)));
  const Handle handle = board.claim(id).handle;
  EXPECT_TRUE(refuses(board.resume(id), Errc::wrong_state, "active"));
  EXPECT_TRUE(
      board.suspend(handle, {.condition = {}, .reason = BlockingReason::waiting_for_approval}));
  EXPECT_EQ(board.approve({id, "a"}), SignalEffect::kept);
  EXPECT_TRUE(refuses(board.resume(id, ""), Errc::invalid_argument, "operator"));
  EXPECT_TRUE(board.resume(id, "anna"));
  const Claimed again = board.claim(id);
  EXPECT_EQ(again.resumed->state, SuspensionState::overruled);
  EXPECT_EQ(again.resumed->by, "anna");
  const ExecutionId nobody = ExecutionId::in_lane("default", testing::make_uuid(4, 4));
  EXPECT_TRUE(refuses(board.resume(nobody), Errc::not_found, to_string(nobody)));
}

TEST(Suspend, ItMayGoOnLater) {
  CommandBoard board;
  const ExecutionId id = board.make();
  SuspendRequest request = waiting_for({"a"});
  request.resume_delay = seconds(7);
  EXPECT_TRUE(board.suspend(board.claim(id).handle, request));
  EXPECT_EQ(board.approve({id, "a"}), SignalEffect::resumed);
  EXPECT_EQ(board.public_state(id), PublicState::delayed);
  EXPECT_EQ(board.state(id).reason, BlockingReason::waiting_for_resume_delay);
  board.pass(seconds(7) - microseconds(1));
  EXPECT_EQ(board.promote_due(id), false);
  board.pass(microseconds(1));
  EXPECT_EQ(board.promote_due(id), true);
  EXPECT_EQ(board.claim(id).handle.attempt, 0U);
}

// W7, W38: nothing of a suspension outlives its execution.
TEST(Suspend, HoweverItEndsNothingIsLeftOfIt) {
  for (const int how : {0, 1, 2, 3}) {
    GraphBoard board;
    const ExecutionId id =
        board.make_member(board.id, {.kind = "w", .deadline = board.now + seconds(9)});
    board.apply(board.id, {id}).value();
    SuspendRequest request = waiting_for({"a", "b"});
    request.timeout = seconds(60);
    EXPECT_TRUE(board.suspend(board.claim(id).handle, request));
    EXPECT_EQ(board.approve({id, "a"}), SignalEffect::kept);
    board.take_notices();
    if (how == 0) EXPECT_EQ(board.cancel(id), true);
    if (how == 1) {
      board.pass(seconds(9));
      EXPECT_EQ(board.expire_execution(id), true);
    }
    if (how >= 2) {
      EXPECT_EQ(board.cancel(board.id,
                             how == 2 ? CancelPolicy::cancel_all : CancelPolicy::cancel_pending),
                true);
      EXPECT_EQ(board.cancel_members(board.id, {id}, true)->size(), how == 2 ? 1U : 0U);
    }
    if (how == 3) {
      // It has begun.
      EXPECT_EQ(board.approve({id, "b"}), SignalEffect::resumed);
      board.succeed(id);
      continue;
    }
    EXPECT_TRUE(board.execution(id).has_ended());
    EXPECT_EQ(board.take_kinds(), std::vector{NoticeKind::completion}) << how;
    EXPECT_EQ(board.find<Suspension>(id), nullptr);
    EXPECT_EQ(board.find<Mailbox>(id), nullptr);
    EXPECT_NE(board.attempt(id, 0).outcome, AttemptOutcome::suspended);
    board.pass(seconds(60));
    EXPECT_EQ(board.expire_suspension(id), false);
    EXPECT_TRUE(refuses(board.approve({id, "b"}), Errc::wrong_state, "terminal"));
    EXPECT_TRUE(refuses(board.resume(id), Errc::wrong_state, "terminal"));
  }
}

TEST(Suspend, AReplayDoesNotSeeSignalsOfTheLifeBefore) {
  CommandBoard board;
  const ExecutionId id = board.make();
  EXPECT_EQ(board.approve({id, "a", "old"}), SignalEffect::kept);
  EXPECT_EQ(board.cancel(id), true);
  EXPECT_TRUE(board.replay(id));
  const Claimed claimed = board.claim(id);
  EXPECT_FALSE(claimed.resumed);
  EXPECT_FALSE(board.suspend(claimed.handle, waiting_for({"a"}))->resumed);
  EXPECT_EQ(board.approve({id, "a", "new"}), SignalEffect::resumed);
  EXPECT_EQ(payloads(board.claim(id).resumed), Payloads{"new"});
}

TEST(Suspend, WhatMakesNoSenseIsRefusedByName) {
  CommandBoard board;
  const ExecutionId id = board.make();
  const Handle handle = board.claim(id).handle;
  const auto invalid = Errc::invalid_argument;
  const auto refused = [&](SuspendRequest request, Errc code, std::string_view what) {
    return refuses(board.suspend(handle, request), code, what);
  };
  const auto counting = [](std::uint32_t k, Distinct distinct, std::vector<std::string> at) {
    return SuspendRequest{.condition = WaitCondition::count_of(k, distinct, std::move(at))};
  };
  EXPECT_TRUE(refused(waiting_for({"a", ""}), invalid, "waitpoint is empty"));
  EXPECT_TRUE(refused(waiting_for({"a", "b", "a"}), invalid, "'a' is there twice"));
  EXPECT_TRUE(refused(waiting_for(std::vector<std::string>(65, "a")), Errc::too_large, "65"));
  EXPECT_TRUE(refused(waiting_for({}), invalid, "without waitpoints and timeout"));
  EXPECT_TRUE(refused(counting(0, Distinct::signals, {"a"}), invalid, "count of 0"));
  EXPECT_TRUE(refused(counting(2, Distinct::waitpoints, {"a"}), invalid, "2 distinct waitpoints"));
  EXPECT_TRUE(refused(counting(1001, Distinct::sources, {"a"}), invalid, "1001 distinct sources"));
  EXPECT_TRUE(refused(counting(1, Distinct::sources, {}), invalid, "0 waitpoints"));
  EXPECT_TRUE(refused(counting(1, static_cast<Distinct>(9), {"a"}), Errc::unsupported_policy, "9"));
  SuspendRequest request = waiting_for({"a"});
  request.reason = BlockingReason::waiting_for_children;
  EXPECT_TRUE(refused(request, invalid, "waiting_for_children"));
  request = waiting_for({"a"});
  request.timeout = Duration(0);
  EXPECT_TRUE(refused(request, invalid, "timeout of 0 ns"));
  request = waiting_for({"a"});
  request.resume_delay = Duration(-1);
  EXPECT_TRUE(refused(request, invalid, "-1 ns"));
  request = waiting_for({"a"});
  request.on_timeout = static_cast<OnTimeout>(7);
  EXPECT_TRUE(refused(request, Errc::unsupported_policy, "timeout behaviour 7"));
  request = waiting_for({"a"});
  request.key = std::string(257, 'k');
  EXPECT_TRUE(refused(request, Errc::too_large, "key has 257"));
  EXPECT_TRUE(refuses(board.approve({id, ""}), invalid, "waitpoint"));
  EXPECT_TRUE(refuses(board.approve({id, "a", std::string(65537, 'p')}), Errc::too_large, "65537"));
  const ExecutionId nobody = ExecutionId::in_lane("default", testing::make_uuid(4, 4));
  EXPECT_TRUE(refuses(board.approve({nobody, "a"}), Errc::not_found, to_string(nobody)));
  EXPECT_EQ(board.public_state(id), PublicState::active);
  Handle stale = handle;
  ++stale.epoch;
  EXPECT_TRUE(refuses(board.suspend(stale, waiting_for({"a"})), Errc::stale_lease, ""));
}

TEST(Suspend, AMailboxHasABound) {
  CommandBoard board;
  const ExecutionId id = board.make();
  for (std::size_t i = 0; i < mailbox_entries_max; ++i) {
    ASSERT_EQ(board.approve({id, "a"}), SignalEffect::kept);
  }
  EXPECT_TRUE(refuses(board.approve({id, "a"}), Errc::limit_reached, "1000 wait"));
  EXPECT_TRUE(board.suspend(board.claim(id).handle, waiting_for({"a"}))->resumed);
  EXPECT_EQ(board.approve({id, "a"}), SignalEffect::kept);
}

}  // namespace
}  // namespace weir::flow::workflow
