#include <weir/flow/workflow/internal/lifecycle.hpp>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/limits.hpp>
#include <weir/flow/workflow/internal/resolve.hpp>
#include <weir/flow/workflow/internal/retention_commands.hpp>
#include <weir/flow/workflow/internal/suspension.hpp>
#include <weir/flow/workflow/internal/undo_commands.hpp>

namespace weir::flow::workflow::internal {
namespace {

void count(Draft& draft, const Execution& execution, const StateVector& before) {
  const PublicState was = public_state(before);
  const PublicState is = execution.public_state();
  const bool is_begun = before.phase == Phase::submitted;
  if (execution.workflow && (is != was || is_begun)) {
    if (Workflow* workflow = draft.edit<Workflow>(*execution.workflow)) {
      --workflow->counts[was];
      ++workflow->counts[is];
      workflow->unpromoted -= is_begun ? 1 : 0;
      workflow->changed_at = draft.now();
    }
  }
  const bool was_leased = before.ownership == Ownership::leased;
  const bool is_leased = execution.state.ownership == Ownership::leased;
  if (is_leased == was_leased) return;
  count_lease(draft, execution, is_leased);
}

AttemptOutcome outcome_of(EventKind event) {
  switch (event) {
    case EventKind::complete: return AttemptOutcome::ended_success;
    case EventKind::cancel:
    case EventKind::skip: return AttemptOutcome::ended_cancelled;
    default: return AttemptOutcome::ended_failure;
  }
}

void end_attempt(const Draft& draft, Execution& execution, const Ending& ending) {
  if (execution.state.attempt != AttemptState::attempt_terminal) return;
  Attempt& attempt = execution.newest;
  if (execution.attempts == 0 || attempt.ended_at) return;
  attempt.outcome = outcome_of(ending.event);
  attempt.ended_at = draft.now();
  attempt.reason = ending.reason;
}

/// Whether its worker ends it.
bool is_own(const Execution& execution, const Ending& ending) {
  return execution.lease && (ending.is_own || ending.event == EventKind::complete);
}

void end_lease(Draft& draft, const ExecutionId& id, Execution& execution, const Ending& ending) {
  // Whoever holds a lease, or held one that nobody took since, is fenced off from now on.
  if (execution.lease) {
    tell(draft, id, execution,
         is_own(execution, ending) ? NoticeKind::lease_released : NoticeKind::lease_revoked);
  }
  execution.lease.reset();
  ++execution.epoch;
  execution.attempt_deadline.reset();
}

/// Nobody is there any more for whom it could be decided.
void end_group(Draft& draft, const ExecutionId& id) {
  const EdgeGroup* found = draft.find<EdgeGroup>(id);
  if (found == nullptr || found->state != EdgeState::pending) return;
  EdgeGroup* group = draft.edit<EdgeGroup>(id);
  group->state = EdgeState::cancelled;
  group->fired_at = draft.now();
}

/// Stops what the failure of one of its executions means to stop.
void follow_failure(Draft& draft, const Execution& execution, const Ending& ending) {
  Workflow* workflow = draft.edit<Workflow>(*execution.workflow);
  if (workflow == nullptr) return;
  if (ending.is_sibling) ++workflow->cancelled_siblings;
  const bool is_failure =
      execution.state.outcome == Outcome::failed || execution.state.outcome == Outcome::expired;
  if (!is_failure || workflow->has_ended() || workflow->on_failure != FailurePolicy::fail_fast) {
    return;
  }
  workflow->state = WorkflowState::failed;
  workflow->ended_at = draft.now();
  workflow->cancelling = CancelPolicy::cancel_all;
  workflow->cancel_reason = "workflow_failed";
  note_ended(draft, *execution.workflow, *workflow);
}

}  // namespace

Error no_such(const ExecutionId& id) { return {Errc::not_found, "execution " + to_string(id)}; }
Error no_such(const WorkflowId& id) { return {Errc::not_found, "workflow " + to_string(id)}; }

Result<Execution*> change(Draft& draft, const ExecutionId& id, Event event) {
  const Execution* before = draft.find<Execution>(id);
  if (before == nullptr) return no_such(id);
  auto next = transition(before->state, event);
  if (!next) return Error(next.error().code(), to_string(id) + ": " + next.error().detail());
  const StateVector was = before->state;
  Execution* execution = draft.edit<Execution>(id);
  execution->state = *next;
  execution->changed_at = draft.now();
  count(draft, *execution, was);
  return execution;
}

Result<> end_alone(Draft& draft, const ExecutionId& id, const Ending& ending) {
  auto changed = change(draft, id, {ending.event});
  if (!changed) return changed.error();
  Execution& execution = **changed;
  end_attempt(draft, execution, ending);
  const bool knows = is_own(execution, ending);
  // A worker that fails has undone what it did, unless it says so; one that cancels has only
  // stopped.
  const bool is_undone = !knows || ending.leaves_undo || ending.event == EventKind::cancel;
  std::optional<Time> leased_until;
  if (execution.lease && !knows) leased_until = execution.lease->expires_at;
  end_lease(draft, id, execution, ending);
  if (is_undone) {
    if (auto begun = begin_undo(draft, id, execution, leased_until); !begun) return begun;
  }
  drop_suspension(draft, id, execution);
  drop_signals(draft, id, execution);
  execution.ended_at = draft.now();
  execution.end_reason = ending.reason;
  execution.ended_by = ending.by;
  draft.tell({.kind = NoticeKind::completion,
              .execution = id,
              .workflow = execution.workflow,
              .space = execution.space,
              .outcome = execution.state.outcome,
              .epoch = execution.epoch,
              .at = draft.now()});
  if (execution.workflow) {
    execution.is_sibling = ending.is_sibling;
    end_group(draft, id);
    follow_failure(draft, execution, ending);
    draft.ended().push_back(id);
  } else {
    note_ended(draft, id, execution);
  }
  return {};
}

Result<> end(Draft& draft, const ExecutionId& id, const Ending& ending) {
  if (auto ended = end_alone(draft, id, ending); !ended) return ended;
  return follow_ends(draft);
}

Result<Execution*> fenced(Draft& draft, const Handle& handle) {
  if (auto valid = check_lease(draft, handle); !valid) return valid.error();
  return draft.edit<Execution>(handle.execution);
}

Result<> check_lease(Draft& draft, const Handle& handle) {
  const Execution* execution = draft.find<Execution>(handle.execution);
  if (execution == nullptr) return no_such(handle.execution);
  const auto refuse = [&](Errc code) {
    return Error(code, to_string(handle.execution) + ": attempt " + std::to_string(handle.attempt) +
                           " with epoch " + std::to_string(handle.epoch) + "; it is " +
                           to_string(execution->state) + " with epoch " +
                           std::to_string(execution->epoch));
  };
  if (execution->state.phase != Phase::active) return refuse(Errc::execution_not_active);
  if (execution->state.ownership == Ownership::lease_revoked) return refuse(Errc::lease_revoked);
  const bool is_current = handle.epoch == execution->epoch && handle.attempt == execution->attempt;
  // Of a lease that somebody else has, it does not matter to this one when it ends.
  const bool has_passed = !execution->lease || draft.now() >= execution->lease->expires_at;
  if (has_passed) return refuse(Errc::lease_expired);
  if (!is_current) return refuse(Errc::stale_lease);
  return {};
}

bool is_concerned(const Execution& execution, CancelPolicy policy) {
  if (execution.has_ended() || policy == CancelPolicy::cancel_workflow_only) return false;
  return policy == CancelPolicy::cancel_all || execution.attempts == 0;
}

bool is_being_cancelled(Draft& draft, const Execution& execution) {
  if (!execution.workflow) return false;
  const Workflow* workflow = draft.find<Workflow>(*execution.workflow);
  return workflow != nullptr && workflow->cancelling &&
         is_concerned(execution, *workflow->cancelling);
}

Result<> cancel_with_workflow(Draft& draft, const ExecutionId& id) {
  const Execution* execution = draft.find<Execution>(id);
  if (execution == nullptr || !execution->workflow) return no_such(id);
  const Workflow* workflow = draft.find<Workflow>(*execution->workflow);
  if (workflow == nullptr) return no_such(*execution->workflow);
  const bool was_cancelled = workflow->state == WorkflowState::cancelled;
  return end_alone(draft, id,
                   {.event = EventKind::cancel,
                    .reason = was_cancelled ? "workflow_cancelled" : "workflow_failed",
                    .by = was_cancelled ? "cancel_workflow" : "engine"});
}

Result<bool> has_any_ended(Draft& draft, const std::vector<ExecutionId>& executions) {
  bool has_any = false;
  for (const ExecutionId& id : executions) {
    const Execution* execution = draft.find<Execution>(id);
    if (execution == nullptr) return no_such(id);
    has_any = has_any || execution->has_ended();
  }
  return has_any;
}

void tell(Draft& draft, const ExecutionId& id, const Execution& execution, NoticeKind kind,
          const std::string& waitpoint) {
  draft.tell({.kind = kind,
              .execution = id,
              .workflow = execution.workflow,
              .space = execution.space,
              .outcome = Outcome::none,
              .epoch = execution.epoch,
              .at = draft.now(),
              .waitpoint = waitpoint});
}

void note_staged(Draft& draft, const WorkflowId& workflow, const ExecutionId& id) {
  const std::uint32_t place = draft.edit<Workflow>(workflow)->staged++;
  const StagedKey key = {workflow, place / staged_max};
  if (place % staged_max == 0) draft.note_absent<Staged>(key);
  draft.edit_or_make<Staged>(key).executions.push_back(id);
}

void seal_if_done(Draft& draft, const WorkflowId& id) {
  const Workflow* workflow = draft.find<Workflow>(id);
  if (workflow == nullptr || workflow->has_ended() || workflow->stays_open) return;
  const StateCounts& counts = workflow->counts;
  const std::uint64_t total = counts.total();
  if (total == 0 || workflow->unpromoted > 0 || counts.terminal() != total) return;
  const bool has_failures = counts[PublicState::failed] + counts[PublicState::expired] > 0 ||
                            counts[PublicState::cancelled] > workflow->cancelled_siblings;
  const bool fails = has_failures && workflow->on_failure != FailurePolicy::collect;
  Workflow* sealed = draft.edit<Workflow>(id);
  sealed->state = fails ? WorkflowState::failed : WorkflowState::completed;
  sealed->ended_at = draft.now();
  note_ended(draft, id, *sealed);
}

}  // namespace weir::flow::workflow::internal
