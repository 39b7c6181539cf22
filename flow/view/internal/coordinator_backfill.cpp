// How the coordinator brings new and failed views up to the others.

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <weir/flow/operator/errc.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/coordinator.hpp>
#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view::internal {

namespace {

constexpr std::size_t chunk_rows_min = 2;
/// A view has a scan of its own if no more than so many are there, as each keeps what it has read.
constexpr std::size_t places_max = 16;
/// It keeps what was there when it began from being forgotten.
constexpr Duration place_lifetime = std::chrono::seconds(1);
/// So long after the last change nobody is expected to wait.
constexpr Duration busy_for = std::chrono::seconds(1);
/// It may take longer than a step.
constexpr Duration estimate_period = std::chrono::seconds(1);

/// Those behind a row, up to and with another.
storage::KeyRange<EncodedKey> rows_between(const std::string& after, const std::string& until) {
  return storage::KeyRange<EncodedKey>::between(
      EncodedKey{after.empty() ? "" : storage::prefix_end(after)},
      EncodedKey{storage::prefix_end(until)});
}

}  // namespace

/// One step for each view that is not there yet: rows that it has not taken, or that it must let go
/// of. False if there are none.
Task<Result<bool>> Coordinator::advance_backfill() {
  std::vector<std::uint64_t> wiping;
  std::vector<std::uint64_t> filling;
  for (const std::uint64_t id : unsettled_) {
    const FlowEntry& flow = flows_.at(id);
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
    if (!moved && read_failures_ > 0) co_return false;
    if (!moved) co_return Error(Errc::corruption, "the change log has a gap");
  }
  enter<Phase::advancing_backfill>();
  const TimePoint began = now();
  Cycle cycle{.work = FailedWork::rows, .position = position_};
  // One that only waits for what it reads has no turn, and does not keep everyone awake.
  std::erase_if(filling, [this](std::uint64_t id) { return !can_take_rows(id); });
  const bool hurries = is_busy();
  const std::size_t rows_max = hurries ? share_step(filling) : options_.backfill_rows;
  for (const std::uint64_t id : filling) {
    if (cycle.holds(id)) continue;
    const std::size_t rows = flows_.at(id).filling.piece_size.at_most(rows_max);
    const auto read = co_await read_chunk(tables, id, rows, &cycle);
    if (!read) fail(cycle, id, read.error());
  }
  if (cycle.progress.empty()) {
    enter<Phase::advancing_backfill, Phase::idle>();
    co_return !wiping.empty();
  }
  WEIR_CO_TRY_VOID(co_await run_cycle(std::move(cycle)));
  if (hurries) adapt_step(now() - began);
  co_return true;
}

/// Whether someone follows changes, and waits for a step.
bool Coordinator::is_busy() const { return last_changes_ && now() - *last_changes_ < busy_for; }

/// Whether a step would bring it further: there are rows to take, or it is live with those it has.
bool Coordinator::can_take_rows(std::uint64_t id) const {
  const auto flow = flows_.find(id);
  if (flow == flows_.end() || !flow->second.is_running()) return false;
  Progress progress = flow->second.progress;
  settle(progress, *flow->second.definition);
  return !progress.has_all_rows() || progress.phase == ViewPhase::live;
}

/// Those whose turn it is, and how many rows each of them takes: all share what may be taken at
/// once. If that is too little for all, the others are next.
std::size_t Coordinator::share_step(std::vector<std::uint64_t>& filling) {
  const std::size_t several = std::max<std::size_t>(step_rows_ / chunk_rows_min, 1);
  if (filling.empty()) return 0;
  if (several < filling.size()) {
    const auto next = std::ranges::upper_bound(filling, last_filled_);
    std::ranges::rotate(filling, next);
    filling.resize(several);
    last_filled_ = filling.back();
    // Sources before those who read them.
    std::ranges::sort(filling);
  }
  return std::clamp<std::size_t>(step_rows_ / filling.size(), 1, options_.backfill_rows);
}

/// Live views wait as long as a step takes. What a cycle of theirs takes as well, the disk for
/// instance, does not become less by taking fewer rows.
void Coordinator::adapt_step(Duration step) {
  const Duration limit = options_.backfill_step + 2 * cycle_time_;
  const double fits = static_cast<double>(limit.count()) / static_cast<double>(step.count() + 1);
  // Down at once, and up bit by bit.
  const double rows = static_cast<double>(step_rows_) * std::clamp(fits, 0.5, 1.25);
  step_rows_ = std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(rows)), chunk_rows_min,
                                       std::max(options_.backfill_rows, chunk_rows_min));
}

