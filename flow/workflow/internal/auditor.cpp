#include <weir/flow/workflow/internal/auditor.hpp>

#include <utility>

#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::internal {
namespace {

class AuditorActor final : public Actor<BeginAudits, AuditSome, LastAudit, StopAudits> {
 public:
  AuditorActor(std::shared_ptr<WorkflowStore> core, AuditSchedule schedule,
               std::shared_ptr<SequenceBarrier> gone)
      : departure_(std::move(gone)), core_(std::move(core)), schedule_(std::move(schedule)) {}

  void on(BeginAudits) { timer_ = schedule_every<AuditSome>(*schedule_.period); }
  Task<> on(AuditSome) {
    AuditReport report;
    auto done = co_await audit_some(&report);
    EngineFigures& figures = core_->figures();
    figures.add(&EngineReport::workflows_audited, report.processed + report.empty);
    figures.add(&EngineReport::workflows_drifted, report.drifted);
    figures.add(&EngineReport::workflows_repaired, report.repaired);
    figures.add(&EngineReport::audit_errors, report.errors + (done ? 0 : 1));
    if (!done) report.problems.push_back(done.error());
    last_ = std::move(report);
  }
  std::optional<AuditReport> on(LastAudit) const { return last_; }
  bool on(StopAudits) {
    timer_.cancel();
    stop();
    return true;
  }

 private:
  /// Those that come next in the partitions that are ours; at the end it begins anew.
  Task<Result<>> audit_some(AuditReport* report) {
    std::size_t left = schedule_.workflows_max;
    for (const Partition partition : core_->own_partitions()) {
      if (after_ && partition < after_->partition()) continue;
      if (after_ && partition != after_->partition()) after_.reset();
      WEIR_CO_TRY(found, co_await core_->workflows(partition, after_, left));
      left -= found.size();
      if (!found.empty()) after_ = found.back();
      const AuditRequest request{.space = schedule_.space, .repairs = schedule_.repairs};
      WEIR_CO_TRY_VOID(co_await audit_these(core_, std::move(found), request, report));
      report->next = after_;
      if (left == 0) co_return {};
    }
    after_.reset();
    report->next.reset();
    co_return {};
  }

  const Departure departure_;
  const std::shared_ptr<WorkflowStore> core_;
  const AuditSchedule schedule_;
  std::optional<WorkflowId> after_;
  std::optional<AuditReport> last_;
  Timer timer_;
};

}  // namespace

Auditor::Auditor(const std::shared_ptr<WorkflowStore>& core, AuditSchedule schedule) {
  SpawnOptions spawning{.name = "workflow audits"};
  actor_ =
      core->system().spawn<AuditorActor>(std::move(spawning), core, std::move(schedule), gone_);
  actor_.send<BeginAudits>();
}

Task<Result<std::optional<AuditReport>>> Auditor::last() const {
  const AuditorRef actor = actor_;
  co_return co_await actor.ask<LastAudit>().within(forever);
}

Task<> Auditor::stop() const {
  const AuditorRef actor = actor_;
  const auto gone = gone_;
  static_cast<void>(co_await actor.ask<StopAudits>().within(forever));
  static_cast<void>(co_await gone->wait_until(1));
}

}  // namespace weir::flow::workflow::internal
