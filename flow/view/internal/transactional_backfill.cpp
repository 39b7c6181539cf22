// How transactional views take the rows that were there before them, and what becomes of those that
// fail at it.

#include <algorithm>
#include <utility>

#include <weir/flow/operator/errc.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/transactional_flows.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::flow::view::internal {

namespace {

std::size_t piece_rows(const std::optional<FlowTask>& piece) {
  return !piece || piece->chunks.empty() ? 0 : piece->chunks.front().batch.size();
}

}  // namespace

void TransactionalFlows::advance_soon() {
  if (!std::exchange(is_advance_due_, true)) static_cast<void>(self().send<AdvanceViews>());
}

/// One step for each view that is not there yet; then whoever else has sent something.
Task<> TransactionalFlows::on(AdvanceViews) {
  is_advance_due_ = false;
  if (broken_) co_return;
  std::vector<std::uint64_t> ids;
  for (const auto& [id, view] : views_) ids.push_back(id);
  bool has_moved = false;
  for (const std::uint64_t id : ids) {
    const View& view = views_.at(id);
    const bool is_filling = view.is_running() && view.progress.phase == ViewPhase::backfilling;
    if (!is_filling && !view.progress.is_wiping) continue;
    auto moved = view.progress.is_wiping ? co_await wipe_some(id) : co_await fill_some(id);
    if (breaks(moved ? Result<>() : Result<>(moved.error()))) co_return;
    has_moved |= *moved;
  }
  if (has_moved) advance_soon();
}

/// The store cannot be read or written any more: nothing can be done until it is opened again.
bool TransactionalFlows::breaks(const Result<>& result) {
  if (result) return false;
  broken_ = result.error();
  telemetry::Telemetry* telemetry = system().options().telemetry;
  if (board_->stop(ViewUpdate::transactional, result.error()) && telemetry != nullptr)
    telemetry->logger().error("views have stopped", {{"error", result.error().message()}});
  return true;
}

/// Removes some rows and entries of state; the last step makes the flow new.
Task<Result<bool>> TransactionalFlows::wipe_some(std::uint64_t id) {
  WEIR_CO_TRY_VOID(co_await reach_last());
  View& view = views_.at(id);
  auto transaction = store_->begin();
  WEIR_CO_TRY(is_last, co_await catalog_->clear_some(&transaction, view.definition->view));
  Progress progress = view.progress;
  if (is_last) {
    progress.is_wiping = false;
    progress.rows_taken = 0;
    progress.backfill.assign(view.definition->sources().size(), Backfill{});
  }
  put_progress(transaction, id, progress);
  transaction.set_origin("weir.flow");
  auto version = co_await transaction.commit();
  if (!version && version.error() == storage::Errc::conflict) co_return true;  // once more
  if (!version) co_return version.error();
  last_ = std::max(last_, *version);
  take({{id, std::move(progress)}});
  board_->publish();
  if (is_last) {
    if (auto made = make_flow(view, true); !made)
      WEIR_CO_TRY_VOID(co_await quarantine(id, made.error()));
  }
  co_return true;
}

/// The next rows of one view; false if it waits for what it reads. Nobody else commits meanwhile to
/// what it reads: the rows are those that the views here have seen, no more and no less.
Task<Result<bool>> TransactionalFlows::fill_some(std::uint64_t id) {
  auto filling =
      span("flow.transactional.fill", {{"flow.view", views_.at(id).definition->view->entry.name}});
  WEIR_CO_TRY_VOID(co_await reach_last());
  Progress progress = views_.at(id).progress;
  auto read = co_await read_piece(id, &progress);
  if (!read) {
    // Of this view alone, unless nothing can be committed either.
    WEIR_CO_TRY_VOID(co_await fail(id, read.error()));
    co_return true;
  }
  std::optional<FlowTask> piece = *std::move(read);
  const bool is_done = std::ranges::all_of(progress.backfill, &Backfill::is_done);
  if (is_done && !waits(views_.at(id))) {
    progress.phase = ViewPhase::live;
    progress.failures = 0;
    progress.error.clear();
    // Also without rows: operators may have waited for the last.
    if (!piece) piece.emplace(FlowTask{.flow = id, .backfill = progress.backfill});
    piece->filling = Flow::Filling::ended;
  }
  if (progress == views_.at(id).progress) co_return false;
  Pass pass{.piece = std::move(piece)};
  const std::size_t rows = piece_rows(pass.piece);
  if (auto ran = co_await run(&pass); !ran) {
    // Taken again in halves, that is no failure.
    const bool is_too_large = ran.error() == operators::Errc::too_large;
    if (!is_too_large || !views_.at(id).piece_size.shrink(rows))
      WEIR_CO_TRY_VOID(co_await fail(*pass.failed, ran.error()));
    co_return true;
  }
  views_.at(id).piece_size.grow(rows);
  auto transaction = store_->begin();
  write(transaction, pass);
  put_progress(transaction, id, progress);
  transaction.set_origin("weir.flow");
  auto version = co_await transaction.commit();
  end(pass, version ? std::optional(*version) : std::nullopt);
  if (!version && version.error() == storage::Errc::conflict) co_return true;  // once more
  if (!version) co_return version.error();
  last_ = std::max(last_, *version);
  views_.at(id).counts.backfill_rows += progress.rows_taken - views_.at(id).progress.rows_taken;
  take({{id, std::move(progress)}});
  board_->publish();
  co_return true;
}