/// The next rows of the first source that is not done.
Task<Result<>> Coordinator::read_chunk(const storage::ReadTransaction& tables, std::uint64_t id,
                                       std::size_t rows_max, Cycle* cycle) {
  const FlowDefinitionRef definition = flows_.at(id).definition;
  Progress progress = flows_.at(id).progress;
  const auto source = std::ranges::find(progress.backfill, false, &Backfill::is_done);
  if (source != progress.backfill.end()) {
    const auto index = static_cast<std::size_t>(source - progress.backfill.begin());
    const RelationRef relation = relations_.at(definition->sources()[index].relation);
    const bool is_view = flows_.contains(relation->id);
    const storage::ReadTransaction views = store_->read();
    const std::string before = source->until;
    auto taking = is_view ? take_rows(&views, relation, rows_max, &*source)
                          : take_on(tables, id, relation, rows_max, &*source);
    WEIR_CO_TRY(rows, co_await std::move(taking));
    progress.rows_taken += rows.size();
    if (!rows.is_empty()) {
      WEIR_CO_TRY_VOID(
          co_await estimate(id, progress, {relation, before, source->until, rows.size()}));
      cycle->chunks[id].push_back({index, relation, std::move(rows)});
    }
  }
  settle(progress, *definition);
  if (progress != flows_.at(id).progress) cycle->progress.insert_or_assign(id, std::move(progress));
  co_return {};
}

/// The next rows of a table. To find the place where it left off costs as much as to read many, and
/// a scan that is kept reads on while nobody waits for it.
Task<Result<data::ChangeBatch>> Coordinator::take_on(const storage::ReadTransaction& tables,
                                                     std::uint64_t id, RelationRef table,
                                                     std::size_t rows_max, Backfill* source) {
  std::unique_ptr<FlowEntry::Filling::Place> place = std::move(flows_.at(id).filling.place);
  const bool is_there = place && place->table == table && place->after == source->until &&
                        now() - place->opened < place_lifetime;
  if (!is_there) {
    WEIR_CO_TRY(reading, store_->read_at(tables.version()));
    auto scan = reading.scan(table->rows, rows_after(source->until));
    place = std::make_unique<FlowEntry::Filling::Place>(table, std::move(reading), std::move(scan),
                                                        now(), source->until);
  }
  WEIR_CO_TRY(rows, co_await take_rows(&place->scan, std::move(table), rows_max, source));
  place->after = source->until;
  const bool stays = !source->is_done && unsettled_.size() <= places_max;
  if (stays) flows_.at(id).filling.place = std::move(place);
  co_return rows;
}

/// A piece that gave too much is no failure: it is taken again in halves, and whatever belongs to
/// it in this cycle is as if it had not been run.
void Coordinator::size_pieces(Cycle& cycle, std::vector<FlowOutcome>& outcomes) {
  std::set<std::uint64_t> again;
  for (const FlowOutcome& outcome : outcomes) {
    const auto chunks = cycle.chunks.find(outcome.flow);
    if (outcome.result && chunks != cycle.chunks.end()) {
      flows_.at(outcome.flow).filling.piece_size.grow(chunks->second.front().batch.size());
    } else if (!outcome.result && outcome.result.error() == operators::Errc::too_large) {
      shrink_pieces(cycle, outcome.flow, again);
    }
  }
  if (again.empty()) return;
  add_related(outcomes, again);
  for (const std::uint64_t id : again) {
    if (!cycle.holds(id)) cycle.progress.erase(id);
    // What was counted of it comes again.
    flows_.at(id).filling.pieces = 0;
    flows_.at(id).filling.rows_since = 0;
  }
  for (FlowOutcome& outcome : outcomes)
    if (again.contains(outcome.flow))
      outcome.result = Error(weir::Errc::cancelled, "its rows are taken in smaller pieces");
}

/// Who reads one of them has what was made of it. And what one of them reads must not move on
/// alone: its changes reach their readers in this cycle or never.
void Coordinator::add_related(const std::vector<FlowOutcome>& outcomes,
                              std::set<std::uint64_t>& flows) const {
  for (std::size_t known = 0; known != flows.size();) {
    known = flows.size();
    for (const std::uint64_t id : std::set(flows))
      visit_readers(readers_, id,
                    [&](std::uint64_t reader) { return flows.insert(reader).second; });
    for (const FlowOutcome& outcome : outcomes) {
      const auto readers = readers_.find(outcome.flow);
      if (!outcome.result || readers == readers_.end()) continue;
      if (std::ranges::any_of(readers->second, [&](auto id) { return flows.contains(id); }))
        flows.insert(outcome.flow);
    }
  }
}

/// That of a flow, or those that came to it from what it reads. False if none can be smaller.
bool Coordinator::shrink_pieces(const Cycle& cycle, std::uint64_t id,
                                std::set<std::uint64_t>& again) {
  FlowEntry& flow = flows_.at(id);
  if (again.contains(id)) return true;
  const auto chunks = cycle.chunks.find(id);
  if (chunks != cycle.chunks.end() &&
      flow.filling.piece_size.shrink(chunks->second.front().batch.size())) {
    again.insert(id);
    return true;
  }
  bool have_shrunk = false;
  for (const SourceEntry& source : flow.definition->sources())
    if (flows_.contains(source.relation))
      have_shrunk |= shrink_pieces(cycle, source.relation, again);
  return have_shrunk;
}

