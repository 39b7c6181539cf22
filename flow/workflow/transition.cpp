#include <weir/flow/workflow/transition.hpp>

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
using Next = std::optional<StateVector>;

StateVector runnable_as(Eligibility eligibility, BlockingReason reason, AttemptState attempt) {
  return {runnable, unowned, eligibility, reason, Outcome::none, attempt};
}
StateVector ready(AttemptState attempt) {
  return runnable_as(eligible_now, waiting_for_worker, attempt);
}
StateVector later(BlockingReason reason, AttemptState attempt) {
  return runnable_as(not_eligible_until_time, reason, attempt);
}
StateVector running() {
  return {active, leased, not_applicable, BlockingReason::none, Outcome::none, running_attempt};
}
StateVector without_lease(Ownership ownership) {
  return {active,        ownership,          not_applicable, BlockingReason::none,
          Outcome::none, attempt_interrupted};
}

/// An attempt that was begun ends with the execution; one that was never begun never was.
StateVector ended(const StateVector& state, Outcome outcome) {
  const bool has_begun =
      state.phase == active || state.phase == suspended ||
      (state.attempt != AttemptState::none && state.attempt != pending_first_attempt);
  return {terminal,       unowned,
          not_applicable, BlockingReason::none,
          outcome,        has_begun ? attempt_terminal : AttemptState::none};
}

Eligibility blocked_by(BlockingReason reason) {
  switch (reason) {
    case waiting_for_budget: return blocked_by_budget;
    case waiting_for_quota: return blocked_by_quota;
    case waiting_for_capable_worker:
    case waiting_for_locality_match: return blocked_by_route;
    case paused_by_policy: return blocked_by_lane_state;
    case paused_by_operator:
    case paused_by_workflow_cancel: return blocked_by_operator;
    default: return not_applicable;
  }
}

Next promoted(const StateVector& state, StateVector next) {
  return state.phase == submitted ? Next(next) : Next();
}

Next while_runnable(const StateVector& state, Event event) {
  if (state.phase != runnable) return {};
  const bool depends = state.eligibility == blocked_by_dependencies;
  switch (event.kind) {
    case EventKind::time_due:
      return state.eligibility == not_eligible_until_time ? Next(ready(state.attempt)) : Next();
    case EventKind::block: {
      const Eligibility blocked = blocked_by(event.reason);
      if (state.eligibility != eligible_now || blocked == not_applicable) return {};
      return runnable_as(blocked, event.reason, state.attempt);
    }
    case EventKind::unblock:
      if (blocked_by(event.reason) == not_applicable || state.reason != event.reason) return {};
      return ready(state.attempt);
    case EventKind::dependencies_satisfied: return depends ? Next(ready(state.attempt)) : Next();
    case EventKind::dependencies_satisfied_delayed:
      return depends ? Next(later(waiting_for_delay, state.attempt)) : Next();
    case EventKind::claim: return state.eligibility == eligible_now ? Next(running()) : Next();
    default: return {};
  }
}

Next while_leased(const StateVector& state, EventKind kind) {
  if (state.phase != active || state.ownership != leased) return {};
  switch (kind) {
    case EventKind::expire_lease: return without_lease(lease_expired_reclaimable);
    case EventKind::revoke_lease: return without_lease(lease_revoked);
    case EventKind::complete: return ended(state, Outcome::success);
    case EventKind::delay: return later(waiting_for_delay, attempt_interrupted);
    case EventKind::wait_for_children:
      return runnable_as(blocked_by_dependencies, waiting_for_children, attempt_interrupted);
    default: return {};
  }
}

/// A suspension that times out fails as a worker does.
Next after_failure(const StateVector& state, EventKind kind) {
  if (state.phase != active && state.phase != suspended) return {};
  if (kind == EventKind::fail) return ended(state, Outcome::failed);
  if (kind == EventKind::retry) return ready(pending_retry_attempt);
  return later(waiting_for_retry_backoff, pending_retry_attempt);
}

Next reclaimed(const StateVector& state) {
  if (state.phase != active || state.ownership == leased) return {};
  return running();
}

Next suspended_for(const StateVector& state, BlockingReason reason) {
  if (state.phase != active || state.ownership != leased) return {};
  const StateVector next = {suspended, unowned,       not_applicable,
                            reason,    Outcome::none, attempt_interrupted};
  return validate(next) ? Next(next) : Next();
}

Next resumed(const StateVector& state, StateVector next) {
  return state.phase == suspended ? Next(next) : Next();
}

Next escalated(const StateVector& state) {
  if (state.phase != suspended) return {};
  StateVector next = state;
  next.reason = waiting_for_approval;
  return next;
}

Next given_up(const StateVector& state, Outcome outcome) {
  return state.phase != terminal ? Next(ended(state, outcome)) : Next();
}

Next next_state(const StateVector& state, Event event) {
  switch (event.kind) {
    case EventKind::promote: return promoted(state, ready(pending_first_attempt));
    case EventKind::promote_delayed:
      return promoted(state, later(waiting_for_delay, pending_first_attempt));
    case EventKind::promote_blocked:
      return promoted(
          state, runnable_as(blocked_by_dependencies, waiting_for_children, pending_first_attempt));
    case EventKind::time_due:
    case EventKind::block:
    case EventKind::unblock:
    case EventKind::dependencies_satisfied:
    case EventKind::dependencies_satisfied_delayed:
    case EventKind::claim: return while_runnable(state, event);
    case EventKind::expire_lease:
    case EventKind::revoke_lease:
    case EventKind::complete:
    case EventKind::delay:
    case EventKind::wait_for_children: return while_leased(state, event.kind);
    case EventKind::fail:
    case EventKind::retry:
    case EventKind::retry_delayed: return after_failure(state, event.kind);
    case EventKind::reclaim: return reclaimed(state);
    case EventKind::suspend: return suspended_for(state, event.reason);
    case EventKind::resume: return resumed(state, ready(attempt_interrupted));
    case EventKind::resume_delayed:
      return resumed(state, later(waiting_for_resume_delay, attempt_interrupted));
    case EventKind::escalate: return escalated(state);
    case EventKind::cancel: return given_up(state, Outcome::cancelled);
    case EventKind::expire: return given_up(state, Outcome::expired);
    case EventKind::skip:
      if (state.phase != submitted && state.phase != runnable) return {};
      return ended(state, Outcome::skipped);
    case EventKind::replay:
      return state.phase == terminal ? Next(ready(pending_replay_attempt)) : Next();
  }
  return {};
}

}  // namespace

Result<StateVector> transition(const StateVector& state, Event event) {
  if (auto valid = validate(state); !valid) return valid.error();
  if (Next next = next_state(state, event)) return *next;
  std::string what(to_string(event.kind));
  if (event.reason != BlockingReason::none) what.append(" ").append(to_string(event.reason));
  return Error(Errc::wrong_state, what + ": the execution is " + to_string(state));
}

}  // namespace weir::flow::workflow
