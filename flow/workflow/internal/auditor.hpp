#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <weir/flow/workflow/internal/workflow_store.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/departure.hpp>
#include <weir/runtime/timer.hpp>

namespace weir::flow::workflow::internal {

/// Counts the executions of these workflows anew. What it comes to is added to the report.
Task<Result<>> audit_these(std::shared_ptr<WorkflowStore> core, std::vector<WorkflowId> workflows,
                           AuditRequest request, AuditReport* report);

struct BeginAudits {};
struct AuditSome {};
struct LastAudit {
  using Reply = std::optional<AuditReport>;
};
struct StopAudits {
  using Reply = bool;
};
using AuditorRef = ActorRef<BeginAudits, AuditSome, LastAudit, StopAudits>;

/// Audits some workflows from time to time, for as long as it is there.
class Auditor {
 public:
  Auditor(const std::shared_ptr<WorkflowStore>& core, AuditSchedule schedule);

  Task<Result<std::optional<AuditReport>>> last() const;
  /// Returns when it has gone.
  Task<> stop() const;
  void abandon() const noexcept { actor_.stop(); }

 private:
  const std::shared_ptr<SequenceBarrier> gone_ = std::make_shared<SequenceBarrier>();
  AuditorRef actor_;
};

}  // namespace weir::flow::workflow::internal
