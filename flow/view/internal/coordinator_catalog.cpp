// How the coordinator learns of relations and flows.

#include <algorithm>
#include <functional>
#include <ranges>
#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/coordinator.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view::internal {

Task<Result<>> Coordinator::load_catalog() {
  pool_ = spawn<Pool>({.name = "pool"}, store_, options_.flow, options_.workers);
  WEIR_CO_TRY_VOID(co_await begin_position());
  auto reading = store_->read();
  catalog_version_ = reading.version();
  auto scan = reading.scan(catalog_->relations());
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    WEIR_CO_TRY_VOID(co_await set_relation(row->key, std::move(row->value)));
  }
  auto ready = reading.scan(catalog_->ready());
  for (;;) {
    WEIR_CO_TRY(row, co_await ready.next());
    if (!row) break;
    if (is_followed_from_log(row->key)) ready_.insert(row->key);
  }
  co_return {};
}

/// Where it left off; a new one begins here, and says so, so that the log is kept for it.
Task<Result<>> Coordinator::begin_position() {
  auto transaction = store_->begin();
  WEIR_CO_TRY(checkpoint, co_await transaction.checkpoint("weir.flow"));
  position_ = checkpoint ? checkpoint->version : transaction.version();
  if (!checkpoint) {
    transaction.set_checkpoint("weir.flow", position_);
    WEIR_CO_TRY_VOID(co_await transaction.commit());
  }
  checkpoint_ = position_;
  co_return {};
}

Task<Result<>> Coordinator::apply_catalog(const storage::ChangeRecord& record) {
  if (record.version() <= catalog_version_) co_return {};
  for (const storage::Change& change : record.of(catalog_->relations().id())) {
    auto decoded = catalog_->relations().decode(change);
    if (!decoded) co_return std::move(decoded).error();
    if (!decoded->after) {
      remove_relation(decoded->key);
      continue;
    }
    WEIR_CO_TRY_VOID(co_await set_relation(decoded->key, *std::move(decoded->after)));
  }
  co_return {};
}

Task<Result<>> Coordinator::set_relation(std::uint64_t id, RelationEntry entry) {
  const auto known = relations_.find(id);
  if (known != relations_.end() && known->second->entry == entry) co_return {};
  WEIR_CO_TRY(info, co_await catalog_->load(id, std::move(entry)));
  relations_.insert_or_assign(id, info);
  by_space_.insert_or_assign(info->rows.id(), id);
  if (info->entry.kind != RelationKind::view || info->entry.is_transactional()) co_return {};
  const auto flow = flows_.find(id);
  if (flow == flows_.end()) co_return co_await add_flow(std::move(info));
  // It has got another name.
  WEIR_CO_TRY(definition, make_definition(std::move(info)));
  flow->second.definition = std::move(definition);
  publish(id);
  co_return {};
}

void Coordinator::remove_relation(std::uint64_t id) {
  const auto at = relations_.find(id);
  if (at == relations_.end()) return;
  by_space_.erase(at->second->rows.id());
  relations_.erase(at);
  ready_.erase(id);
  board_->forget_rows(id);
  const auto flow = flows_.find(id);
  if (flow == flows_.end()) return;
  for (const SourceEntry& source : flow->second.definition->sources())
    readers_[source.relation].erase(id);
  static_cast<void>(pool_.send<DisplaceFlow>(flow->second.worker, id));
  flows_.erase(flow);
  unsettled_.erase(id);
  board_->erase(id);
}

Task<Result<>> Coordinator::add_flow(RelationRef view) {
  const std::uint64_t id = view->id;
  auto definition = make_definition(std::move(view));
  if (!definition) co_return co_await give_up(id, definition.error().message());
  FlowEntry flow{.definition = *std::move(definition), .committed = store_->version()};
  auto transaction = store_->begin();
  WEIR_CO_TRY(progress, co_await transaction.get(catalog_->progress(), id));
  flow.progress = progress.value_or(Progress{});
  flow.progress.backfill.resize(flow.definition->sources().size());
  for (const SourceEntry& source : flow.definition->sources()) readers_[source.relation].insert(id);
  flows_.insert_or_assign(id, std::move(flow));
  note_settled(id);
  WEIR_CO_TRY_VOID(co_await choose_workers());
  if (!flows_.at(id).is_placed) WEIR_CO_TRY_VOID(co_await place(id, !progress.has_value()));
  for (const SourceEntry& source : flows_.at(id).definition->sources()) {
    if (is_lost(source.relation))
      WEIR_CO_TRY_VOID(co_await quarantine(id, "its source '" + source.name + "' cannot be read"));
  }
  publish(id);
  co_return {};
}

