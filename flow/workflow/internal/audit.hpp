#pragma once

#include <vector>

#include <weir/flow/workflow/internal/draft.hpp>
#include <weir/runtime/result.hpp>

// Counts the executions of a workflow anew, in pieces, and compares: whether anything has changed
// meanwhile is seen from the workflow, which every change of a counter touches.
namespace weir::flow::workflow::internal {

struct AuditTally {
  WorkflowId id;
  Workflow before;
  /// Whatever changes from now on is later than what has changed before.
  bool is_quiet = false;
  StateCounts counted;
  std::uint64_t unpromoted = 0;
  std::uint64_t cancelled_siblings = 0;
};

struct Audited {
  enum class Outcome : std::uint8_t { right, drifted, empty, busy };

  Outcome outcome = Outcome::right;
  bool is_repaired = false;
  StateCounts stored;
  StateCounts counted;
};

Result<AuditTally> begin_audit(Draft& draft, const WorkflowId& id);
/// `corruption` if one of them is not there.
Result<AuditTally> count_members(Draft& draft, AuditTally tally,
                                 const std::vector<ExecutionId>& members);
Result<Audited> end_audit(Draft& draft, const AuditTally& tally, bool repairs);

}  // namespace weir::flow::workflow::internal
