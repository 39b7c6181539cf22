#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <weir/runtime/result.hpp>

namespace weir::flow::workflow {

// Persisted, as numbers by one store and as words by the other: never renumber, never rename.

/// Where in its life an execution is.
enum class Phase : std::uint8_t { submitted = 1, runnable, active, suspended, terminal };

/// Whether somebody has the right to work on it.
enum class Ownership : std::uint8_t {
  unowned = 1,
  leased,
  lease_expired_reclaimable,
  lease_revoked,
};

/// Whether it may be claimed, and what keeps it from that.
enum class Eligibility : std::uint8_t {
  eligible_now = 1,
  not_eligible_until_time,
  blocked_by_dependencies,
  blocked_by_budget,
  blocked_by_quota,
  blocked_by_route,
  blocked_by_lane_state,
  blocked_by_operator,
  not_applicable,
};

/// What it waits for, told to people.
enum class BlockingReason : std::uint8_t {
  none = 1,
  waiting_for_worker,
  waiting_for_retry_backoff,
  waiting_for_resume_delay,
  waiting_for_delay,
  waiting_for_signal,
  waiting_for_approval,
  waiting_for_callback,
  waiting_for_tool_result,
  waiting_for_children,
  waiting_for_budget,
  waiting_for_quota,
  waiting_for_capable_worker,
  waiting_for_locality_match,
  paused_by_operator,
  paused_by_policy,
  paused_by_workflow_cancel,
};

/// How it ended.
enum class Outcome : std::uint8_t { none = 1, success, failed, cancelled, expired, skipped };

/// What its current attempt is doing.
enum class AttemptState : std::uint8_t {
  none = 1,
  pending_first_attempt,
  running_attempt,
  attempt_interrupted,
  pending_retry_attempt,
  pending_replay_attempt,
  attempt_terminal,
};

/// All of it in one word, derived from the rest; what lists and counters go by.
enum class PublicState : std::uint8_t {
  waiting = 1,
  delayed,
  rate_limited,
  waiting_children,
  active,
  suspended,
  completed,
  failed,
  cancelled,
  expired,
  skipped,
};

/// The words of an enumeration, in the order of its numbers, which begin at 1.
template <class E>
inline constexpr auto words = 0;
template <>
inline constexpr std::array words<Phase> = {"submitted", "runnable", "active", "suspended",
                                            "terminal"};
template <>
inline constexpr std::array words<Ownership> = {"unowned", "leased", "lease_expired_reclaimable",
                                                "lease_revoked"};
template <>
inline constexpr std::array words<Eligibility> = {
    "eligible_now",          "not_eligible_until_time", "blocked_by_dependencies",
    "blocked_by_budget",     "blocked_by_quota",        "blocked_by_route",
    "blocked_by_lane_state", "blocked_by_operator",     "not_applicable"};
template <>
inline constexpr std::array words<BlockingReason> = {"none",
                                                     "waiting_for_worker",
                                                     "waiting_for_retry_backoff",
                                                     "waiting_for_resume_delay",
                                                     "waiting_for_delay",
                                                     "waiting_for_signal",
                                                     "waiting_for_approval",
                                                     "waiting_for_callback",
                                                     "waiting_for_tool_result",
                                                     "waiting_for_children",
                                                     "waiting_for_budget",
                                                     "waiting_for_quota",
                                                     "waiting_for_capable_worker",
                                                     "waiting_for_locality_match",
                                                     "paused_by_operator",
                                                     "paused_by_policy",
                                                     "paused_by_workflow_cancel"};
template <>
inline constexpr std::array words<Outcome> = {"none",      "success", "failed",
                                              "cancelled", "expired", "skipped"};
template <>
inline constexpr std::array words<AttemptState> = {"none",
                                                   "pending_first_attempt",
                                                   "running_attempt",
                                                   "attempt_interrupted",
                                                   "pending_retry_attempt",
                                                   "pending_replay_attempt",
                                                   "attempt_terminal"};
template <>
inline constexpr std::array words<PublicState> = {
    "waiting",   "delayed", "rate_limited", "waiting_children", "active", "suspended",
    "completed", "failed",  "cancelled",    "expired",          "skipped"};

/// An enumeration that has words.
template <class E>
concept Worded = requires { words<E>.size(); };

template <Worded E>
constexpr std::string_view to_string(E value) noexcept {
  const auto index = static_cast<std::size_t>(value) - 1;
  return index < words<E>.size() ? std::string_view(words<E>[index]) : std::string_view("?");
}
/// None if there is no such word.
template <Worded E>
constexpr std::optional<E> parse_word(std::string_view text) noexcept {
  for (std::size_t i = 0; i < words<E>.size(); ++i) {
    if (text == words<E>[i]) return static_cast<E>(i + 1);
  }
  return std::nullopt;
}

/// The state of an execution.
///
/// The parts are not independent: `validate` has what may be together, and `transition`, by which
/// alone it changes, gives nothing else.
struct StateVector {
  Phase phase = Phase::submitted;
  Ownership ownership = Ownership::unowned;
  Eligibility eligibility = Eligibility::not_applicable;
  BlockingReason reason = BlockingReason::none;
  Outcome outcome = Outcome::none;
  AttemptState attempt = AttemptState::none;

  static auto weir_fields(auto& self) {
    return std::tie(self.phase, self.ownership, self.eligibility, self.reason, self.outcome,
                    self.attempt);
  }
  friend bool operator==(const StateVector&, const StateVector&) = default;
  friend auto operator<=>(const StateVector&, const StateVector&) = default;
};

/// `corruption`, with what does not go together, if no execution can be in this state.
Result<> validate(const StateVector& state);
/// Of a state that is valid.
PublicState public_state(const StateVector& state) noexcept;
bool is_terminal(PublicState state) noexcept;
/// For people: `active/leased/not_applicable/none/none/running_attempt`.
std::string to_string(const StateVector& state);

}  // namespace weir::flow::workflow
