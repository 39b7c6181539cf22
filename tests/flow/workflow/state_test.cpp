#include <weir/flow/workflow/state.hpp>

#include <set>

#include <gtest/gtest.h>

#include <weir/flow/workflow/errc.hpp>
#include <weir/tests/flow/workflow/support/all_states.hpp>

namespace weir::flow::workflow {
namespace {

using testing::all_vectors;

TEST(State, WordsAreReadBackAndOthersAreNot) {
  const auto reads_back = []<class E>(E) {
    std::set<std::string_view> seen;
    for (std::size_t i = 1; i <= words<E>.size(); ++i) {
      const auto value = static_cast<E>(i);
      EXPECT_EQ(parse_word<E>(to_string(value)), value);
      EXPECT_TRUE(seen.insert(to_string(value)).second) << to_string(value);
    }
    EXPECT_EQ(parse_word<E>("no such word"), std::nullopt);
    EXPECT_EQ(to_string(static_cast<E>(0)), "?");
  };
  reads_back(Phase::submitted);
  reads_back(Ownership::unowned);
  reads_back(Eligibility::eligible_now);
  reads_back(BlockingReason::none);
  reads_back(Outcome::none);
  reads_back(AttemptState::none);
  reads_back(PublicState::waiting);
}

// The constraints of the domain, each written as it is stated, over all combinations there are.
TEST(State, WhatIsValidKeepsEveryConstraint) {
  std::size_t valid = 0;
  for (const StateVector& state : all_vectors()) {
    if (!validate(state)) continue;
    ++valid;
    const bool is_terminal = state.phase == Phase::terminal;
    const bool is_leased = state.ownership == Ownership::leased;
    EXPECT_FALSE(is_terminal && is_leased) << to_string(state);
    EXPECT_FALSE(state.phase == Phase::suspended && is_leased) << to_string(state);
    EXPECT_FALSE(state.phase == Phase::submitted && is_leased) << to_string(state);
    EXPECT_EQ(state.outcome != Outcome::none, is_terminal) << to_string(state);
    EXPECT_FALSE(state.phase == Phase::active &&
                 state.attempt == AttemptState::pending_first_attempt)
        << to_string(state);
    EXPECT_FALSE(state.eligibility == Eligibility::eligible_now &&
                 (is_terminal || state.phase == Phase::active))
        << to_string(state);
    EXPECT_FALSE(state.phase == Phase::runnable && state.attempt == AttemptState::running_attempt)
        << to_string(state);
    EXPECT_FALSE(state.phase == Phase::active && state.ownership == Ownership::unowned)
        << to_string(state);
    EXPECT_EQ(state.eligibility != Eligibility::not_applicable, state.phase == Phase::runnable)
        << to_string(state);
  }
  // submitted; 4 attempts x (1 + 1 + 1 + 2 + 1 + 2) ways to be blocked or not; a delay and
  // dependencies for two attempts each, and two reasons more for one each; active; suspended;
  // terminal with an attempt, or, for three of the outcomes, without.
  EXPECT_EQ(valid, 1U + (4 * 8 + 2 * 2 + 2) + 3 + 5 + (5 + 3));
}

TEST(State, WhatIsNotValidIsNamed) {
  const StateVector state = {.phase = Phase::terminal, .ownership = Ownership::leased};
  const auto valid = validate(state);
  ASSERT_FALSE(valid);
  EXPECT_EQ(valid.error(), Errc::corruption);
  EXPECT_NE(valid.error().message().find("terminal/leased"), std::string::npos);
}

TEST(State, ThePublicStateFollowsFromTheRest) {
  for (const StateVector& state : all_vectors()) {
    if (!validate(state)) continue;
    const PublicState seen = public_state(state);
    EXPECT_EQ(is_terminal(seen), state.phase == Phase::terminal) << to_string(state);
    EXPECT_EQ(seen == PublicState::active, state.phase == Phase::active) << to_string(state);
    EXPECT_EQ(seen == PublicState::suspended, state.phase == Phase::suspended);
    EXPECT_EQ(seen == PublicState::delayed,
              state.eligibility == Eligibility::not_eligible_until_time);
    EXPECT_EQ(seen == PublicState::waiting_children,
              state.eligibility == Eligibility::blocked_by_dependencies);
    EXPECT_EQ(seen == PublicState::rate_limited,
              state.eligibility == Eligibility::blocked_by_budget ||
                  state.eligibility == Eligibility::blocked_by_quota);
    EXPECT_EQ(seen == PublicState::completed, state.outcome == Outcome::success);
    EXPECT_EQ(seen == PublicState::skipped, state.outcome == Outcome::skipped);
  }
}

}  // namespace
}  // namespace weir::flow::workflow
