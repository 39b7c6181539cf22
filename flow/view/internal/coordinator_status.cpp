// What the coordinator tells everyone about views.

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <weir/flow/view/internal/coordinator.hpp>

namespace weir::flow::view::internal {

/// How far a new view has come, and how long it will take.
void Coordinator::describe_backfill(const FlowEntry& flow, ViewStatus& status) const {
  const FlowEntry::Filling& filling = flow.filling;
  if (status.phase != ViewPhase::backfilling || filling.pieces == 0) return;
  const std::chrono::duration<double> elapsed = now() - filling.began;
  const auto taken = static_cast<double>(status.rows_taken - filling.rows_before);
  if (elapsed.count() > 0) status.rows_per_second = taken / elapsed.count();
  if (filling.rows_total == 0) return;
  status.rows_total = std::max(filling.rows_total, status.rows_taken);
  if (status.rows_per_second == 0) return;
  const auto left = static_cast<double>(status.rows_total - status.rows_taken);
  status.time_left = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(left / status.rows_per_second));
}

void Coordinator::publish(std::uint64_t id) {
  const Progress& progress = flows_.at(id).progress;
  ViewStatus status{
      .name = relations_.at(id)->entry.name,
      .phase = progress.phase,
      .position = progress.behind ? storage::Version{progress.behind->tables} : position_,
      .rows_taken = progress.rows_taken,
      .error = progress.error,
      .failures = progress.failures,
      .skipped = progress.skipped,
      .skipped_version = {progress.skipped_version},
      .is_exact = is_exact(id),
      .counts = flows_.at(id).counts};
  describe_backfill(flows_.at(id), status);
  const std::uint64_t other = waits_for(id);
  if (other != id && progress.phase != ViewPhase::quarantined) {
    status.waits_for = relations_.at(other)->entry.name;
    if (progress.phase == ViewPhase::catching_up) status.phase = ViewPhase::waiting;
  }
  for (const SourceEntry& source : flows_.at(id).definition->sources()) {
    if (is_followed_from_log(source.relation) && !ready_.contains(source.relation))
      status.waits_for = source.name;
  }
  status.is_stopped = progress.phase == ViewPhase::quarantined ||
                      flows_.at(other).progress.phase == ViewPhase::quarantined;
  board_->set(id, std::move(status));
}

/// What a view does decides whether others wait for it.
void Coordinator::publish_with_readers(std::uint64_t id) {
  publish(id);
  visit_readers(readers_, id, [this](std::uint64_t reader) {
    publish(reader);
    return true;
  });
}

bool Coordinator::is_exact(std::uint64_t id) const {
  std::set<std::uint64_t> left = {id};
  while (!left.empty()) {
    // Whoever reads comes before what it reads, so that each is looked at once.
    const FlowEntry& flow = flows_.at(left.extract(std::prev(left.end())).value());
    if (flow.progress.skipped > 0) return false;
    for (const SourceEntry& source : flow.definition->sources())
      if (flows_.contains(source.relation)) left.insert(source.relation);
  }
  return true;
}

void Coordinator::publish_all() {
  board_->set_position(position_);
  for (const auto& [id, flow] : flows_) publish(id);
  board_->publish();
}

}  // namespace weir::flow::view::internal
