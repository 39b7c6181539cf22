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
  WEIR_CO_TRY(records, co_await store_->log().read(position_, limits));
  if (records.empty()) co_return false;

  enter<Phase::registering_flows>();
  for (const storage::ChangeRecord& record : records)
    WEIR_CO_TRY_VOID(co_await apply_catalog(record));
  enter<Phase::registering_flows, Phase::submitting_batches>();
  WEIR_CO_TRY(cycle, collect(records));
  if (records.size() > 1 && needs_each_version(cycle)) {
    WEIR_CO_TRY(first, collect(std::span(records).first(1)));
    cycle = std::move(first);
  }
  WEIR_CO_TRY_VOID(co_await run_cycle(std::move(cycle)));
  co_return true;
}

/// The changes of relations that someone reads, by relation. Those of views that flows keep are
/// left out: they reach their readers in the cycle that makes them.
Result<Coordinator::Cycle> Coordinator::collect(
    std::span<const storage::ChangeRecord> records) const {
  auto collecting = span("flow.coordinator.route_and_group");
  Cycle cycle{.position = records.back().version()};
  std::map<std::uint64_t, data::BatchBuilder> builders;
  for (const storage::ChangeRecord& record : records) {
    for (const storage::SpaceChanges& changes : record.spaces()) {
      const auto known = by_space_.find(changes.space());
      if (known == by_space_.end() || flows_.contains(known->second)) continue;
      const auto readers = readers_.find(known->second);
      if (readers == readers_.end() || readers->second.empty()) continue;
      const RelationInfo& relation = *relations_.at(known->second);
      data::BatchBuilder& builder =
          builders.try_emplace(relation.id, relation.format.schema()).first->second;
      for (const storage::Change& change : changes) {
        if (auto decoded = decode_change(relation, change, builder); !decoded) {
          return Error(decoded.error().code(), "change log: version " +
                                                   std::to_string(record.version().number) + ": " +
                                                   decoded.error().detail());
        }
      }
    }
  }
  for (auto& [id, builder] : builders)
    cycle.changes.push_back({relations_.at(id), builder.finish()});
  if (auto noted = note_ready(cycle, records); !noted) return std::move(noted).error();
  return cycle;
}

/// Whether one of the flows that the changes reach must see them commit by commit.
bool Coordinator::needs_each_version(const Cycle& cycle) const {
  for (const auto& share : plan_tasks(cycle))
    for (const FlowTask& task : share)
      if (flows_.at(task.flow).traits.needs_each_version) return true;
  return false;
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
  for (const std::uint64_t id : touched)
    if (const auto readers = readers_.find(id); readers != readers_.end())
      flows.insert(readers->second.begin(), readers->second.end());
  for (auto at = flows.begin(); at != flows.end(); ++at) {
    const FlowEntry& flow = flows_.at(*at);
    if (!flow.is_running()) continue;
    FlowTask task{.flow = *at, .backfill = flow.progress.backfill};
    if (const auto moved = cycle.progress.find(*at); moved != cycle.progress.end())
      task.backfill = moved->second.backfill;
    if (const auto chunks = cycle.chunks.find(*at); chunks != cycle.chunks.end())
      task.chunks = chunks->second;
    if (cycle.ticks.contains(*at)) task.tick = store_->time();
    tasks[flow.worker].push_back(std::move(task));
    if (const auto readers = readers_.find(*at); readers != readers_.end())
      flows.insert(readers->second.begin(), readers->second.end());
  }
  return tasks;
}

Task<Result<>> Coordinator::run_cycle(Cycle cycle) {
  auto tasks = plan_tasks(cycle);
  std::vector<FlowOutcome> outcomes;
  if (std::ranges::any_of(tasks, [](const auto& share) { return !share.empty(); })) {
    if (phase() != Phase::submitting_batches) enter<Phase::submitting_batches>();
    auto changes = std::make_shared<const std::vector<RelationChanges>>(std::move(cycle.changes));
    WEIR_CO_TRY(given,
                co_await pool_.ask<Submit>(std::move(changes), std::move(tasks)).within(forever));
    outcomes = std::move(given);
  }
  note_failures(cycle, outcomes);
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
  board_->set_position(position_);
  take_progress(cycle.progress);
  board_->publish();
  co_return {};
}