/// Of the first source that is not done; none if all are.
Task<Result<std::optional<FlowTask>>> TransactionalFlows::read_piece(std::uint64_t id,
                                                                     Progress* progress) {
  FlowTask task{.flow = id};
  const auto at = std::ranges::find(progress->backfill, false, &Backfill::is_done);
  if (at != progress->backfill.end()) {
    const auto index = static_cast<std::size_t>(at - progress->backfill.begin());
    WEIR_CO_TRY(relation, co_await source(views_.at(id).definition->sources()[index].relation));
    const auto reading = store_->read();
    const std::size_t rows_max = views_.at(id).piece_size.at_most(options_.backfill_rows);
    WEIR_CO_TRY(rows, co_await take_rows(&reading, relation, rows_max, &*at));
    progress->rows_taken += rows.size();
    if (!rows.is_empty()) task.chunks.push_back({index, relation, std::move(rows)});
  }
  if (task.chunks.empty()) co_return std::optional<FlowTask>();
  task.backfill = progress->backfill;
  task.filling = Flow::Filling::begun;
  co_return std::optional(std::move(task));
}

/// As it is now: a table may have been altered.
Task<Result<std::shared_ptr<const RelationInfo>>> TransactionalFlows::source(std::uint64_t id) {
  const auto reading = store_->read();
  WEIR_CO_TRY(entry, co_await reading.get(catalog_->relations(), id));
  if (!entry) co_return Error(Errc::corruption, "catalog: no relation " + std::to_string(id));
  auto& known = sources_[id];
  if (!known || known->entry != *entry) {
    WEIR_CO_TRY(info, co_await catalog_->load(id, *std::move(entry)));
    sources_[id] = std::move(info);
  }
  co_return sources_[id];
}

/// Whether it reads a view that is not whole.
bool TransactionalFlows::waits(const View& view) const {
  return std::ranges::any_of(view.definition->sources(), [this](const SourceEntry& source) {
    const auto other = views_.find(source.relation);
    return other != views_.end() && other->second.progress.phase != ViewPhase::live;
  });
}

Task<> TransactionalFlows::on(RetryView retry) {
  const auto at = views_.find(retry.view);
  const bool is_failing = at != views_.end() && at->second.progress.phase == ViewPhase::failing;
  if (is_failing && !broken_) static_cast<void>(breaks(co_await begin_anew(retry.view)));
}

Task<Result<bool>> TransactionalFlows::on(RebuildView rebuild) {
  if (broken_) co_return *broken_;
  const auto at = views_.find(rebuild.view);
  if (at == views_.end())
    co_return Error(Errc::unknown_relation, "view number " + std::to_string(rebuild.view));
  at->second.progress.failures = 0;
  auto begun = co_await begin_anew(rebuild.view);
  if (breaks(begun)) co_return begun.error();
  co_return true;
}

