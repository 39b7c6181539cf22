#include <weir/flow/workflow/internal/change_notices.hpp>

#include <optional>
#include <set>

namespace weir::flow::workflow::internal {
namespace {

/// As it is then; as it was, if it is removed. None if it was not there either.
template <class R>
const R* shown(const KeyOf<R>& key, const std::optional<R>& after, const WorkingSet& before) {
  if (after) return &*after;
  const Slot<R>* slot = before.find<R>(key);
  return slot != nullptr && slot->current ? &*slot->current : nullptr;
}

}  // namespace

void tell_changes(Draft& draft, const WorkingSet& before) {
  std::set<ExecutionId> executions;
  std::set<WorkflowId> workflows;
  for (const Notice& notice : draft.notices()) {
    executions.insert(notice.execution);
    if (notice.workflow) workflows.insert(*notice.workflow);
  }
  draft.each_change<Execution>([&](const ExecutionId& id, const auto& after) {
    const Execution* execution = shown<Execution>(id, after, before);
    if (execution == nullptr || executions.contains(id)) return;
    if (execution->workflow) workflows.insert(*execution->workflow);
    draft.tell({.kind = NoticeKind::changed,
                .execution = id,
                .workflow = execution->workflow,
                .space = execution->space,
                .epoch = execution->epoch,
                .at = draft.now()});
  });
  draft.each_change<Workflow>([&](const WorkflowId& id, const auto& after) {
    const Workflow* workflow = shown<Workflow>(id, after, before);
    if (workflow == nullptr || workflows.contains(id)) return;
    draft.tell({.kind = NoticeKind::workflow_changed,
                .workflow = id,
                .space = workflow->space,
                .at = draft.now()});
  });
}

}  // namespace weir::flow::workflow::internal
