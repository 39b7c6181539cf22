#include <weir/flow/workflow/internal/engine_metrics.hpp>

#include <weir/telemetry/meter.hpp>

namespace weir::flow::workflow::internal {
namespace {

using telemetry::Observer;

std::vector<double> size_bounds() {
  return {1, 2, 5, 10, 20, 50, 100, 200, 500, 1'000, 2'000, 5'000, 10'000};
}

void report_states(const EngineReport& report, Observer& observer) {
  const auto add = [&](PublicState state, std::uint64_t count) {
    observer.report(static_cast<double>(count), {{"weir.state", std::string(to_string(state))}});
  };
  add(PublicState::waiting, report.waiting);
  add(PublicState::delayed, report.delayed);
  add(PublicState::active, report.active);
  add(PublicState::suspended, report.suspended);
}

}  // namespace

EngineMetrics::EngineMetrics(std::shared_ptr<const EngineFigures> figures, telemetry::Meter& meter)
    : commit_size_(meter.histogram("weir.workflow.commit.records",
                                   {.unit = "{record}",
                                    .description = "Records that were committed together.",
                                    .bounds = size_bounds()})) {
  const auto count = [&](const char* name, telemetry::InstrumentOptions options,
                         std::uint64_t EngineReport::* field) {
    observations_.push_back(
        meter.observe_counter(name, options, [figures, field](Observer& observer) {
          observer.report(static_cast<double>(figures->read().*field));
        }));
  };
  count("weir.workflow.commands", {.unit = "{command}", .description = "Commands that were run."},
        &EngineReport::commands);
  count("weir.workflow.commits", {.unit = "{commit}", .description = "Commits of the engine."},
        &EngineReport::commits);
  count("weir.workflow.claims", {.unit = "{claim}", .description = "Executions that were claimed."},
        &EngineReport::claims);
  count("weir.workflow.retries", {.unit = "{retry}", .description = "Attempts to be made again."},
        &EngineReport::retries);
  count("weir.workflow.leases.expired", {.unit = "{lease}", .description = "Leases lost by time."},
        &EngineReport::leases_expired);
  count("weir.workflow.signals", {.unit = "{signal}", .description = "Signals that were taken in."},
        &EngineReport::signals);
  count("weir.workflow.siblings.cancelled",
        {.unit = "{execution}", .description = "Executions that nobody needed any more."},
        &EngineReport::siblings_cancelled);
  count("weir.workflow.dispatch.errors",
        {.unit = "{error}", .description = "What could not be cancelled, and was set aside."},
        &EngineReport::dispatch_errors);
  count("weir.workflow.executions.removed",
        {.unit = "{execution}", .description = "Ended executions that were kept long enough."},
        &EngineReport::executions_removed);
  count("weir.workflow.workflows.removed",
        {.unit = "{workflow}", .description = "Ended workflows that were kept long enough."},
        &EngineReport::workflows_removed);
  count("weir.workflow.notices.removed",
        {.unit = "{notice}", .description = "Notices that were kept long enough."},
        &EngineReport::notices_removed);
  count("weir.workflow.removals.postponed",
        {.unit = "{removal}", .description = "Kept longer, since others depend on it."},
        &EngineReport::removals_postponed);
  count("weir.workflow.removal.errors",
        {.unit = "{error}", .description = "What could not be removed, and was set aside."},
        &EngineReport::removal_errors);
  count("weir.workflow.audit.workflows",
        {.unit = "{workflow}", .description = "Whose executions were counted anew."},
        &EngineReport::workflows_audited);
  count("weir.workflow.audit.drifts",
        {.unit = "{workflow}", .description = "Whose counters were wrong."},
        &EngineReport::workflows_drifted);
  count("weir.workflow.audit.errors",
        {.unit = "{error}", .description = "Workflows that could not be counted."},
        &EngineReport::audit_errors);
  observations_.push_back(meter.observe_up_down_counter(
      "weir.workflow.executions",
      {.unit = "{execution}", .description = "Executions that have not ended, by state."},
      [figures](Observer& observer) { report_states(figures->read(), observer); }));
  observations_.push_back(meter.observe_up_down_counter(
      "weir.workflow.due", {.unit = "{execution}", .description = "Waiting for some time."},
      [figures](Observer& observer) {
        observer.report(static_cast<double>(figures->read().due));
      }));
}

}  // namespace weir::flow::workflow::internal
