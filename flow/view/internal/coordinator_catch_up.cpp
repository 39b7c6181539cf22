// How flows that stayed behind take what they have missed.

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/coordinator.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>

namespace weir::flow::view::internal {

/// One step for each flow that is behind and may move: changes that the others have seen. False if
/// there are none. What such a flow gives is committed and is in the log, where those find it who
/// read its view and stayed behind with it.
Task<Result<bool>> Coordinator::advance_behind() {
  // Those that are at one place read the log once.
  std::map<std::pair<LogCursor, bool>, std::vector<std::uint64_t>> moving;
  for (const std::uint64_t id : unsettled_) {
    const FlowEntry& flow = flows_.at(id);
    const Progress& progress = flow.progress;
    const bool may_move = flow.is_placed && progress.behind && !progress.is_wiping &&
                          progress.phase == ViewPhase::catching_up && waits_for(id) == id;
    if (!may_move) continue;
    // Up to where it failed version by version, so that it is known which one it is.
    const bool one_by_one = flow.traits.needs_each_version || progress.skips_next ||
                            !has_passed(*progress.behind, progress.failed_until);
    moving[{*progress.behind, one_by_one}].push_back(id);
  }
  if (moving.empty()) co_return false;
  auto advancing = span("flow.coordinator.catch_up");
  enter<Phase::catching_up>();
  Cycle cycle{.position = position_};
  for (auto& [where, flows] : moving)
    WEIR_CO_TRY_VOID(co_await read_missed(where.first, where.second, std::move(flows), &cycle));
  if (cycle.progress.empty()) {
    enter<Phase::catching_up, Phase::idle>();
    co_return true;
  }
  WEIR_CO_TRY_VOID(co_await run_cycle(std::move(cycle)));
  arm_tick();
  co_return true;
}

bool Coordinator::has_passed(LogCursor cursor, std::uint64_t version) const {
  return cursor.views >= version && cursor.tables >= std::min(version, position_.number);
}

/// The next records for flows that are at one place.
Task<Result<>> Coordinator::read_missed(LogCursor from, bool one_by_one,
                                        std::vector<std::uint64_t> flows, Cycle* cycle) {
  storage::ReadLimits limits = options_.cycle;
  if (one_by_one) limits.records_max = 1;
  // Of tables there is no more to take than the others have; views may be ahead in the log.
  const std::uint64_t first = from.tables < position_.number ? from.tables : from.views;
  auto records = co_await store_->log().read(storage::Version{first}, limits);
  if (!records && records.error() == storage::Errc::overtaken) {
    for (const std::uint64_t id : flows) WEIR_CO_TRY_VOID(co_await begin_anew(id));
    co_return {};
  }
  if (!records) {
    // The others have read it, or have it still before them.
    for (const std::uint64_t id : flows) fail(*cycle, id, records.error());
    co_return {};
  }
  const std::uint64_t last = records->empty() ? first : records->back().version().number;
  const Missed missed{
      .from = from,
      .to = {std::max(from.tables, std::min(last, position_.number)), std::max(from.views, last)},
      .versions = {first, last},
      .records = *records};
  for (const std::uint64_t id : flows) take_missed(id, missed, *cycle);
  co_return {};
}

void Coordinator::take_missed(std::uint64_t id, const Missed& missed, Cycle& cycle) {
  FlowEntry& flow = flows_.at(id);
  Progress progress = flow.progress;
  progress.behind = missed.to;
  if (progress.failed_in == FailedWork::changes && has_passed(missed.to, progress.failed_until))
    progress.forget_failure();
  const bool is_there = has_caught_up(flow, missed.to);
  if (is_there) {
    progress.behind.reset();
    progress.skips_next = false;
    progress.phase = ViewPhase::backfilling;
    settle(progress, *flow.definition);
  }
  auto changes = collect_missed(flow, missed);
  if (changes && changes->empty() && !is_there) {
    // There was nothing for it: that need not be remembered.
    flow.progress = std::move(progress);
    return;
  }
  cycle.progress.insert_or_assign(id, std::move(progress));
  cycle.missed.insert_or_assign(id, missed.versions);
  if (changes) {
    cycle.chunks.insert_or_assign(id, *std::move(changes));
  } else if (!skip(cycle, id)) {
    fail(cycle, id, changes.error());
    cycle.missed.erase(id);
  }
}

/// Whether there is nothing left of what it reads that the others have seen.
bool Coordinator::has_caught_up(const FlowEntry& flow, LogCursor cursor) const {
  if (cursor.tables < position_.number) return false;
  return std::ranges::all_of(flow.definition->sources(), [&](const SourceEntry& source) {
    const auto other = flows_.find(source.relation);
    return other == flows_.end() || cursor.views >= other->second.committed.number;
  });
}

/// What the records bring of each source that the flow has not seen.
Result<std::vector<FlowTask::Chunk>> Coordinator::collect_missed(const FlowEntry& flow,
                                                                 const Missed& missed) const {
  std::vector<FlowTask::Chunk> chunks;
  const auto& sources = flow.definition->sources();
  for (std::size_t index = 0; index < sources.size(); ++index) {
    const RelationRef relation = relations_.at(sources[index].relation);
    // Transactional views change with their tables.
    const bool is_view = flows_.contains(relation->id);
    data::BatchBuilder builder(relation->format.schema());
    for (const storage::ChangeRecord& record : missed.records) {
      const std::uint64_t version = record.version().number;
      const bool is_missed = is_view ? version > missed.from.views
                                     : version > missed.from.tables && version <= position_.number;
      if (!is_missed) continue;
      if (auto decoded = decode_changes(*relation, record, builder); !decoded)
        return std::move(decoded).error();
    }
    if (builder.size() > 0) chunks.push_back({index, relation, builder.finish(), true});
  }
  return chunks;
}

}  // namespace weir::flow::view::internal