/// A view that cannot take the rows that there are. Writers are not held up by it.
Task<Result<>> TransactionalFlows::fail(std::uint64_t id, Error error) {
  ProgressMap progress{{id, views_.at(id).progress}};
  Progress& failed = progress.at(id);
  ++failed.failures;
  failed.phase =
      failed.failures >= options_.failures_max ? ViewPhase::quarantined : ViewPhase::failing;
  failed.error = error.message() + ", in the rows that were there before it";
  if (failed.phase == ViewPhase::failing) {
    const unsigned doublings = std::min(failed.failures - 1, 20u);
    schedule_once<RetryView>(options_.retry_backoff * (1u << doublings), id);
  }
  hold_readers(progress, id);
  co_return co_await commit_progress(std::move(progress));
}

/// A view that cannot be made, for instance since its operator is not registered.
Task<Result<>> TransactionalFlows::quarantine(std::uint64_t id, Error error) {
  ProgressMap progress{{id, views_.at(id).progress}};
  progress.at(id).phase = ViewPhase::quarantined;
  progress.at(id).failures = 0;
  progress.at(id).error = error.message();
  hold_readers(progress, id);
  co_return co_await commit_progress(std::move(progress));
}

/// Whoever reads a view that does not move cannot move either.
void TransactionalFlows::hold_readers(ProgressMap& progress, std::uint64_t id) const {
  const auto readers = readers_.find(id);
  if (readers == readers_.end()) return;
  for (const std::uint64_t reader : readers->second) {
    const auto at = views_.find(reader);
    if (at == views_.end()) continue;
    Progress held = at->second.progress;
    if (held.phase != ViewPhase::quarantined) held.phase = ViewPhase::failing;
    held.error = "its source '" + views_.at(id).definition->view->entry.name + "' has failed";
    // There may be many paths to a reader: one is enough.
    if (progress.try_emplace(reader, std::move(held)).second) hold_readers(progress, reader);
  }
}

/// Its rows and its state go, and those of whoever reads it; then it takes everything again.
Task<Result<>> TransactionalFlows::begin_anew(std::uint64_t id) {
  ProgressMap progress;
  add_anew(progress, id);
  std::vector<std::uint64_t> anew;
  for (const auto& [view, now] : progress) anew.push_back(view);
  WEIR_CO_TRY_VOID(co_await commit_progress(std::move(progress)));
  for (const std::uint64_t view : anew) views_.at(view).flow.reset();
  advance_soon();
  co_return {};
}

void TransactionalFlows::add_anew(ProgressMap& progress, std::uint64_t id) const {
  Progress anew = views_.at(id).progress;
  anew.is_wiping = true;
  anew.phase = ViewPhase::backfilling;
  if (!progress.try_emplace(id, std::move(anew)).second) return;
  const auto readers = readers_.find(id);
  if (readers == readers_.end()) return;
  for (const std::uint64_t reader : readers->second)
    if (views_.at(reader).progress.phase != ViewPhase::quarantined) add_anew(progress, reader);
}

/// What becomes of views without a change of their rows.
Task<Result<>> TransactionalFlows::commit_progress(ProgressMap progress) {
  for (bool is_committed = false; !is_committed;) {
    WEIR_CO_TRY_VOID(co_await reach_last());
    auto transaction = store_->begin();
    for (const auto& [id, now] : progress) put_progress(transaction, id, now);
    transaction.set_origin("weir.flow");
    auto version = co_await transaction.commit();
    if (!version && version.error() != storage::Errc::conflict) co_return version.error();
    is_committed = version.has_value();
    if (version) last_ = std::max(last_, *version);
  }
  take(progress);
  board_->publish();
  co_return {};
}

/// With it, whether readers of this version and later ones may see the view.
void TransactionalFlows::put_progress(storage::Transaction& transaction, std::uint64_t id,
                                      const Progress& progress) const {
  transaction.put(catalog_->progress(), id, progress);
  if (progress.phase == ViewPhase::live) {
    transaction.put(catalog_->ready(), id, 1);
  } else {
    transaction.remove(catalog_->ready(), id);
  }
}

void TransactionalFlows::take(const ProgressMap& progress) {
  for (const auto& [id, now] : progress) {
    views_.at(id).progress = now;
    board_->set(id, {.name = views_.at(id).definition->view->entry.name,
                     .phase = now.phase,
                     .rows_taken = now.rows_taken,
                     .error = now.error,
                     .failures = now.failures,
                     .is_stopped = now.phase == ViewPhase::quarantined,
                     .counts = views_.at(id).counts});
  }
}

}  // namespace weir::flow::view::internal
