#include <weir/flow/workflow/state.hpp>

#include <weir/flow/workflow/errc.hpp>

namespace weir::flow::workflow {
namespace {

using enum Phase;
using enum Ownership;
using enum Eligibility;
using enum BlockingReason;
using AttemptState::attempt_interrupted;
using AttemptState::attempt_terminal;
using AttemptState::pending_first_attempt;
using AttemptState::pending_replay_attempt;
using AttemptState::pending_retry_attempt;
using AttemptState::running_attempt;

bool is_pending(AttemptState attempt) {
  return attempt == pending_first_attempt || attempt == pending_retry_attempt ||
         attempt == pending_replay_attempt || attempt == attempt_interrupted;
}

/// What a runnable execution may be told to wait for.
bool explains(BlockingReason reason, const StateVector& state) {
  // One that is tried again, or replayed, has had its delay and its dependencies.
  const bool may_wait =
      state.attempt == pending_first_attempt || state.attempt == attempt_interrupted;
  switch (state.eligibility) {
    case eligible_now: return reason == waiting_for_worker;
    case not_eligible_until_time:
      return (reason == waiting_for_delay && may_wait) ||
             (reason == waiting_for_retry_backoff && state.attempt == pending_retry_attempt) ||
             (reason == waiting_for_resume_delay && state.attempt == attempt_interrupted);
    case blocked_by_dependencies: return reason == waiting_for_children && may_wait;
    case blocked_by_budget: return reason == waiting_for_budget;
    case blocked_by_quota: return reason == waiting_for_quota;
    case blocked_by_route:
      return reason == waiting_for_capable_worker || reason == waiting_for_locality_match;
    case blocked_by_lane_state: return reason == paused_by_policy;
    case blocked_by_operator:
      return reason == paused_by_operator || reason == paused_by_workflow_cancel;
    case not_applicable: return false;
  }
  return false;
}

bool explains_suspension(BlockingReason reason) {
  return reason == waiting_for_signal || reason == waiting_for_approval ||
         reason == waiting_for_callback || reason == waiting_for_tool_result ||
         reason == paused_by_operator;
}

bool is_owned_rightly(const StateVector& state) {
  switch (state.ownership) {
    case leased: return state.attempt == running_attempt;
    case lease_expired_reclaimable:
    case lease_revoked: return state.attempt == attempt_interrupted;
    case unowned: return false;
  }
  return false;
}

bool is_idle(const StateVector& state) {
  return state.eligibility == not_applicable && state.reason == BlockingReason::none;
}

/// Who succeeded or failed has made an attempt.
bool is_ended_rightly(const StateVector& state) {
  if (state.attempt == attempt_terminal) return true;
  return state.attempt == AttemptState::none && state.outcome != Outcome::success &&
         state.outcome != Outcome::failed;
}

bool is_possible(const StateVector& state) {
  const bool has_ended = state.outcome != Outcome::none;
  const bool is_unowned = state.ownership == unowned;
  switch (state.phase) {
    case submitted:
      return is_idle(state) && is_unowned && !has_ended && state.attempt == AttemptState::none;
    case runnable:
      return is_unowned && !has_ended && is_pending(state.attempt) && explains(state.reason, state);
    case active: return is_idle(state) && !has_ended && is_owned_rightly(state);
    case suspended:
      return is_unowned && !has_ended && state.eligibility == not_applicable &&
             explains_suspension(state.reason) && state.attempt == attempt_interrupted;
    case terminal: return is_idle(state) && is_unowned && has_ended && is_ended_rightly(state);
  }
  return false;
}

PublicState ended_as(Outcome outcome) {
  switch (outcome) {
    case Outcome::success: return PublicState::completed;
    case Outcome::cancelled: return PublicState::cancelled;
    case Outcome::expired: return PublicState::expired;
    case Outcome::skipped: return PublicState::skipped;
    case Outcome::failed:
    case Outcome::none: return PublicState::failed;
  }
  return PublicState::failed;
}

PublicState waits_as(Eligibility eligibility) {
  switch (eligibility) {
    case not_eligible_until_time: return PublicState::delayed;
    case blocked_by_dependencies: return PublicState::waiting_children;
    case blocked_by_budget:
    case blocked_by_quota: return PublicState::rate_limited;
    case eligible_now:
    case blocked_by_route:
    case blocked_by_lane_state:
    case blocked_by_operator:
    case not_applicable: return PublicState::waiting;
  }
  return PublicState::waiting;
}

}  // namespace

Result<> validate(const StateVector& state) {
  if (is_possible(state)) return {};
  return Error(Errc::corruption, "no execution can be " + to_string(state));
}

PublicState public_state(const StateVector& state) noexcept {
  switch (state.phase) {
    case submitted: return PublicState::waiting;
    case runnable: return waits_as(state.eligibility);
    case active: return PublicState::active;
    case suspended: return PublicState::suspended;
    case terminal: return ended_as(state.outcome);
  }
  return PublicState::failed;
}

bool is_terminal(PublicState state) noexcept { return state >= PublicState::completed; }

std::string to_string(const StateVector& state) {
  std::string text;
  text.append(to_string(state.phase)).append("/").append(to_string(state.ownership));
  text.append("/").append(to_string(state.eligibility)).append("/");
  text.append(to_string(state.reason)).append("/").append(to_string(state.outcome));
  return text.append("/").append(to_string(state.attempt));
}

}  // namespace weir::flow::workflow