/// Rows, state, progress and position of all flows that moved, or nothing at all.
Task<Result<>> Coordinator::commit(const Cycle& cycle, const std::vector<FlowOutcome>& outcomes) {
  auto transaction = store_->begin();
  bool has_writes = false;
  for (const FlowOutcome& outcome : outcomes) {
    if (!outcome.result) continue;
    has_writes |= write_result(transaction, catalog_->state(), *flows_.at(outcome.flow).definition,
                               *outcome.result);
  }
  for (const auto& [id, progress] : cycle.progress) {
    has_writes = true;
    transaction.put(catalog_->progress(), id, progress);
    set_ready(transaction, id, progress.phase == ViewPhase::live);
  }
  const bool is_far = cycle.position.number - checkpoint_.number >= checkpoint_lag_max;
  if (!has_writes && !is_far) co_return {};
  if (cycle.position > checkpoint_) transaction.set_checkpoint("weir.flow", cycle.position);
  transaction.put(catalog_->ready(), Catalog::position_key, cycle.position.number);
  transaction.set_origin("weir.flow");
  WEIR_CO_TRY_VOID(co_await transaction.commit());
  checkpoint_ = cycle.position;
  co_return {};
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
    flows_.at(id).progress = now;
    publish(id);
  }
}

void Coordinator::note_failures(Cycle& cycle, const std::vector<FlowOutcome>& outcomes) {
  for (const FlowOutcome& outcome : outcomes) {
    // One whose source failed waits for that one.
    if (outcome.result || outcome.result.error() == weir::Errc::cancelled) continue;
    fail(cycle, outcome.flow, outcome.result.error());
  }
}

void Coordinator::fail(Cycle& cycle, std::uint64_t id, const Error& error) {
  Progress failed = flows_.at(id).progress;
  ++failed.failures;
  failed.phase =
      failed.failures >= options_.failures_max ? ViewPhase::quarantined : ViewPhase::failing;
  failed.error =
      error.message() + ", in the input up to version " + std::to_string(cycle.position.number);
  if (failed.phase == ViewPhase::failing) {
    const unsigned doublings = std::min(failed.failures - 1, 20u);
    schedule_once<RetryFlow>(options_.retry_backoff * (1u << doublings), id);
  }
  cycle.progress.insert_or_assign(id, std::move(failed));
  hold_readers(cycle, id);
}

/// A flow that cannot be made, for instance since its operator is not registered.
Task<Result<>> Coordinator::quarantine(std::uint64_t id, std::string error) {
  Cycle cycle{.position = position_};
  Progress progress = flows_.at(id).progress;
  progress.phase = ViewPhase::quarantined;
  progress.failures = 0;
  progress.error = std::move(error);
  cycle.progress.insert_or_assign(id, std::move(progress));
  hold_readers(cycle, id);
  co_return co_await commit_progress(std::move(cycle));
}

/// What becomes of flows without a cycle.
Task<Result<>> Coordinator::commit_progress(Cycle cycle) {
  WEIR_CO_TRY_VOID(co_await commit(cycle, {}));
  take_progress(cycle.progress);
  board_->publish();
  co_return {};
}

/// Whoever reads a view that does not move cannot move either.
void Coordinator::hold_readers(Cycle& cycle, std::uint64_t id) {
  const auto readers = readers_.find(id);
  if (readers == readers_.end()) return;
  for (const std::uint64_t reader : readers->second) {
    Progress held = flows_.at(reader).progress;
    if (held.phase != ViewPhase::quarantined) held.phase = ViewPhase::failing;
    held.error = "its source '" + relations_.at(id)->entry.name + "' has failed";
    cycle.progress.insert_or_assign(reader, std::move(held));
    hold_readers(cycle, reader);
  }
}

Task<> Coordinator::on(Tick) {
  if (is_closing_) co_return;
  static_cast<void>(fails(co_await run_ticks()));
}

/// All flows whose time has come, in a cycle of their own. One that fails stays due; one that was
/// late is next due when it would have been anyway.
Task<Result<>> Coordinator::run_ticks() {
  Cycle cycle{.position = position_};
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
