#include <algorithm>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/attempt.hpp>
#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/flow/workflow/internal/limits.hpp>
#include <weir/flow/workflow/internal/resolve.hpp>
#include <weir/flow/workflow/internal/retention_commands.hpp>
#include <weir/flow/workflow/internal/suspension.hpp>
#include <weir/flow/workflow/internal/undo_commands.hpp>
#include <weir/flow/workflow/internal/validation.hpp>

namespace weir::flow::workflow::internal {
namespace {

constexpr auto idempotency_window = std::chrono::hours(24);

Result<ExecutionId> place(Draft& draft, const NewExecution& request) {
  const data::Uuid uuid = request.id ? request.id->uuid : draft.make_uuid();
  const ExecutionId id = request.workflow ? ExecutionId::in_workflow(*request.workflow, uuid)
                                          : ExecutionId::in_lane(request.lane, uuid);
  if (request.id && *request.id != id) {
    return Error(Errc::invalid_argument, "execution id " + to_string(*request.id) +
                                             " is of another partition than " +
                                             to_string(id.partition));
  }
  return id;
}

/// Whether the id that was asked for is taken: by the same execution, or by another one.
Result<bool> is_there(Draft& draft, const ExecutionId& id, const NewExecution& request) {
  const Execution* execution = draft.find<Execution>(id);
  const ExecutionSpec* spec = draft.find<ExecutionSpec>(id);
  if (execution == nullptr || spec == nullptr) return false;
  const bool is_same = execution->workflow == request.workflow &&
                       execution->space == request.space && execution->lane == request.lane &&
                       spec->kind == request.kind;
  if (is_same) return true;
  return Error(Errc::already_exists,
               "execution " + to_string(id) + " is a '" + spec->kind + "' of namespace '" +
                   execution->space + "', lane '" + execution->lane + "' and " +
                   (execution->workflow ? "workflow " + to_string(*execution->workflow)
                                        : std::string("no workflow")));
}

Result<> join_workflow(Draft& draft, const NewExecution& request) {
  Workflow* workflow = draft.edit<Workflow>(*request.workflow);
  if (workflow == nullptr) return no_such(*request.workflow);
  if (workflow->has_ended()) {
    return Error(Errc::workflow_sealed, "workflow " + to_string(*request.workflow) + " is " +
                                            std::string(to_string(workflow->state)));
  }
  if (workflow->space != request.space) {
    return Error(Errc::invalid_argument,
                 "namespace '" + request.space + "': the workflow is in '" + workflow->space + "'");
  }
  ++workflow->counts[PublicState::waiting];
  ++workflow->unpromoted;
  ++workflow->revision;
  workflow->changed_at = draft.now();
  return {};
}

/// Nobody needs the baggage that is of a request, and it may be long.
telemetry::TraceContext trace_of(const NewExecution& request) {
  telemetry::TraceContext trace = request.trace.value_or(telemetry::TraceContext());
  trace.baggage.reset();
  return trace;
}

ExecutionSpec spec_of(const NewExecution& request, Time now) {
  return {.kind = request.kind,
          .payload = request.payload,
          .creator = request.creator,
          .idempotency_key = request.idempotency_key,
          .retry = request.retry,
          .attempt_timeout = request.attempt_timeout,
          .reclaims_max = request.reclaims_max,
          .replays_max = request.replays_max,
          .created_at = now,
          .trace = trace_of(request)};
}

/// In order, without repetitions.
std::vector<std::string> sorted_once(std::vector<std::string> names) {
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

Execution execution_of(const NewExecution& request, Time now) {
  Execution execution;
  execution.space = request.space;
  execution.lane = request.lane;
  execution.workflow = request.workflow;
  execution.capabilities = sorted_once(request.capabilities);
  execution.limit_keys = sorted_once(request.limit_keys);
  execution.deadline = request.deadline;
  execution.priority = request.priority;
  execution.eligible_at = std::max(now, request.not_before.value_or(now));
  execution.changed_at = now;
  execution.tags = request.tags;
  return execution;
}

/// What of a request is not as in the one that the execution was made with. Of what may change
/// later, and of times, nothing is said: who asks again asks later.
std::string difference(const NewExecution& request, const ExecutionSpec& spec,
                       const Execution& execution) {
  const ExecutionSpec asked = spec_of(request, spec.created_at);
  if (asked.kind != spec.kind) return "kind";
  if (asked.payload != spec.payload) return "payload";
  if (!(asked == spec)) return "specification";
  if (request.lane != execution.lane) return "lane";
  if (request.workflow != execution.workflow) return "workflow";
  if (sorted_once(request.capabilities) != execution.capabilities) return "capabilities";
  if (sorted_once(request.limit_keys) != execution.limit_keys) return "limit keys";
  return "";
}

/// The execution that was made with the same key, if it is still remembered.
Result<std::optional<ExecutionId>> find_duplicate(Draft& draft, const NewExecution& request) {
  using Found = std::optional<ExecutionId>;
  if (request.idempotency_key.empty()) return Found();
  const auto* used = draft.find<Idempotency>({request.space, request.idempotency_key});
  if (used == nullptr || used->until <= draft.now()) return Found();
  const ExecutionSpec* spec = draft.find<ExecutionSpec>(used->execution);
  const Execution* execution = draft.find<Execution>(used->execution);
  if (spec == nullptr || execution == nullptr) return Found();
  const std::string differs = difference(request, *spec, *execution);
  if (differs.empty()) return Found(used->execution);
  return Error(Errc::idempotency_mismatch,
               "key '" + request.idempotency_key + "' belongs to execution " +
                   to_string(used->execution) + ", which has another " + differs);
}

/// Whether lane and limits let it be claimed, and the worker can do what is asked for.
bool may_claim(Draft& draft, const Execution& execution, const ClaimRequest& request) {
  if (execution.lane != request.lane) return false;
  const std::vector<std::string>& spaces = request.spaces;
  if (!spaces.empty() && std::ranges::find(spaces, execution.space) == spaces.end()) return false;
  if (!admission_of(draft, execution).is_given()) return false;
  return std::ranges::all_of(execution.capabilities, [&](const std::string& needed) {
    return std::ranges::find(request.capabilities, needed) != request.capabilities.end();
  });
}

bool has_succeeded(Draft& draft, const ExecutionId& id) {
  const Execution* execution = draft.find<Execution>(id);
  return execution != nullptr && execution->state.outcome == Outcome::success;
}

/// One that was never let begin has to have by now what it depends on.
Result<> check_dependencies(Draft& draft, const ExecutionId& id) {
  const EdgeGroup* group = draft.find<EdgeGroup>(id);
  if (group == nullptr || group->edges == 0 || group->state == EdgeState::satisfied) return {};
  const Links* links = draft.find<Links>(id);
  std::uint32_t succeeded = 0;
  for (const EdgeId& edge_id : links != nullptr ? links->in : std::vector<EdgeId>()) {
    const Edge* edge = draft.find<Edge>(edge_id);
    succeeded += edge != nullptr && has_succeeded(draft, edge->upstream) ? 1 : 0;
  }
  const std::uint32_t needed = group->policy.needed(group->edges);
  if (succeeded >= needed) return {};
  return Error(Errc::wrong_state, "replay " + to_string(id) + ": it needs " +
                                      std::to_string(needed) + " of " +
                                      std::to_string(group->edges) + " dependencies, and has " +
                                      std::to_string(succeeded));
}

/// The results of what it depends on.
std::vector<Input> inputs_of(Draft& draft, const ExecutionId& id) {
  std::vector<Input> inputs;
  const Links* links = draft.find<Links>(id);
  if (links == nullptr) return inputs;
  for (const EdgeId& edge_id : links->in) {
    const Edge* edge = draft.find<Edge>(edge_id);
    if (edge == nullptr || edge->input.empty()) continue;
    const Execution* upstream = draft.find<Execution>(edge->upstream);
    const bool has_result = upstream != nullptr && upstream->state.outcome == Outcome::success;
    // Also of one that has succeeded only when it was replayed.
    if (edge->state != EdgeState::satisfied && !has_result) continue;
    inputs.push_back({edge->input, edge->upstream, upstream != nullptr ? upstream->result : ""});
  }
  return inputs;
}

}  // namespace

Result<Created> create(Draft& draft, const NewExecution& request) {
  if (auto valid = refuse_own_kind(request.kind); !valid) return valid.error();
  return create_own(draft, request);
}

Result<Created> create_own(Draft& draft, const NewExecution& request) {
  if (auto valid = validate(request); !valid) return valid.error();
  auto duplicate = find_duplicate(draft, request);
  if (!duplicate) return duplicate.error();
  if (*duplicate) return Created{**duplicate, true};
  auto placed = place(draft, request);
  if (!placed) return placed.error();
  const ExecutionId id = *placed;
  if (request.id) {
    auto there = is_there(draft, id, request);
    if (!there) return there.error();
    if (*there) return Created{id, true};
    auto free = check_is_free(draft, {id.partition, id.uuid, false});
    if (!free) return free.error();
  }
  // What has begun is finished in a lane that is drained, and its children are a part of it.
  const LaneState closed_from = request.parent ? LaneState::disabled : LaneState::draining;
  if (const Lane* lane = draft.find<Lane>(request.lane);
      lane != nullptr && lane->state >= closed_from) {
    return Error(Errc::wrong_state,
                 "lane '" + request.lane + "' is " + std::string(to_string(lane->state)));
  }
  if (request.workflow) {
    draft.note_absent<Links>(id);
    draft.note_absent<EdgeGroup>(id);
  }
  draft.note_absent<JournalHead>(id);
  draft.put<ExecutionSpec>(id, spec_of(request, draft.now()));
  Execution& execution = draft.put<Execution>(id, execution_of(request, draft.now()));
  if (request.parent) draft.put<Parent>(id, *request.parent);
  if (!request.idempotency_key.empty()) {
    draft.put<Idempotency>({request.space, request.idempotency_key},
                           {id, after(draft.now(), idempotency_window)});
  }
  if (request.workflow) {
    if (auto joined = join_workflow(draft, request); !joined) return joined.error();
    note_staged(draft, *request.workflow, id);
    return Created{id};
  }
  const bool is_later = execution.eligible_at > draft.now();
  auto promoted = change(draft, id, {is_later ? EventKind::promote_delayed : EventKind::promote});
  if (!promoted) return promoted.error();
  return Created{id};
}

Result<std::optional<Claimed>> claim(Draft& draft, const ExecutionId& id,
                                     const ClaimRequest& request) {
  if (auto valid = validate(request); !valid) return valid.error();
  const Execution* found = draft.find<Execution>(id);
  const ExecutionSpec* spec = draft.find<ExecutionSpec>(id);
  if (found == nullptr || spec == nullptr) return no_such(id);
  if (!may_claim(draft, *found, request)) return std::optional<Claimed>();
  const StateVector before = found->state;
  const bool is_reclaim = before.phase == Phase::active;
  const Event event = {is_reclaim ? EventKind::reclaim : EventKind::claim};
  if (is_being_cancelled(draft, *found) && transition(before, event)) {
    // The cancelling of its workflow has not come to it yet; nobody is to begin it meanwhile.
    if (auto ended = cancel_with_workflow(draft, id); !ended) return ended.error();
    if (auto followed = follow_ends(draft); !followed) return followed.error();
    return std::optional<Claimed>();
  }
  if (is_reclaim && found->reclaims >= spec->reclaims_max) {
    auto ended =
        end(draft, id, {.event = EventKind::fail, .reason = "reclaims_exhausted", .by = "engine"});
    if (!ended) return ended.error();
    return std::optional<Claimed>();
  }
  auto changed = change(draft, id, event);
  if (!changed) return changed.error();
  Execution& execution = **changed;
  spend_rates(draft, execution);
  execution.reclaims += is_reclaim ? 1 : 0;
  ++execution.epoch;
  execution.lease = Lease{execution.epoch, request.worker, draft.now(), draft.now(),
                          after(draft.now(), request.lease)};
  begin_attempt(draft, id, before, execution, request.worker);
  execution.attempt_deadline.reset();
  if (spec->attempt_timeout) {
    execution.attempt_deadline = after(draft.now(), *spec->attempt_timeout);
  }
  tell(draft, id, execution, NoticeKind::lease_acquired);
  return std::optional(
      Claimed{.handle = {id, execution.attempt, execution.epoch, 0},
              .attempt_kind = execution.newest.kind,
              .expires_at = execution.lease->expires_at,
              .spec = *spec,
              .inputs = execution.workflow ? inputs_of(draft, id) : std::vector<Input>(),
              .resumed = resumption_of(draft, id, execution),
              .priority = execution.priority,
              .space = execution.space});
}

Result<Time> renew(Draft& draft, const Handle& handle, Duration lease) {
  if (auto valid = validate_duration("lease", lease); !valid) return valid.error();
  auto execution = fenced(draft, handle);
  if (!execution) return execution.error();
  Lease& held = *(*execution)->lease;
  held.renewed_at = draft.now();
  held.expires_at = after(draft.now(), lease);
  tell(draft, handle.execution, **execution, NoticeKind::lease_renewed);
  return held.expires_at;
}

Result<> complete(Draft& draft, const Handle& handle, const std::string& result) {
  if (auto valid = validate_payload("result", result); !valid) return valid;
  auto execution = fenced(draft, handle);
  if (!execution) return execution.error();
  (*execution)->result = result;
  return end(draft, handle.execution, {.event = EventKind::complete});
}

Result<FailResult> fail(Draft& draft, const Handle& handle, const Failure& failure) {
  if (auto valid = validate_payload("reason", failure.reason); !valid) return valid.error();
  auto execution = fenced(draft, handle);
  if (!execution) return execution.error();
  return fail_attempt(draft, handle.execution, failure, (*execution)->lease->worker, true);
}

Result<> delay(Draft& draft, const Handle& handle, Time until) {
  if (auto valid = validate_time("time to go on", until); !valid) return valid;
  auto execution = fenced(draft, handle);
  if (!execution) return execution.error();
  tell(draft, handle.execution, **execution, NoticeKind::lease_released);
  auto changed = change(draft, handle.execution, {EventKind::delay});
  if (!changed) return changed.error();
  (*changed)->lease.reset();
  (*changed)->attempt_deadline.reset();
  (*changed)->eligible_at = until;
  return {};
}

Result<bool> cancel(Draft& draft, const ExecutionId& id, const std::string& reason,
                    const std::string& by) {
  if (auto valid = validate_payload("reason", reason); !valid) return valid.error();
  if (auto valid = validate_name("canceller", by, true); !valid) return valid.error();
  const Execution* execution = draft.find<Execution>(id);
  if (execution == nullptr) return no_such(id);
  if (execution->has_ended()) return false;
  auto ended = end(draft, id, {.event = EventKind::cancel, .reason = reason, .by = by});
  if (!ended) return ended.error();
  return true;
}

Result<> cancel(Draft& draft, const Handle& handle, const std::string& reason) {
  if (auto valid = validate_payload("reason", reason); !valid) return valid;
  auto execution = fenced(draft, handle);
  if (!execution) return execution.error();
  return end(draft, handle.execution,
             {.event = EventKind::cancel,
              .reason = reason,
              .by = (*execution)->lease->worker,
              .is_own = true});
}

Result<> revoke(Draft& draft, const ExecutionId& id, const std::string& reason) {
  if (auto valid = validate_payload("reason", reason); !valid) return valid;
  auto changed = change(draft, id, {EventKind::revoke_lease});
  if (!changed) return changed.error();
  tell(draft, id, **changed, NoticeKind::lease_revoked);
  (*changed)->lease.reset();
  (*changed)->attempt_deadline.reset();
  (*changed)->eligible_at = draft.now();
  (*changed)->newest.reason = reason;
  return {};
}

Result<> replay(Draft& draft, const ExecutionId& id) {
  const Execution* found = draft.find<Execution>(id);
  const ExecutionSpec* spec = draft.find<ExecutionSpec>(id);
  if (found == nullptr || spec == nullptr) return no_such(id);
  if (found->replays >= spec->replays_max) {
    return Error(Errc::limit_reached,
                 to_string(id) + " was replayed " + std::to_string(found->replays) + " times");
  }
  if (found->has_ended()) {
    if (auto forgotten = forget_undone(draft, id, *found); !forgotten) return forgotten;
  }
  if (found->workflow) {
    Workflow* workflow = draft.edit<Workflow>(*found->workflow);
    if (workflow == nullptr) return no_such(*found->workflow);
    if (workflow->state == WorkflowState::cancelled || workflow->cancelling) {
      return Error(Errc::workflow_sealed,
                   "workflow " + to_string(*found->workflow) + " was cancelled");
    }
    workflow->state = WorkflowState::open;
    workflow->ended_at.reset();
    workflow->cancel_reason.clear();
    workflow->cancelled_siblings -= found->is_sibling ? 1 : 0;
  }
  auto changed = change(draft, id, {EventKind::replay});
  if (!changed) return changed.error();
  Execution& execution = **changed;
  if (execution.workflow) {
    if (auto met = check_dependencies(draft, id); !met) return met;
  }
  ++execution.replays;
  execution.retries = 0;
  execution.eligible_at = draft.now();
  execution.ended_at.reset();
  execution.end_reason.clear();
  execution.ended_by.clear();
  execution.is_sibling = false;
  // Otherwise it would expire again before anyone could claim it.
  if (execution.deadline && *execution.deadline <= draft.now()) execution.deadline.reset();
  return {};
}

Result<> change_priority(Draft& draft, const ExecutionId& id, std::int32_t priority) {
  if (auto valid = validate_priority(priority); !valid) return valid;
  Execution* execution = draft.edit<Execution>(id);
  if (execution == nullptr) return no_such(id);
  if (execution->state.phase != Phase::runnable && execution->state.phase != Phase::submitted) {
    return Error(Errc::wrong_state,
                 "the priority of " + to_string(id) + ", which is " + to_string(execution->state));
  }
  execution->priority = priority;
  execution->changed_at = draft.now();
  return {};
}

Result<> set_tag(Draft& draft, const ExecutionId& id, const std::string& key,
                 const std::string& value) {
  if (auto valid = validate_tag(key, value); !valid) return valid;
  Execution* execution = draft.edit<Execution>(id);
  if (execution == nullptr) return no_such(id);
  execution->tags[key] = value;
  execution->changed_at = draft.now();
  return workflow::validate(execution->tags);
}

Result<bool> expire_lease(Draft& draft, const ExecutionId& id) {
  const Execution* found = draft.find<Execution>(id);
  if (found == nullptr || !found->lease || found->lease->expires_at > draft.now()) return false;
  auto changed = change(draft, id, {EventKind::expire_lease});
  if (!changed) return changed.error();
  tell(draft, id, **changed, NoticeKind::lease_expired);
  (*changed)->lease.reset();
  (*changed)->attempt_deadline.reset();
  (*changed)->eligible_at = draft.now();
  return true;
}

Result<bool> promote_due(Draft& draft, const ExecutionId& id) {
  const Execution* found = draft.find<Execution>(id);
  if (found == nullptr || found->state.eligibility != Eligibility::not_eligible_until_time ||
      found->eligible_at > draft.now()) {
    return false;
  }
  auto changed = change(draft, id, {EventKind::time_due});
  if (!changed) return changed.error();
  return true;
}

Result<bool> expire_attempt(Draft& draft, const ExecutionId& id) {
  const Execution* found = draft.find<Execution>(id);
  if (found == nullptr || !found->attempt_deadline || *found->attempt_deadline > draft.now()) {
    return false;
  }
  auto failed = fail_attempt(draft, id, {"attempt_timeout", "timeout"}, "engine", false);
  if (!failed) return failed.error();
  return true;
}

Result<bool> expire_execution(Draft& draft, const ExecutionId& id) {
  const Execution* found = draft.find<Execution>(id);
  if (found == nullptr || found->has_ended() || !found->deadline ||
      *found->deadline > draft.now()) {
    return false;
  }
  auto ended =
      end(draft, id, {.event = EventKind::expire, .reason = "execution_deadline", .by = "engine"});
  if (!ended) return ended.error();
  return true;
}

Result<bool> meet_due(Draft& draft, const ExecutionId& id) {
  // The end of all first: what is over need not be tried again.
  for (auto* meet :
       {&expire_execution, &expire_attempt, &expire_suspension, &expire_lease, &promote_due}) {
    auto met = meet(draft, id);
    if (!met || *met) return met;
  }
  return false;
}

}  // namespace weir::flow::workflow::internal
