// How the coordinator runs a cycle: collect, plan, submit, commit.

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/coordinator.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view::internal {

namespace {

/// Positions that a restart may have to go through again although nothing came of them.
constexpr std::uint64_t checkpoint_lag_max = 1'000;

/// As a batch has them: an update is two.
std::uint64_t rows_of(const storage::SpaceChanges& changes) {
  std::uint64_t rows = 0;
  for (const storage::Change& change : changes)
    rows += change.kind == storage::ChangeKind::update ? 2 : 1;
  return rows;
}

}  // namespace

/// One cycle over the next records, none after `until`. False if there are none.
Task<Result<bool>> Coordinator::advance_log(std::optional<storage::Version> until) {
  storage::ReadLimits limits = options_.cycle;
  if (until) {
    if (position_ >= *until) co_return false;
    // There is one record for each version.
    limits.records_max =
        std::min<std::size_t>(limits.records_max, until->number - position_.number);
  }
  auto read = co_await store_->log().read(position_, limits);
  if (!read && reads_later()) co_return false;
  WEIR_CO_TRY(records, std::move(read));
  read_failures_ = 0;
  if (records.empty()) co_return false;

  auto consuming = begin_consuming(records);
  enter<Phase::registering_flows>();
  for (const storage::ChangeRecord& record : records)
    WEIR_CO_TRY_VOID(co_await apply_catalog(record));
  enter<Phase::registering_flows, Phase::submitting_batches>();
  WEIR_CO_TRY(cycle, collect(records));
  if (records.size() > 1 && needs_each_version(cycle)) {
    WEIR_CO_TRY(first, collect(std::span(records).first(1)));
    cycle = std::move(first);
  }
  const bool is_followed = has_live_reader(cycle);
  const TimePoint began = now();
  if (is_followed) last_changes_ = began;
  consuming.set({"flow.batches", static_cast<std::int64_t>(cycle.changes.size())});
  consuming.set({"flow.version.last", static_cast<std::int64_t>(cycle.position.number)});
  for (const auto& [relation, error] : cycle.unreadable) fail_readers(cycle, relation, error);
  WEIR_CO_TRY_VOID(co_await run_cycle(std::move(cycle)));
  if (is_followed) note_cycle_time(now() - began);
  co_return true;
}

/// The changes of relations that someone reads, by relation. Those of views that flows keep are
/// left out: they reach their readers in the cycle that makes them.
Result<Coordinator::Cycle> Coordinator::collect(
    std::span<const storage::ChangeRecord> records) const {
  auto filtering = span("flow.coordinator.filter");
  std::size_t changes_in = 0;
  Cycle cycle{.position = records.back().version()};
  std::map<std::uint64_t, data::BatchBuilder> builders;
  for (const storage::ChangeRecord& record : records) {
    for (const storage::SpaceChanges& changes : record.spaces()) {
      changes_in += changes.size();
      const auto known = by_space_.find(changes.space());
      if (known == by_space_.end() || flows_.contains(known->second)) continue;
      cycle.rows[known->second] += rows_of(changes);
      const auto readers = readers_.find(known->second);
      if (readers == readers_.end() || readers->second.empty()) continue;
      const RelationInfo& relation = *relations_.at(known->second);
      data::BatchBuilder& builder =
          builders.try_emplace(relation.id, relation.format.schema()).first->second;
      auto decoded = decode_changes(relation, record, builder);
      if (!decoded) cycle.unreadable.try_emplace(relation.id, std::move(decoded).error());
    }
  }
  std::size_t rows_out = 0;
  for (auto& [id, builder] : builders) {
    if (cycle.unreadable.contains(id)) continue;
    rows_out += builder.size();
    cycle.changes.push_back({relations_.at(id), builder.finish()});
  }
  if (auto noted = note_ready(cycle, records); !noted) return std::move(noted).error();
  filtering.set({"flow.changes.in", static_cast<std::int64_t>(changes_in)});
  filtering.set({"flow.rows.out", static_cast<std::int64_t>(rows_out)});
  return cycle;
}

/// One that was held up by something else says little.
void Coordinator::note_cycle_time(Duration took) {
  if (cycle_time_ > Duration::zero()) took = std::min(took, 4 * cycle_time_);
  cycle_time_ += cycle_time_ > Duration::zero() ? (took - cycle_time_) / 8 : took;
}

/// Whether a live view waits for what is done with the changes.
bool Coordinator::has_live_reader(const Cycle& cycle) const {
  const auto is_live = [this](std::uint64_t reader) {
    const FlowEntry& flow = flows_.at(reader);
    return flow.is_running() && flow.progress.phase == ViewPhase::live;
  };
  return std::ranges::any_of(cycle.changes, [&](const RelationChanges& changes) {
    const auto readers = readers_.find(changes.relation->id);
    return readers != readers_.end() && std::ranges::any_of(readers->second, is_live);
  });
}

/// Whether one of the flows that the changes reach must see them commit by commit.
bool Coordinator::needs_each_version(const Cycle& cycle) const {
  for (const auto& share : plan_tasks(cycle))
    for (const FlowTask& task : share)
      if (flows_.at(task.flow).traits.needs_each_version) return true;
  return false;
}

/// Whether the flow is taking the rows that were there before it, if that matters to it. It has
/// them all when it is live, not before: those that it reads may be taking theirs.
Flow::Filling Coordinator::filling_of(const FlowEntry& flow, const Cycle& cycle) {
  if (!flow.traits.needs_each_version) return Flow::Filling::none;
  if (flow.progress.phase != ViewPhase::backfilling) {
    return flow.progress.has_all_rows() ? Flow::Filling::none : Flow::Filling::begun;
  }
  const auto moved = cycle.progress.find(flow.definition->id());
  const bool ends = moved != cycle.progress.end() && moved->second.phase == ViewPhase::live;
  return ends ? Flow::Filling::ended : Flow::Filling::begun;
}

/// For each worker, what it has to do: the flows that are touched, and those who read their views.
std::vector<std::vector<FlowTask>> Coordinator::plan_tasks(const Cycle& cycle) const {
  std::set<std::uint64_t> touched;
  for (const auto& [relation, batch] : cycle.changes) touched.insert(relation->id);
  std::vector<std::vector<FlowTask>> tasks(options_.workers);
  // Ids grow, so whatever a flow reads comes before it.
  std::set<std::uint64_t> flows;
  for (const auto& [id, chunks] : cycle.chunks) flows.insert(id);
  flows.insert(cycle.ticks.begin(), cycle.ticks.end());
  for (const auto& [id, progress] : cycle.progress)
    if (filling_of(flows_.at(id), cycle) == Flow::Filling::ended) flows.insert(id);
  for (const std::uint64_t id : touched)
    if (const auto readers = readers_.find(id); readers != readers_.end())
      flows.insert(readers->second.begin(), readers->second.end());
  for (auto at = flows.begin(); at != flows.end(); ++at) {
    const FlowEntry& flow = flows_.at(*at);
    if (cycle.holds(*at) || (!flow.is_running() && !cycle.missed.contains(*at))) continue;
    FlowTask task{.flow = *at, .backfill = flow.progress.backfill};
    if (const auto moved = cycle.progress.find(*at); moved != cycle.progress.end())
      task.backfill = moved->second.backfill;
    if (const auto chunks = cycle.chunks.find(*at); chunks != cycle.chunks.end())
      task.chunks = chunks->second;
    if (cycle.ticks.contains(*at)) task.tick = store_->time();
    task.filling = filling_of(flow, cycle);
    tasks[flow.worker].push_back(std::move(task));
    if (const auto readers = readers_.find(*at); readers != readers_.end())
      flows.insert(readers->second.begin(), readers->second.end());
  }
  return tasks;
}

Task<Result<>> Coordinator::run_cycle(Cycle cycle) {
  const TimePoint began = now();
  leave_places(cycle);
  auto tasks = route(cycle);
  std::vector<FlowOutcome> outcomes;
  if (std::ranges::any_of(tasks, [](const auto& share) { return !share.empty(); })) {
    if (phase() != Phase::submitting_batches) enter<Phase::submitting_batches>();
    auto changes = std::make_shared<const std::vector<RelationChanges>>(std::move(cycle.changes));
    WEIR_CO_TRY(given,
                co_await pool_.ask<Submit>(std::move(changes), std::move(tasks)).within(forever));
    outcomes = std::move(given);
  }
  note_outcomes(cycle, outcomes);
  enter<Phase::committing>();
  auto committed = co_await commit(cycle, outcomes);
  auto ended = std::make_shared<std::set<std::uint64_t>>();
  if (committed) {
    for (const FlowOutcome& outcome : outcomes)
      if (outcome.result) ended->insert(outcome.flow);
  }
  if (!outcomes.empty()) static_cast<void>(co_await pool_.deliver<EndCycle>(std::move(ended)));
  enter<Phase::committing, Phase::idle>();
  if (!committed) co_return std::move(committed).error();
  position_ = cycle.position;
  for (const auto& [id, is_ready] : cycle.ready)
    is_ready ? void(ready_.insert(id)) : void(ready_.erase(id));
  count(cycle, outcomes, now() - began);
  // Who has failed is not live any more before the others are seen to have moved on.
  take_progress(cycle.progress);
  board_->set_position(position_);
  board_->publish();
  co_return {};
}

/// Rows, state, progress and position of all flows that moved, or nothing at all.
Task<Result<>> Coordinator::commit(const Cycle& cycle, const std::vector<FlowOutcome>& outcomes) {
  auto transaction = store_->begin();
  bool has_writes = false;
  for (const FlowOutcome& outcome : outcomes) {
    if (!outcome.result) continue;
    has_writes |= write_result(transaction, *flows_.at(outcome.flow).definition, *outcome.result);
  }
  for (const auto& [id, progress] : cycle.progress) {
    has_writes = true;
    put_progress(transaction, id, progress);
  }
  const bool is_far = cycle.position.number - checkpoint_.number >= checkpoint_lag_max;
  if (!has_writes && !is_far) co_return {};
  if (cycle.position > checkpoint_) transaction.set_checkpoint("weir.flow", cycle.position);
  transaction.put(catalog_->ready(), Catalog::position_key, cycle.position.number);
  transaction.set_origin("weir.flow");
  WEIR_CO_TRY(committed, co_await transaction.commit());
  for (const FlowOutcome& outcome : outcomes)
    if (outcome.result) flows_.at(outcome.flow).committed = committed;
  checkpoint_ = cycle.position;
  co_return {};
}

/// With it, whether the view may be read, and what of the log must be kept for it.
void Coordinator::put_progress(storage::Transaction& transaction, std::uint64_t id,
                               const Progress& progress) const {
  transaction.put(catalog_->progress(), id, progress);
  const auto is_ready = [](const Progress& of) {
    return of.phase == ViewPhase::live && !of.behind;
  };
  // What is not there is looked for on disk, and a view that is backfilling comes here often.
  if (is_ready(progress) != is_ready(flows_.at(id).progress))
    set_ready(transaction, id, is_ready(progress));
  const auto& before = flows_.at(id).progress.behind;
  if (progress.behind && (!before || progress.behind->first() > before->first())) {
    transaction.set_checkpoint(Catalog::checkpoint_of(id), {progress.behind->first()});
  } else if (!progress.behind && before) {
    transaction.forget_checkpoint(Catalog::checkpoint_of(id));
  }
}

/// Whether readers of this version and later ones may see the view.
void Coordinator::set_ready(storage::Transaction& transaction, std::uint64_t id,
                            bool is_ready) const {
  if (is_ready) {
    transaction.put(catalog_->ready(), id, 1);
  } else {
    transaction.remove(catalog_->ready(), id);
  }
}

void Coordinator::take_progress(const std::map<std::uint64_t, Progress>& progress) {
  for (const auto& [id, now] : progress) {
    log_progress(id, now);
    flows_.at(id).progress = now;
    note_settled(id);
  }
  for (const auto& [id, now] : progress) publish_with_readers(id);
}

/// What becomes of flows without a cycle.
Task<Result<>> Coordinator::commit_progress(Cycle cycle) {
  WEIR_CO_TRY_VOID(co_await commit(cycle, {}));
  take_progress(cycle.progress);
  board_->publish();
  co_return {};
}

Task<> Coordinator::on(Tick) {
  if (is_closing_) co_return;
  static_cast<void>(fails(co_await run_ticks()));
}

/// All flows whose time has come, in a cycle of their own. One that fails stays due; one that was
/// late is next due when it would have been anyway.
Task<Result<>> Coordinator::run_ticks() {
  Cycle cycle{.work = FailedWork::tick, .position = position_};
  for (const auto& [id, flow] : flows_) {
    if (!flow.is_running() || !flow.traits.tick_period || flow.next_tick > now()) continue;
    cycle.ticks.insert(id);
  }
  const std::set<std::uint64_t> due = cycle.ticks;
  if (!due.empty()) {
    enter<Phase::ticking>();
    WEIR_CO_TRY_VOID(co_await run_cycle(std::move(cycle)));
  }
  for (const std::uint64_t id : due) {
    const auto at = flows_.find(id);
    if (at == flows_.end() || !at->second.is_running()) continue;
    FlowEntry& flow = at->second;
    const auto missed = (now() - flow.next_tick) / *flow.traits.tick_period;
    flow.next_tick += (missed + 1) * *flow.traits.tick_period;
  }
  arm_tick();
  co_return {};
}

void Coordinator::arm_tick() {
  std::optional<TimePoint> first;
  for (const auto& [id, flow] : flows_) {
    if (!flow.is_running() || !flow.traits.tick_period) continue;
    if (!first || flow.next_tick < *first) first = flow.next_tick;
  }
  tick_timer_.cancel();
  if (first)
    tick_timer_ = schedule_once<Tick>(std::max<Duration>(*first - now(), Duration::zero()));
}

}  // namespace weir::flow::view::internal
