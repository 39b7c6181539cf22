#include <algorithm>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/flow/workflow/internal/resolve.hpp>
#include <weir/flow/workflow/internal/retention_commands.hpp>
#include <weir/flow/workflow/internal/validation.hpp>

namespace weir::flow::workflow::internal {
namespace {

/// Whether it has not ended since the group listed it; one that was replayed has.
bool is_awaited(Draft& draft, const ExecutionId& id, const ExecutionId& by) {
  const Links* links = draft.find<Links>(id);
  if (links == nullptr) return false;
  return std::ranges::any_of(links->out, [&](const EdgeId& edge_id) {
    const Edge* edge = draft.find<Edge>(edge_id);
    return edge != nullptr && edge->downstream == by && edge->is_applied &&
           edge->state == EdgeState::pending;
  });
}

/// Whether another group of edges still waits for it.
bool is_needed(Draft& draft, const ExecutionId& id, const ExecutionId& by_no_longer) {
  const Links* links = draft.find<Links>(id);
  if (links == nullptr) return false;
  return std::ranges::any_of(links->out, [&](const EdgeId& edge_id) {
    const Edge* edge = draft.find<Edge>(edge_id);
    if (edge == nullptr || edge->downstream == by_no_longer) return false;
    const EdgeGroup* group = draft.find<EdgeGroup>(edge->downstream);
    return group != nullptr && group->state == EdgeState::pending;
  });
}

}  // namespace

Result<bool> cancel(Draft& draft, const WorkflowId& id, CancelPolicy policy,
                    const std::string& reason) {
  if (auto valid = validate_payload("reason", reason); !valid) return valid.error();
  if (policy < CancelPolicy::cancel_workflow_only || policy > CancelPolicy::cancel_pending) {
    return Error(Errc::unsupported_policy,
                 "cancel policy " + std::to_string(static_cast<int>(policy)));
  }
  Workflow* workflow = draft.edit<Workflow>(id);
  if (workflow == nullptr) return no_such(id);
  if (workflow->has_ended()) return false;
  workflow->state = WorkflowState::cancelled;
  workflow->ended_at = draft.now();
  workflow->changed_at = draft.now();
  workflow->cancel_policy = policy;
  workflow->cancel_reason = reason;
  if (policy != CancelPolicy::cancel_workflow_only) workflow->cancelling = policy;
  note_ended(draft, id, *workflow);
  return true;
}

Result<std::vector<ExecutionId>> cancel_members(Draft& draft, const WorkflowId& id,
                                                const std::vector<ExecutionId>& members,
                                                bool is_last) {
  std::vector<ExecutionId> cancelled;
  const Workflow* workflow = draft.find<Workflow>(id);
  if (workflow == nullptr) return no_such(id);
  if (!workflow->cancelling) return cancelled;
  const CancelPolicy policy = *workflow->cancelling;
  for (const ExecutionId& member : members) {
    const Execution* execution = draft.find<Execution>(member);
    if (execution == nullptr || execution->workflow != id) continue;
    if (!is_concerned(*execution, policy)) continue;
    if (auto ended = cancel_with_workflow(draft, member); !ended) return ended.error();
    cancelled.push_back(member);
  }
  if (auto followed = follow_ends(draft); !followed) return followed.error();
  if (is_last) draft.edit<Workflow>(id)->cancelling.reset();
  return cancelled;
}

bool is_in(const std::string& space, const std::vector<std::string>& spaces) {
  return spaces.empty() || std::ranges::find(spaces, space) != spaces.end();
}

Result<SiblingCancel> cancel_siblings(Draft& draft, const ExecutionId& downstream,
                                      std::size_t siblings_max,
                                      const std::vector<std::string>& spaces) {
  SiblingCancel report;
  const Execution* waiting = draft.find<Execution>(downstream);
  if (waiting != nullptr && !is_in(waiting->space, spaces)) {
    report.is_filtered = true;
    return report;
  }
  EdgeGroup* group = draft.edit<EdgeGroup>(downstream);
  if (group == nullptr) return no_such(downstream);
  const Ending ending = {.event = EventKind::cancel,
                         .reason = group->cancel_reason,
                         .by = "engine",
                         .is_sibling = true};
  for (; !group->cancelling.empty() && siblings_max > 0; --siblings_max) {
    const ExecutionId sibling = group->cancelling.back();
    group->cancelling.pop_back();
    const Execution* execution = draft.find<Execution>(sibling);
    if (execution == nullptr) {
      return Error(Errc::corruption, "edge group of " + to_string(downstream) +
                                         " lists execution " + to_string(sibling) +
                                         ", which is not there");
    }
    if (execution->has_ended() || !is_awaited(draft, sibling, downstream)) {
      ++report.ended_before;
    } else if (is_needed(draft, sibling, downstream)) {
      ++report.spared;
    } else {
      if (auto ended = end_alone(draft, sibling, ending); !ended) return ended.error();
      report.cancelled.push_back(sibling);
    }
  }
  report.left = group->cancelling.size();
  if (auto followed = follow_ends(draft); !followed) return followed.error();
  return report;
}

}  // namespace weir::flow::workflow::internal
