#include <algorithm>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/internal/audit.hpp>
#include <weir/flow/workflow/internal/auditor.hpp>
#include <weir/flow/workflow/internal/engine_call.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow {
namespace {

using internal::Audited;
using internal::AuditTally;
using internal::CoreRef;
using internal::Draft;
using internal::run;

constexpr int tries_max = 3;
constexpr std::size_t members_at_once = 256;
constexpr std::size_t drifts_max = 100;

/// Everything is counted that is there at one moment, or `busy`.
Task<Result<Audited>> count_once(CoreRef core, WorkflowId id, bool repairs) {
  WEIR_CO_TRY(tally, co_await run(core, [id](Draft& draft) { return begin_audit(draft, id); }));
  std::optional<ExecutionId> after;
  for (bool is_last = !tally.is_quiet; !is_last;) {
    WEIR_CO_TRY(members, co_await core->members(id, after, members_at_once));
    is_last = members.size() < members_at_once;
    if (!members.empty()) after = members.back();
    WEIR_CO_TRY(more, co_await run(core, [tally, members](Draft& draft) {
                  return count_members(draft, tally, members);
                }));
    tally = std::move(more);
  }
  co_return co_await run(
      core, [tally, repairs](Draft& draft) { return end_audit(draft, tally, repairs); });
}

Task<Result<Audited>> audit_one(CoreRef core, WorkflowId id, bool repairs) {
  Audited audited;
  for (int tries = 0; tries < tries_max; ++tries) {
    WEIR_CO_TRY(counted, co_await count_once(core, id, repairs));
    audited = std::move(counted);
    if (audited.outcome != Audited::Outcome::busy) break;
  }
  co_return audited;
}

void add(AuditReport& report, const WorkflowId& id, const Audited& audited) {
  using enum Audited::Outcome;
  report.empty += audited.outcome == empty ? 1 : 0;
  report.busy += audited.outcome == busy ? 1 : 0;
  report.processed += audited.outcome == right || audited.outcome == drifted ? 1 : 0;
  if (audited.outcome != drifted) return;
  ++report.drifted;
  report.repaired += audited.is_repaired ? 1 : 0;
  if (report.drifts.size() < drifts_max) {
    report.drifts.push_back({id, audited.stored, audited.counted});
  }
}

/// Whether it is of the namespace that is asked for.
Task<Result<bool>> is_asked_for(CoreRef core, WorkflowId id, std::string space) {
  return run(core, [id, space = std::move(space)](Draft& draft) -> Result<bool> {
    const Workflow* workflow = draft.find<Workflow>(id);
    return workflow != nullptr && workflow->space == space;
  });
}

}  // namespace

Task<Result<>> internal::audit_these(CoreRef core, std::vector<WorkflowId> workflows,
                                     AuditRequest request, AuditReport* report) {
  for (const WorkflowId& id : workflows) {
    if (request.space) {
      WEIR_CO_TRY(is_asked, co_await is_asked_for(core, id, *request.space));
      report->filtered += is_asked ? 0 : 1;
      if (!is_asked) continue;
    }
    auto audited = co_await audit_one(core, id, request.repairs);
    if (audited) {
      add(*report, id, *audited);
      continue;
    }
    const Error& error = audited.error();
    // One that cannot be counted does not keep others from it; that the store is gone does.
    if (error == Errc::unavailable || error == Errc::closed) co_return error;
    // It was removed since it was listed.
    if (error == Errc::not_found) continue;
    ++report->errors;
    if (report->problems.size() < drifts_max) report->problems.push_back(error);
  }
  co_return {};
}

Task<Result<AuditReport>> Engine::audit(AuditRequest request) const {
  const CoreRef core = core_;
  AuditReport report;
  WEIR_CO_TRY(page, co_await list_workflows(request.after, request.workflows_max));
  report.next = page.next;
  WEIR_CO_TRY_VOID(
      co_await internal::audit_these(core, std::move(page.items), std::move(request), &report));
  co_return report;
}

Task<Result<std::optional<AuditReport>>> Engine::last_audit() const {
  const auto auditor = auditor_;
  if (!auditor) co_return std::optional<AuditReport>();
  co_return co_await auditor->last();
}

Task<Result<EngineReport>> Engine::report() const {
  const CoreRef core = core_;
  co_return co_await core->report();
}

}  // namespace weir::flow::workflow
