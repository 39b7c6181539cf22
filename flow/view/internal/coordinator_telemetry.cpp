// What the coordinator tells of itself: spans, counts and lines of the log.

#include <algorithm>
#include <string>
#include <utility>

#include <weir/flow/view/internal/coordinator.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::flow::view::internal {

namespace {

std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

/// Goes on with the trace of the first commit that was recorded, so that it shows what became of
/// it in views; others are linked. If none was, neither is this, nor what it causes.
Span Coordinator::begin_consuming(std::span<const storage::ChangeRecord> records) {
  const auto is_recorded = [](const storage::ChangeRecord& record) {
    return record.trace().is_valid() && record.trace().is_sampled && record.origin() != "weir.flow";
  };
  const auto first = std::ranges::find_if(records, is_recorded);
  auto consuming = first == records.end() ? caused_span({}, {})
                                          : remote_span("flow.coordinator.consume", first->trace());
  if (!consuming.is_recorded()) return consuming;
  consuming.set({"flow.records", number(records.size())});
  consuming.set({"flow.version.first", number(records.front().version().number)});
  for (auto record = first; record != records.end(); ++record)
    if (record != first && is_recorded(*record)) consuming.add_link(record->trace());
  return consuming;
}

std::vector<std::vector<FlowTask>> Coordinator::route(const Cycle& cycle) const {
  auto routing = span("flow.coordinator.route_and_group");
  auto tasks = plan_tasks(cycle);
  if (!routing.is_recorded()) return tasks;
  std::size_t flows = 0;
  std::size_t batches = 0;
  for (const auto& share : tasks) {
    flows += share.size();
    batches += share.empty() ? 0 : 1;
  }
  std::size_t rows = 0;
  for (const RelationChanges& changes : cycle.changes) rows += changes.batch.size();
  const auto is_active = [](const auto& entry) { return entry.second.is_running(); };
  routing.set({"flow.changes", number(rows)});
  routing.set({"flow.flows.active",
               number(static_cast<std::size_t>(std::ranges::count_if(flows_, is_active)))});
  routing.set({"flow.relations", number(cycle.changes.size())});
  routing.set({"flow.flows", number(flows)});
  routing.set({"flow.batches", number(batches)});
  return tasks;
}

/// Rows that the cycle has taken for a flow.
std::size_t Coordinator::backfill_rows(const Cycle& cycle, std::uint64_t id) {
  std::size_t rows = 0;
  const auto chunks = cycle.chunks.find(id);
  if (chunks == cycle.chunks.end()) return rows;
  for (const FlowTask::Chunk& chunk : chunks->second) rows += chunk.batch.size();
  return rows;
}

/// Of a cycle that was committed.
void Coordinator::count(const Cycle& cycle, const std::vector<FlowOutcome>& outcomes,
                        Duration duration) {
  std::vector<std::pair<std::uint64_t, ViewCounts>> counts;
  for (const FlowOutcome& outcome : outcomes) {
    ViewCounts& known = flows_.at(outcome.flow).counts;
    if (outcome.result) {
      add_result(known, *outcome.result);
      if (cycle.work == FailedWork::rows) known.backfill_rows += backfill_rows(cycle, outcome.flow);
    }
    // The others are published with what became of them.
    if (!cycle.progress.contains(outcome.flow)) counts.emplace_back(outcome.flow, known);
  }
  board_->count(counts);
  board_->count_rows(cycle.rows);
  if (options_.cycle_duration != nullptr && !outcomes.empty())
    options_.cycle_duration->record(std::chrono::duration<double>(duration).count());
}

/// A line for everything that whoever runs the database may want to know of a view.
void Coordinator::log_progress(std::uint64_t id, const Progress& progress) const {
  telemetry::Telemetry* telemetry = system().options().telemetry;
  if (telemetry == nullptr) return;
  telemetry::Logger& logger = telemetry->logger();
  const Progress& before = flows_.at(id).progress;
  const std::string& name = flows_.at(id).definition->view->entry.name;
  if (progress.skipped > before.skipped) {
    logger.warning("view left out a version",
                   {{"view", name}, {"version", number(progress.skipped_version)}});
  }
  if (progress.failures > before.failures && progress.phase == ViewPhase::failing) {
    logger.warning(
        "view failed",
        {{"view", name}, {"failures", number(progress.failures)}, {"error", progress.error}});
  }
  if (progress.phase == ViewPhase::quarantined && before.phase != ViewPhase::quarantined)
    logger.error("view quarantined", {{"view", name}, {"error", progress.error}});
  if (progress.is_wiping && !before.is_wiping) logger.info("view is built again", {{"view", name}});
  if (progress.phase == ViewPhase::live && before.phase != ViewPhase::live) {
    logger.info("view became live", {{"view", name},
                                     {"rows_taken", number(progress.rows_taken)},
                                     {"version", number(position_.number)}});
  } else if (progress.rows_taken > before.rows_taken) {
    logger.debug("view takes rows", {{"view", name}, {"rows_taken", number(progress.rows_taken)}});
  }
}

}  // namespace weir::flow::view::internal
