// How transactional views are found, made and dropped.

#include <algorithm>
#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/transactional_flows.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view::internal {

Task<Result<bool>> TransactionalFlows::on(LoadViews) {
  WEIR_CO_TRY_VOID(co_await load());
  WEIR_CO_TRY_VOID(co_await recover());
  advance_soon();
  co_return true;
}

Task<Result<storage::Version>> TransactionalFlows::on(ChangeViews change) {
  if (broken_) co_return *broken_;
  const CancellationShield shield;
  auto changed = co_await change.change();
  if (changed) last_ = std::max(last_, *changed);
  // Also after an error: whether it was committed may not be known.
  if (auto loaded = co_await load(); breaks(loaded)) co_return loaded.error();
  advance_soon();
  co_return changed;
}

/// Those that are new, and those that are gone.
Task<Result<>> TransactionalFlows::load() {
  WEIR_CO_TRY_VOID(co_await reach_last());
  const auto reading = store_->read();
  auto scan = reading.scan(catalog_->relations());
  std::set<std::uint64_t> gone;
  for (const auto& [id, view] : views_) gone.insert(id);
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    if (!row->value.is_transactional() || gone.erase(row->key) > 0) continue;
    WEIR_CO_TRY_VOID(co_await add(row->key, std::move(row->value)));
  }
  for (const std::uint64_t id : gone) remove(id);
  board_->publish();
  co_return {};
}

Task<Result<>> TransactionalFlows::add(std::uint64_t id, RelationEntry entry) {
  WEIR_CO_TRY(info, co_await catalog_->load(id, std::move(entry)));
  auto transaction = store_->begin();
  WEIR_CO_TRY(progress, co_await transaction.get(catalog_->progress(), id));
  for (const SourceEntry& source : info->entry.sources) readers_[source.relation].insert(id);
  View& view = views_[id];
  view.progress = progress.value_or(Progress{});
  view.progress.backfill.resize(info->entry.sources.size());
  auto definition = make_definition(info);
  // One whose plan cannot be read still has a name and rows, and can be dropped.
  view.definition = definition
                        ? *std::move(definition)
                        : std::make_shared<const FlowDefinition>(FlowDefinition{
                              .view = info, .plan = operators::from("", info->format.schema())});
  Result<> made = definition ? Result<>() : Result<>(definition.error());
  if (made && !view.progress.is_wiping) made = make_flow(view, !progress.has_value());
  take({{id, view.progress}});
  if (!made) co_return co_await quarantine(id, made.error());
  co_return {};
}

Result<> TransactionalFlows::make_flow(View& view, bool is_new) {
  auto flow = Flow::make(view.definition, options_.flow,
                         FlowStateReader(store_, *view.definition->view->state), is_new);
  if (!flow) return std::move(flow).error();
  view.flow = *std::move(flow);
  return {};
}

void TransactionalFlows::remove(std::uint64_t id) {
  for (const SourceEntry& source : views_.at(id).definition->sources())
    readers_[source.relation].erase(id);
  views_.erase(id);
  board_->erase(id);
}

/// Views that had failed, or could not be made and now can, are built again; whoever reads one that
/// cannot waits for it.
Task<Result<>> TransactionalFlows::recover() {
  ProgressMap held;
  std::vector<std::uint64_t> anew;
  for (const auto& [id, view] : views_) {
    const bool could_not_be_made =
        view.progress.phase == ViewPhase::quarantined && view.progress.failures == 0;
    if (could_not_be_made && !view.flow) hold_readers(held, id);
    if (view.flow && (could_not_be_made || view.progress.phase == ViewPhase::failing))
      anew.push_back(id);
  }
  if (!held.empty()) WEIR_CO_TRY_VOID(co_await commit_progress(std::move(held)));
  for (const std::uint64_t id : anew) {
    // Not one that waits for another, nor one that came with another already.
    const auto& sources = views_.at(id).definition->sources();
    const bool waits = std::ranges::any_of(sources, [this](const SourceEntry& source) {
      const auto view = views_.find(source.relation);
      return view != views_.end() && view->second.progress.phase == ViewPhase::quarantined;
    });
    if (!waits && !views_.at(id).progress.is_wiping) WEIR_CO_TRY_VOID(co_await begin_anew(id));
  }
  co_return {};
}

}  // namespace weir::flow::view::internal
