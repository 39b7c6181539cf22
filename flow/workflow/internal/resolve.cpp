#include <weir/flow/workflow/internal/resolve.hpp>

#include <set>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>

namespace weir::flow::workflow::internal {
namespace {

Error corrupt(const std::string& what) { return {Errc::corruption, what}; }

/// Satisfied, impossible, or still pending.
EdgeState decide(const EdgeGroup& group) {
  const std::uint64_t needed = group.policy.needed(group.edges);
  const std::uint64_t lost = std::uint64_t{group.failed} + group.skipped;
  if (group.edges == 0 || needed > group.edges) return EdgeState::pending;
  if (group.succeeded >= needed) return EdgeState::satisfied;
  return lost > group.edges - needed ? EdgeState::impossible : EdgeState::pending;
}

/// Remembers which upstream executions nobody needs any more, in the commit that decides it.
void note_remaining(Draft& draft, const ExecutionId& downstream, EdgeGroup& group) {
  if (group.policy.on_satisfied != OnSatisfied::cancel_remaining ||
      group.policy.kind == EdgePolicy::Kind::all_of) {
    return;
  }
  const Links* links = draft.find<Links>(downstream);
  if (links == nullptr) return;
  std::set<ExecutionId> listed;  // there may be several edges from one to the other
  for (const EdgeId& id : links->in) {
    const Edge* edge = draft.find<Edge>(id);
    if (edge == nullptr || !edge->is_applied || edge->state != EdgeState::pending) continue;
    if (listed.insert(edge->upstream).second) group.cancelling.push_back(edge->upstream);
  }
  group.cancel_reason = group.state == EdgeState::satisfied ? "sibling_quorum_satisfied"
                                                            : "sibling_quorum_impossible";
}

Result<> release(Draft& draft, const ExecutionId& downstream, EdgeState state) {
  const Execution* execution = draft.find<Execution>(downstream);
  if (execution == nullptr) return corrupt("edge group of " + to_string(downstream));
  // One that ended otherwise, or that its worker still has, is not concerned.
  if (execution->state.eligibility != Eligibility::blocked_by_dependencies) return {};
  if (state == EdgeState::impossible) {
    // How it ends is not to depend on the pieces in which its workflow is cancelled.
    if (is_being_cancelled(draft, *execution)) return {};
    return end_alone(draft, downstream,
                     {.event = EventKind::skip, .reason = "dependency_impossible", .by = "engine"});
  }
  const bool is_later = execution->eligible_at > draft.now();
  auto changed = change(
      draft, downstream,
      {is_later ? EventKind::dependencies_satisfied_delayed : EventKind::dependencies_satisfied});
  if (!changed) return changed.error();
  if (!is_later) (*changed)->eligible_at = draft.now();
  return {};
}

}  // namespace

Result<> fire_if_decided(Draft& draft, const ExecutionId& downstream) {
  EdgeGroup* group = draft.edit<EdgeGroup>(downstream);
  if (group == nullptr || group->state != EdgeState::pending) return {};
  const EdgeState decided = decide(*group);
  if (decided == EdgeState::pending) return {};
  group->state = decided;
  group->fired_at = draft.now();
  note_remaining(draft, downstream, *group);
  return release(draft, downstream, decided);
}

Result<> resolve_edge(Draft& draft, const EdgeId& id, Outcome outcome) {
  Edge* edge = draft.edit<Edge>(id);
  if (edge == nullptr) return corrupt("edge " + to_string(id) + " is linked and not there");
  if (!edge->is_applied || edge->state != EdgeState::pending) return {};
  EdgeGroup* group = draft.edit<EdgeGroup>(edge->downstream);
  if (group == nullptr) return corrupt("edge " + to_string(id) + " has no group");
  edge->state = outcome == Outcome::success ? EdgeState::satisfied : EdgeState::impossible;
  std::uint32_t& counter = outcome == Outcome::success   ? group->succeeded
                           : outcome == Outcome::skipped ? group->skipped
                                                         : group->failed;
  ++counter;
  if (group->succeeded + group->failed + group->skipped > group->edges) {
    return corrupt("edge group of " + to_string(edge->downstream) + " resolved more than its " +
                   std::to_string(group->edges) + " edges");
  }
  return fire_if_decided(draft, edge->downstream);
}

Result<> follow_ends(Draft& draft) {
  // A list and no recursion: how long a chain of edges is, users decide.
  std::vector<ExecutionId>& ended = draft.ended();
  while (!ended.empty()) {
    const ExecutionId id = ended.back();
    ended.pop_back();
    const Execution* execution = draft.find<Execution>(id);
    if (execution == nullptr || !execution->workflow) continue;
    const Outcome outcome = execution->state.outcome;
    const WorkflowId workflow = *execution->workflow;
    if (const Links* links = draft.find<Links>(id)) {
      for (const EdgeId& edge : links->out) {
        if (auto resolved = resolve_edge(draft, edge, outcome); !resolved) return resolved;
      }
    }
    seal_if_done(draft, workflow);
  }
  return {};
}

}  // namespace weir::flow::workflow::internal
