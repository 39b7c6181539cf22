// How the coordinator brings new and failed views up to the others.

#include <algorithm>
#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/coordinator.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view::internal {

namespace {

bool is_done(const Progress& progress) {
  return std::ranges::all_of(progress.backfill, &Backfill::is_done);
}

}  // namespace

/// One step for each view that is not there yet: rows that it has not taken, or that it must let go
/// of. False if there are none.
Task<Result<bool>> Coordinator::advance_backfill() {
  std::vector<std::uint64_t> wiping;
  std::vector<std::uint64_t> filling;
  for (const auto& [id, flow] : flows_) {
    if (flow.progress.is_wiping) wiping.push_back(id);
    if (flow.is_running() && flow.progress.phase == ViewPhase::backfilling) filling.push_back(id);
  }
  for (const std::uint64_t id : wiping) WEIR_CO_TRY_VOID(co_await wipe_some(id));
  if (filling.empty()) co_return !wiping.empty();

  auto advancing = span("flow.coordinator.advance_backfill");
  // Tables are read as of the position where live flows are; views are at it already.
  const storage::ReadTransaction tables = store_->read();
  while (position_ < tables.version()) {
    WEIR_CO_TRY(moved, co_await advance_log(tables.version()));
    if (!moved) co_return Error(Errc::corruption, "the change log has a gap");
  }
  enter<Phase::advancing_backfill>();
  Cycle cycle{.position = position_};
  for (const std::uint64_t id : filling) {
    const auto at = flows_.find(id);
    if (at == flows_.end() || !at->second.is_running()) continue;
    WEIR_CO_TRY_VOID(co_await read_chunk(tables, id, &cycle));
  }
  // One that only waits for what it reads does not keep everyone awake.
  if (cycle.progress.empty()) {
    enter<Phase::advancing_backfill, Phase::idle>();
    co_return !wiping.empty();
  }
  WEIR_CO_TRY_VOID(co_await run_cycle(std::move(cycle)));
  co_return true;
}

/// The next rows of the first source that is not done.
Task<Result<>> Coordinator::read_chunk(const storage::ReadTransaction& tables, std::uint64_t id,
                                       Cycle* cycle) {
  const FlowDefinitionRef definition = flows_.at(id).definition;
  Progress progress = flows_.at(id).progress;
  const auto source = std::ranges::find(progress.backfill, false, &Backfill::is_done);
  if (source != progress.backfill.end()) {
    const auto index = static_cast<std::size_t>(source - progress.backfill.begin());
    const RelationRef relation = relations_.at(definition->sources()[index].relation);
    const bool is_view = flows_.contains(relation->id);
    const storage::ReadTransaction views = store_->read();
    WEIR_CO_TRY(rows, co_await take_rows(is_view ? &views : &tables, relation,
                                         options_.backfill_rows, &*source));
    progress.rows_taken += rows.size();
    if (!rows.is_empty()) cycle->chunks[id].push_back({index, relation, std::move(rows)});
  }
  if (is_done(progress)) {
    // A view that reads it is not before it: what it reads is whole then.
    const bool waits = std::ranges::any_of(definition->sources(), [&](const SourceEntry& entry) {
      const auto flow = flows_.find(entry.relation);
      if (flow != flows_.end()) return flow->second.progress.phase != ViewPhase::live;
      return is_followed_from_log(entry.relation) && !ready_.contains(entry.relation);
    });
    if (!waits) {
      progress.phase = ViewPhase::live;
      progress.failures = 0;
      progress.error.clear();
    }
  }
  if (progress != flows_.at(id).progress) cycle->progress.insert_or_assign(id, std::move(progress));
  co_return {};
}

Task<> Coordinator::on(RetryFlow retry) {
  const auto at = flows_.find(retry.flow);
  const bool is_failing = at != flows_.end() && at->second.progress.phase == ViewPhase::failing;
  if (is_failing && !is_closing_) static_cast<void>(fails(co_await begin_anew(retry.flow)));
}

Task<Result<bool>> Coordinator::on(RebuildFlow rebuild) {
  const auto at = flows_.find(rebuild.flow);
  if (at == flows_.end())
    co_return Error(Errc::unknown_relation, "view number " + std::to_string(rebuild.flow));
  at->second.progress.failures = 0;
  WEIR_CO_TRY_VOID(co_await begin_anew(rebuild.flow));
  co_return true;
}

/// Its rows and its state go, and those of whoever reads it; then it takes everything again. From
/// now on nobody reads it: that is committed before a cycle leaves it out.
Task<Result<>> Coordinator::begin_anew(std::uint64_t id) {
  Cycle cycle{.position = position_};
  add_anew(cycle, id);
  std::vector<std::uint64_t> anew;
  for (const auto& [flow, progress] : cycle.progress) anew.push_back(flow);
  WEIR_CO_TRY_VOID(co_await commit_progress(std::move(cycle)));
  for (const std::uint64_t flow : anew) {
    static_cast<void>(pool_.send<DisplaceFlow>(flows_.at(flow).worker, flow));
    flows_.at(flow).is_placed = false;
  }
  static_cast<void>(self().send<Wake>());
  co_return {};
}

void Coordinator::add_anew(Cycle& cycle, std::uint64_t id) const {
  Progress progress = flows_.at(id).progress;
  progress.is_wiping = true;
  progress.phase = ViewPhase::backfilling;
  cycle.progress.insert_or_assign(id, std::move(progress));
  const auto readers = readers_.find(id);
  if (readers == readers_.end()) return;
  for (const std::uint64_t reader : readers->second)
    if (flows_.at(reader).progress.phase != ViewPhase::quarantined) add_anew(cycle, reader);
}

/// Removes some rows and entries of state; the last step makes the flow new.
Task<Result<bool>> Coordinator::wipe_some(std::uint64_t id) {
  const FlowDefinitionRef definition = flows_.at(id).definition;
  auto transaction = store_->begin();
  WEIR_CO_TRY(is_last, co_await catalog_->clear_some(&transaction, definition->view->rows, id));
  Progress progress = flows_.at(id).progress;
  if (is_last) {
    progress.is_wiping = false;
    progress.phase = ViewPhase::backfilling;
    progress.rows_taken = 0;
    progress.backfill.assign(definition->sources().size(), Backfill{});
  }
  transaction.put(catalog_->progress(), id, progress);
  set_ready(transaction, id, false);
  transaction.set_origin("weir.flow");
  WEIR_CO_TRY_VOID(co_await transaction.commit());
  flows_.at(id).progress = std::move(progress);
  if (is_last) WEIR_CO_TRY_VOID(co_await place(id, true));
  publish(id);
  board_->publish();
  co_return true;
}

}  // namespace weir::flow::view::internal