/// Of those whose table is changed, or who stay behind while it may be.
void Coordinator::leave_places(const Cycle& cycle) {
  for (const std::uint64_t id : unsettled_) {
    FlowEntry& flow = flows_.at(id);
    if (!flow.filling.place) continue;
    const auto is_changed = [&](const RelationChanges& changes) {
      return changes.relation->id == flow.filling.place->table->id;
    };
    if (!flow.is_running() || std::ranges::any_of(cycle.changes, is_changed))
      flow.filling.place.reset();
  }
}

/// From time to time: how many rows there may be, judged by the size of those that were taken.
Task<Result<>> Coordinator::estimate(std::uint64_t id, Progress progress, Piece piece) {
  FlowEntry& flow = flows_.at(id);
  if (flow.filling.pieces++ == 0) {
    flow.filling.began = now();
    flow.filling.rows_before = flow.progress.rows_taken;
    flow.filling.estimated_after = piece.after;
  }
  flow.filling.rows_since += piece.rows;
  const bool is_last = piece.until.empty();
  if (is_last && progress.has_all_rows()) flow.filling.rows_total = progress.rows_taken;
  if (!is_last && now() < flow.filling.next_estimate) co_return {};
  piece.after = std::exchange(flow.filling.estimated_after, piece.until);
  piece.rows = std::exchange(flow.filling.rows_since, 0);
  // The first one of another source tells more.
  flow.filling.next_estimate = is_last ? now() : now() + estimate_period;
  if (is_last) co_return {};
  std::vector<std::pair<RelationRef, storage::KeyRange<EncodedKey>>> left;
  for (std::size_t index = 0; index < progress.backfill.size(); ++index) {
    if (progress.backfill[index].is_done) continue;
    left.emplace_back(relations_.at(flow.definition->sources()[index].relation),
                      rows_after(progress.backfill[index].until));
  }
  auto ask = [store = store_, left = std::move(left), piece] {
    const auto taken =
        store->approximate_bytes(piece.relation->rows, rows_between(piece.after, piece.until));
    std::optional<std::uint64_t> bytes = 0;
    for (const auto& [relation, range] : left) {
      const auto more = store->approximate_bytes(relation->rows, range);
      bytes = bytes && more ? std::optional(*bytes + *more) : std::nullopt;
    }
    return bytes && taken && *taken > 0 ? *bytes * piece.rows / *taken : 0;
  };
  WEIR_CO_TRY(rows_left, co_await on_blocking_pool(std::move(ask)));
  flows_.at(id).filling.rows_total = rows_left > 0 ? progress.rows_taken + rows_left : 0;
  co_return {};
}

/// Live once it has all its rows, and what it reads is live: a view is not before those.
void Coordinator::settle(Progress& progress, const FlowDefinition& definition) const {
  if (!progress.has_all_rows()) return;
  const bool waits = std::ranges::any_of(definition.sources(), [&](const SourceEntry& entry) {
    const auto flow = flows_.find(entry.relation);
    if (flow == flows_.end())
      return is_followed_from_log(entry.relation) && !ready_.contains(entry.relation);
    return flow->second.progress.phase != ViewPhase::live ||
           flow->second.progress.behind.has_value();
  });
  if (waits) return;
  progress.phase = ViewPhase::live;
  // A tick that failed is still to come.
  if (progress.failed_in != FailedWork::tick) progress.forget_failure();
}

Task<Result<bool>> Coordinator::on(RebuildFlow rebuild) {
  if (!flows_.contains(rebuild.flow))
    co_return Error(Errc::unknown_relation, "view number " + std::to_string(rebuild.flow));
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
  const auto add = [&](std::uint64_t flow) {
    Progress progress = flows_.at(flow).progress;
    progress.is_wiping = true;
    progress.phase = ViewPhase::backfilling;
    progress.behind.reset();
    progress.skips_next = false;
    progress.forget_failure();
    cycle.progress.insert_or_assign(flow, std::move(progress));
  };
  add(id);
  visit_readers(readers_, id, [&](std::uint64_t reader) {
    if (flows_.at(reader).progress.phase == ViewPhase::quarantined) return false;
    add(reader);
    return true;
  });
}

/// Removes some rows and entries of state; the last step makes the flow new.
Task<Result<bool>> Coordinator::wipe_some(std::uint64_t id) {
  const FlowDefinitionRef definition = flows_.at(id).definition;
  auto transaction = store_->begin();
  WEIR_CO_TRY(is_last, co_await catalog_->clear_some(&transaction, definition->view));
  Progress progress = flows_.at(id).progress;
  if (is_last) {
    progress.is_wiping = false;
    progress.phase = ViewPhase::backfilling;
    progress.rows_taken = 0;
    progress.skipped = 0;
    progress.skipped_version = 0;
    progress.backfill.assign(definition->sources().size(), Backfill{});
  }
  put_progress(transaction, id, progress);
  transaction.set_origin("weir.flow");
  WEIR_CO_TRY(committed, co_await transaction.commit());
  flows_.at(id).committed = committed;
  flows_.at(id).progress = std::move(progress);
  flows_.at(id).filling = {};
  note_settled(id);
  if (is_last) WEIR_CO_TRY_VOID(co_await place(id, true));
  publish_with_readers(id);
  board_->publish();
  co_return true;
}

}  // namespace weir::flow::view::internal
