#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/audit.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>

namespace weir::flow::workflow::internal {

Result<AuditTally> begin_audit(Draft& draft, const WorkflowId& id) {
  const Workflow* workflow = draft.find<Workflow>(id);
  if (workflow == nullptr) return no_such(id);
  return AuditTally{id, *workflow, workflow->changed_at < draft.now(), {}};
}

Result<AuditTally> count_members(Draft& draft, AuditTally tally,
                                 const std::vector<ExecutionId>& members) {
  for (const ExecutionId& id : members) {
    const Execution* execution = draft.find<Execution>(id);
    if (execution == nullptr) {
      // It is gone because its workflow is.
      if (draft.find<Workflow>(tally.id) == nullptr) return no_such(tally.id);
      return Error(Errc::corruption, "workflow " + to_string(tally.id) + " has member " +
                                         to_string(id) + ", which is not there");
    }
    ++tally.counted[execution->public_state()];
    tally.unpromoted += execution->state.phase == Phase::submitted ? 1 : 0;
    tally.cancelled_siblings += execution->is_sibling ? 1 : 0;
  }
  return tally;
}

Result<Audited> end_audit(Draft& draft, const AuditTally& tally, bool repairs) {
  using Outcome = Audited::Outcome;
  const Workflow* found = draft.find<Workflow>(tally.id);
  if (found == nullptr) return no_such(tally.id);
  Audited audited{Outcome::right, false, found->counts, tally.counted};
  const bool has_changed = found->changed_at != tally.before.changed_at ||
                           found->revision != tally.before.revision ||
                           found->counts != tally.before.counts;
  if (!tally.is_quiet || has_changed) {
    audited.outcome = Outcome::busy;
    return audited;
  }
  const bool is_right = found->counts == tally.counted && found->unpromoted == tally.unpromoted &&
                        found->cancelled_siblings == tally.cancelled_siblings;
  if (is_right) {
    if (tally.counted.total() == 0) audited.outcome = Outcome::empty;
    return audited;
  }
  audited.outcome = Outcome::drifted;
  if (!repairs) return audited;
  Workflow& workflow = *draft.edit<Workflow>(tally.id);
  workflow.counts = tally.counted;
  workflow.unpromoted = tally.unpromoted;
  workflow.cancelled_siblings = tally.cancelled_siblings;
  workflow.changed_at = draft.now();
  seal_if_done(draft, tally.id);
  audited.is_repaired = true;
  return audited;
}

}  // namespace weir::flow::workflow::internal
