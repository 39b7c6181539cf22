#include <weir/flow/workflow/transition.hpp>

#include <map>
#include <set>

#include <gtest/gtest.h>

#include <weir/flow/workflow/errc.hpp>
#include <weir/tests/flow/workflow/support/all_states.hpp>

namespace weir::flow::workflow {
namespace {

using testing::all_events;
using testing::all_vectors;
using Kind = EventKind;

std::vector<StateVector> valid_states() {
  std::vector<StateVector> states;
  for (const StateVector& state : all_vectors()) {
    if (validate(state)) states.push_back(state);
  }
  return states;
}

TEST(Transition, GivesValidStatesOnlyAndRefusesTheRestByName) {
  for (const StateVector& state : valid_states()) {
    for (const Event event : all_events()) {
      const auto next = transition(state, event);
      if (next) {
        EXPECT_TRUE(validate(*next)) << to_string(state) << " " << to_string(event.kind);
        continue;
      }
      EXPECT_EQ(next.error(), Errc::wrong_state);
      EXPECT_NE(next.error().message().find(to_string(state)), std::string::npos);
      EXPECT_NE(next.error().message().find(to_string(event.kind)), std::string::npos);
    }
  }
}

TEST(Transition, NothingComesOfAStateThatCannotBe) {
  std::size_t tried = 0;
  for (const StateVector& state : all_vectors()) {
    if (validate(state) || ++tried % 7 != 0) continue;
    for (const Event event : all_events()) {
      EXPECT_EQ(transition(state, event).error(), Errc::corruption);
    }
  }
}

// From which phase to which each event leads, as the domain has it.
TEST(Transition, PhasesFollowTheTable) {
  const Phase submitted = Phase::submitted, runnable = Phase::runnable, active = Phase::active,
              suspended = Phase::suspended, terminal = Phase::terminal;
  const std::map<Kind, std::set<std::pair<Phase, Phase>>> table = {
      {Kind::promote, {{submitted, runnable}}},
      {Kind::promote_delayed, {{submitted, runnable}}},
      {Kind::promote_blocked, {{submitted, runnable}}},
      {Kind::time_due, {{runnable, runnable}}},
      {Kind::block, {{runnable, runnable}}},
      {Kind::unblock, {{runnable, runnable}}},
      {Kind::dependencies_satisfied, {{runnable, runnable}}},
      {Kind::dependencies_satisfied_delayed, {{runnable, runnable}}},
      {Kind::claim, {{runnable, active}}},
      {Kind::expire_lease, {{active, active}}},
      {Kind::revoke_lease, {{active, active}}},
      {Kind::reclaim, {{active, active}}},
      {Kind::complete, {{active, terminal}}},
      {Kind::fail, {{active, terminal}, {suspended, terminal}}},
      {Kind::retry, {{active, runnable}, {suspended, runnable}}},
      {Kind::retry_delayed, {{active, runnable}, {suspended, runnable}}},
      {Kind::delay, {{active, runnable}}},
      {Kind::wait_for_children, {{active, runnable}}},
      {Kind::suspend, {{active, suspended}}},
      {Kind::resume, {{suspended, runnable}}},
      {Kind::resume_delayed, {{suspended, runnable}}},
      {Kind::cancel,
       {{submitted, terminal}, {runnable, terminal}, {active, terminal}, {suspended, terminal}}},
      {Kind::expire,
       {{submitted, terminal}, {runnable, terminal}, {active, terminal}, {suspended, terminal}}},
      {Kind::skip, {{submitted, terminal}, {runnable, terminal}}},
      {Kind::replay, {{terminal, runnable}}},
      {Kind::escalate, {{suspended, suspended}}},
  };
  std::map<Kind, std::set<std::pair<Phase, Phase>>> seen;
  for (const StateVector& state : valid_states()) {
    for (const Event event : all_events()) {
      if (auto next = transition(state, event)) {
        seen[event.kind].insert({state.phase, next->phase});
      }
    }
  }
  EXPECT_EQ(seen, table);
}

// Whatever happens, one comes only to states in which an execution can be, and to all of those.
TEST(Transition, EveryValidStateIsReachedFromTheFirst) {
  std::set<StateVector> reached = {StateVector{}};
  std::vector<StateVector> open = {StateVector{}};
  while (!open.empty()) {
    const StateVector state = open.back();
    open.pop_back();
    for (const Event event : all_events()) {
      const auto next = transition(state, event);
      if (next && reached.insert(*next).second) open.push_back(*next);
    }
  }
  // Only an attempt that waits for its backoff waits with a retry pending, and so on: what is valid
  // is what occurs.
  for (const StateVector& state : valid_states()) {
    EXPECT_TRUE(reached.contains(state)) << to_string(state);
  }
  EXPECT_EQ(reached.size(), valid_states().size());
}

TEST(Transition, AnAttemptThatWasNeverBegunDoesNotEnd) {
  const auto after = [](std::vector<Event> events) {
    StateVector state;
    for (const Event event : events) state = transition(state, event).value();
    return state;
  };
  EXPECT_EQ(after({{Kind::cancel}}).attempt, AttemptState::none);
  EXPECT_EQ(after({{Kind::promote}, {Kind::cancel}}).attempt, AttemptState::none);
  EXPECT_EQ(after({{Kind::promote_blocked}, {Kind::skip}}).attempt, AttemptState::none);
  EXPECT_EQ(after({{Kind::promote}, {Kind::claim}, {Kind::cancel}}).attempt,
            AttemptState::attempt_terminal);
  EXPECT_EQ(after({{Kind::promote}, {Kind::claim}, {Kind::retry}, {Kind::expire}}).attempt,
            AttemptState::attempt_terminal);
}

TEST(Transition, OnlyTheReasonForWhichItWasBlockedUnblocks) {
  const StateVector ready = transition({}, {Kind::promote}).value();
  const StateVector paused =
      transition(ready, {Kind::block, BlockingReason::paused_by_operator}).value();
  EXPECT_FALSE(transition(paused, {Kind::claim}));
  EXPECT_FALSE(transition(paused, {Kind::unblock, BlockingReason::waiting_for_quota}));
  EXPECT_EQ(transition(paused, {Kind::unblock, BlockingReason::paused_by_operator}), ready);
}

}  // namespace
}  // namespace weir::flow::workflow