/// A view without a flow, or nothing at all.
bool Coordinator::is_lost(std::uint64_t id) const {
  const auto relation = relations_.find(id);
  return relation == relations_.end() || (relation->second->entry.kind == RelationKind::view &&
                                          !flows_.contains(id) && !is_followed_from_log(id));
}

/// Transactional views are like tables here: others write them.
bool Coordinator::is_followed_from_log(std::uint64_t id) const {
  const auto relation = relations_.find(id);
  return relation != relations_.end() && relation->second->entry.is_transactional();
}

/// A transactional view that nobody may see: whoever reads it follows, but is not seen either until
/// it is there again.
void Coordinator::hide_readers(Cycle& cycle, std::uint64_t id) const {
  visit_readers(readers_, id, [&](std::uint64_t reader) {
    Progress hidden = flows_.at(reader).progress;
    if (hidden.phase != ViewPhase::live) return false;
    hidden.phase = ViewPhase::backfilling;
    cycle.progress.insert_or_assign(reader, std::move(hidden));
    return true;
  });
}

/// Which transactional views may be seen, as of these records.
Result<> Coordinator::note_ready(Cycle& cycle,
                                 std::span<const storage::ChangeRecord> records) const {
  for (const storage::ChangeRecord& record : records) {
    for (const storage::Change& change : record.of(catalog_->ready().id())) {
      auto decoded = catalog_->ready().decode(change);
      if (!decoded) return std::move(decoded).error();
      if (!is_followed_from_log(decoded->key)) continue;
      cycle.ready.insert_or_assign(decoded->key, decoded->after.has_value());
      if (!decoded->after) hide_readers(cycle, decoded->key);
    }
  }
  return {};
}

/// A view whose query cannot be read: it is not seen any more, and can only be dropped.
Task<Result<>> Coordinator::give_up(std::uint64_t id, std::string error) {
  auto transaction = store_->begin();
  set_ready(transaction, id, false);
  transaction.set_origin("weir.flow");
  WEIR_CO_TRY_VOID(co_await transaction.commit());
  board_->set(id, {.name = relations_.at(id)->entry.name,
                   .phase = ViewPhase::quarantined,
                   .error = std::move(error),
                   .is_stopped = true});
  co_return {};
}

Task<Result<>> Coordinator::place(std::uint64_t id, bool is_new) {
  FlowEntry& flow = flows_.at(id);
  const auto placed =
      co_await pool_.ask<PlaceFlow>(flow.worker, flow.definition, is_new).within(forever);
  note_answer(flow, placed);
  if (placed) {
    // One that was due when it failed is due when it has recovered. One that was there before the
    // database was opened may have been due long ago.
    if (flow.traits.tick_period && flow.next_tick == TimePoint{})
      flow.next_tick = is_new ? now() + *flow.traits.tick_period : now();
    arm_tick();
  } else {
    co_return co_await fail_to_place(id, placed.error());
  }
  co_return {};
}

std::size_t Coordinator::freest_worker(const std::vector<std::size_t>& load) const {
  const auto workers = std::views::iota(std::size_t{0}, load.size());
  return *std::ranges::min_element(workers, {}, [&](std::size_t worker) {
    return std::pair(late_workers_.contains(worker), load[worker]);
  });
}

/// Flows that read each other's views are on one worker, so that a chain needs no second round.
Task<Result<>> Coordinator::choose_workers() {
  std::map<std::uint64_t, std::uint64_t> parents;
  const std::function<std::uint64_t(std::uint64_t)> root = [&](std::uint64_t id) {
    const auto at = parents.find(id);
    return at == parents.end() ? id : root(at->second);
  };
  for (const auto& [id, flow] : flows_) {
    for (const SourceEntry& source : flow.definition->sources()) {
      if (!flows_.contains(source.relation)) continue;
      const std::uint64_t a = root(id);
      const std::uint64_t b = root(source.relation);
      if (a != b) parents[std::max(a, b)] = std::min(a, b);
    }
  }
  // A component stays where its first flow is; a new one goes where there is least, and not to one
  // that has not answered.
  std::vector<std::size_t> load(options_.workers);
  for (const auto& [id, flow] : flows_)
    if (flow.is_placed) ++load[flow.worker];
  for (auto& [id, flow] : flows_) {
    const std::uint64_t first = root(id);
    const bool is_new = first == id && !flow.is_placed;
    const std::size_t worker = first != id ? flows_.at(first).worker
                               : is_new    ? freest_worker(load)
                                           : flow.worker;
    if (flow.is_placed && worker != flow.worker) {
      static_cast<void>(co_await pool_.deliver<DisplaceFlow>(flow.worker, id));
      flow.worker = worker;
      WEIR_CO_TRY_VOID(co_await place(id, false));
    }
    flow.worker = worker;
    if (is_new) ++load[worker];
  }
  co_return {};
}

}  // namespace weir::flow::view::internal
