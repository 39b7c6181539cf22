#include <algorithm>
#include <set>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/flow/workflow/internal/resolve.hpp>
#include <weir/flow/workflow/internal/retention_commands.hpp>
#include <weir/flow/workflow/internal/validation.hpp>

namespace weir::flow::workflow::internal {
namespace {

/// The workflow, to be added to.
Result<Workflow*> open_workflow(Draft& draft, const WorkflowId& id) {
  Workflow* workflow = draft.edit<Workflow>(id);
  if (workflow == nullptr) return no_such(id);
  if (workflow->has_ended()) {
    return Error(Errc::workflow_sealed,
                 "workflow " + to_string(id) + " is " + std::string(to_string(workflow->state)));
  }
  return workflow;
}

Result<const Execution*> member(Draft& draft, const WorkflowId& workflow, const ExecutionId& id) {
  const Execution* execution = draft.find<Execution>(id);
  if (execution == nullptr || execution->workflow != workflow) {
    return Error(Errc::not_found,
                 "execution " + to_string(id) + " in workflow " + to_string(workflow));
  }
  return execution;
}

/// The way along edges from one execution to another, both included; empty if there is none.
std::vector<ExecutionId> find_path(Draft& draft, const ExecutionId& from, const ExecutionId& to) {
  std::map<ExecutionId, ExecutionId> came_from = {{from, from}};
  std::vector<ExecutionId> open = {from};
  while (!open.empty() && !came_from.contains(to)) {
    const ExecutionId at = open.back();
    open.pop_back();
    const Links* links = draft.find<Links>(at);
    if (links == nullptr) continue;
    for (const EdgeId& id : links->out) {
      const Edge* edge = draft.find<Edge>(id);
      if (edge != nullptr && came_from.try_emplace(edge->downstream, at).second) {
        open.push_back(edge->downstream);
      }
    }
  }
  if (!came_from.contains(to)) return {};
  std::vector<ExecutionId> path = {to};
  while (path.back() != from) path.push_back(came_from.at(path.back()));
  std::ranges::reverse(path);
  return path;
}

Result<> refuse_cycle(Draft& draft, const NewEdge& edge) {
  if (edge.upstream == edge.downstream) {
    return Error(Errc::cycle, to_string(edge.upstream) + " would depend on itself");
  }
  const auto path = find_path(draft, edge.downstream, edge.upstream);
  if (path.empty()) return {};
  std::string text = to_string(edge.upstream);
  for (const ExecutionId& id : path) text.append(" -> ").append(to_string(id));
  return Error(Errc::cycle, text);
}

/// One that has begun, or whose group has fired, gets no more dependencies.
Result<> refuse_late_edge(Draft& draft, const ExecutionId& downstream, const Execution& execution) {
  if (const EdgeGroup* group = draft.find<EdgeGroup>(downstream);
      group != nullptr && group->state != EdgeState::pending) {
    return Error(Errc::group_fired, "the edge group of " + to_string(downstream) + " is " +
                                        std::string(to_string(group->state)));
  }
  const bool may_wait = execution.state.phase == Phase::submitted ||
                        execution.state.eligibility == Eligibility::blocked_by_dependencies;
  if (may_wait) return {};
  return Error(Errc::wrong_state, "an edge into " + to_string(downstream) + ", which is " +
                                      to_string(execution.state));
}

Result<> stage_edge(Draft& draft, const WorkflowId& workflow, const NewEdge& edge) {
  if (auto valid = validate(edge); !valid) return valid;
  auto upstream = member(draft, workflow, edge.upstream);
  if (!upstream) return upstream.error();
  auto downstream = member(draft, workflow, edge.downstream);
  if (!downstream) return downstream.error();
  if (auto acyclic = refuse_cycle(draft, edge); !acyclic) return acyclic;
  if (auto late = refuse_late_edge(draft, edge.downstream, **downstream); !late) return late;
  const EdgeId id = edge.id.value_or(EdgeId{draft.make_uuid()});
  if (edge.id && draft.find<Edge>(id) != nullptr) {
    return Error(Errc::already_exists, "edge " + to_string(id));
  }
  draft.put<Edge>(id, {.workflow = workflow,
                       .upstream = edge.upstream,
                       .downstream = edge.downstream,
                       .input = edge.input,
                       .created_at = draft.now(),
                       .creator = edge.creator});
  draft.edit_or_make<Links>(edge.upstream).out.push_back(id);
  draft.edit_or_make<Links>(edge.downstream).in.push_back(id);
  ++draft.edit_or_make<EdgeGroup>(edge.downstream).edges;
  note_staged(draft, workflow, edge.downstream);
  return {};
}

/// A quorum of more than there are edges would wait for ever.
Result<> check_quorum(Draft& draft, const ExecutionId& id) {
  const EdgeGroup* group = draft.find<EdgeGroup>(id);
  if (group == nullptr || group->policy.needed(group->edges) <= group->edges) return {};
  return Error(Errc::invalid_argument, "execution " + to_string(id) + " waits for " +
                                           to_string(group->policy) + " of " +
                                           std::to_string(group->edges) + " edges");
}

Result<> promote(Draft& draft, const ExecutionId& id) {
  const Execution* execution = draft.find<Execution>(id);
  const EdgeGroup* group = draft.find<EdgeGroup>(id);
  const bool depends = group != nullptr && group->edges > 0;
  const bool is_later = execution->eligible_at > draft.now();
  const EventKind event = depends    ? EventKind::promote_blocked
                          : is_later ? EventKind::promote_delayed
                                     : EventKind::promote;
  auto changed = change(draft, id, {event});
  if (!changed) return changed.error();
  return {};
}

/// Puts the edges into an execution in force; those whose upstream has ended resolve at once.
Result<> apply_edges(Draft& draft, const ExecutionId& downstream) {
  const Links* links = draft.find<Links>(downstream);
  if (links == nullptr) return {};
  // First all of them: the first that resolves may decide what the others are still good for.
  std::vector<std::pair<EdgeId, Outcome>> resolved;
  for (const EdgeId& id : links->in) {
    const Edge* found = draft.find<Edge>(id);
    if (found == nullptr) return Error(Errc::corruption, "edge " + to_string(id) + " is missing");
    if (found->is_applied) continue;
    Edge* edge = draft.edit<Edge>(id);
    edge->is_applied = true;
    const Execution* upstream = draft.find<Execution>(edge->upstream);
    if (upstream == nullptr || !upstream->has_ended()) continue;
    resolved.emplace_back(id, upstream->state.outcome);
  }
  for (const auto& [id, outcome] : resolved) {
    if (auto counted = resolve_edge(draft, id, outcome); !counted) return counted;
  }
  return {};
}

Result<> apply_member(Draft& draft, const WorkflowId& workflow, const ExecutionId& id) {
  auto execution = member(draft, workflow, id);
  if (!execution) return execution.error();
  if (auto enough = check_quorum(draft, id); !enough) return enough;
  if ((*execution)->state.phase == Phase::submitted) {
    if (auto promoted = promote(draft, id); !promoted) return promoted;
  }
  return apply_edges(draft, id);
}

}  // namespace

Result<WorkflowId> create(Draft& draft, const NewWorkflow& request) {
  if (auto valid = validate(request); !valid) return valid.error();
  const WorkflowId id = request.id.value_or(WorkflowId{draft.make_uuid()});
  if (const Workflow* there = request.id ? draft.find<Workflow>(id) : nullptr) {
    // The same again is the same workflow: the caller may not have had the answer.
    if (there->space == request.space && there->kind == request.kind) return id;
    return Error(Errc::already_exists, "workflow " + to_string(id) + " is a '" + there->kind +
                                           "' of namespace '" + there->space + "'");
  }
  if (request.id) {
    auto free = check_is_free(draft, {id.partition(), id.uuid, true});
    if (!free) return free.error();
  }
  Workflow workflow;
  workflow.space = request.space;
  workflow.kind = request.kind;
  workflow.on_failure = request.on_failure;
  workflow.stays_open = request.stays_open;
  workflow.created_at = draft.now();
  workflow.changed_at = draft.now();
  workflow.tags = request.tags;
  draft.put<Workflow>(id, std::move(workflow));
  return id;
}

Result<std::uint64_t> stage(Draft& draft, const WorkflowId& id, const std::vector<NewEdge>& edges,
                            std::optional<std::uint64_t> revision) {
  auto workflow = open_workflow(draft, id);
  if (!workflow) return workflow.error();
  if (revision && *revision != (*workflow)->revision) {
    return Error(Errc::stale_revision, "revision " + std::to_string(*revision) + ": the graph of " +
                                           to_string(id) + " is at " +
                                           std::to_string((*workflow)->revision));
  }
  for (const NewEdge& edge : edges) {
    if (auto staged = stage_edge(draft, id, edge); !staged) return staged.error();
  }
  (*workflow)->edges += edges.size();
  (*workflow)->revision += edges.empty() ? 0 : 1;
  (*workflow)->changed_at = draft.now();
  return (*workflow)->revision;
}

Result<> apply(Draft& draft, const WorkflowId& id, const std::vector<ExecutionId>& members) {
  auto workflow = open_workflow(draft, id);
  if (!workflow) return workflow.error();
  for (const ExecutionId& execution : members) {
    if (auto applied = apply_member(draft, id, execution); !applied) return applied;
  }
  return follow_ends(draft);
}

Result<> apply(Draft& draft, const WorkflowId& id) {
  const Workflow* workflow = draft.find<Workflow>(id);
  if (workflow == nullptr) return no_such(id);
  std::vector<ExecutionId> executions;
  for (std::uint32_t number = 0; number * staged_max < workflow->staged; ++number) {
    const Staged* staged = draft.find<Staged>({id, number});
    if (staged == nullptr) continue;
    executions.insert(executions.end(), staged->executions.begin(), staged->executions.end());
    draft.remove<Staged>({id, number});
  }
  if (auto applied = apply(draft, id, executions); !applied) return applied;
  draft.edit<Workflow>(id)->staged = 0;
  return {};
}

Result<bool> set_policy(Draft& draft, const WorkflowId& id, const ExecutionId& downstream,
                        const EdgePolicy& policy) {
  if (auto valid = workflow::validate(policy); !valid) return valid.error();
  auto workflow = open_workflow(draft, id);
  if (!workflow) return workflow.error();
  if (auto execution = member(draft, id, downstream); !execution) return execution.error();
  const EdgeGroup* group = draft.find<EdgeGroup>(downstream);
  if (group != nullptr && group->policy == policy) return false;
  if (group != nullptr && group->edges > 0) {
    return Error(Errc::policy_fixed, "edges into " + to_string(downstream) + " are staged under " +
                                         to_string(group->policy));
  }
  draft.edit_or_make<EdgeGroup>(downstream).policy = policy;
  ++(*workflow)->revision;
  (*workflow)->changed_at = draft.now();
  return true;
}

Result<> set_tag(Draft& draft, const WorkflowId& id, const std::string& key,
                 const std::string& value) {
  if (auto valid = validate_tag(key, value); !valid) return valid;
  Workflow* workflow = draft.edit<Workflow>(id);
  if (workflow == nullptr) return no_such(id);
  workflow->tags[key] = value;
  workflow->changed_at = draft.now();
  return workflow::validate(workflow->tags);
}

Result<> close(Draft& draft, const WorkflowId& id) {
  auto workflow = open_workflow(draft, id);
  if (!workflow) return workflow.error();
  (*workflow)->stays_open = false;
  (*workflow)->changed_at = draft.now();
  seal_if_done(draft, id);
  return {};
}

}  // namespace weir::flow::workflow::internal
