#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/database_core.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view {

namespace {

using CatalogRef = std::shared_ptr<const internal::Catalog>;

ViewUpdate update_of(const Relation& view) {
  return view.is_transactional() ? ViewUpdate::transactional : ViewUpdate::deferred;
}

std::optional<ViewStatus> status_of(const internal::DatabaseCore& core, const Relation& view) {
  auto status = core.board->find(view.id());
  if (!status) return status;
  if (view.is_transactional() && status->phase == ViewPhase::live)
    status->position = core.store->version();
  if (const auto stopped = core.board->stopped(update_of(view))) {
    status->is_stopped = true;
    if (status->error.empty()) status->error = stopped->message();
  }
  return status;
}

/// Key spaces of the tables, ring buffers and series that a view is made of, through however many
/// other views.
Task<Result<std::set<std::uint32_t>>> spaces_below(const storage::Store* store, CatalogRef catalog,
                                                   std::uint64_t view) {
  auto transaction = store->begin();
  std::set<std::uint32_t> spaces;
  std::set<std::uint64_t> seen = {view};
  // Those that are not looked at yet.
  std::set<std::uint64_t> left = {view};
  while (!left.empty()) {
    const std::uint64_t id = left.extract(left.begin()).value();
    WEIR_CO_TRY(entry, co_await catalog->read(transaction, id));
    if (entry.kind != internal::RelationKind::view) {
      WEIR_CO_TRY(info, co_await catalog->load(id, std::move(entry)));
      spaces.insert(info->rows.id());
      continue;
    }
    for (const internal::SourceEntry& source : entry.sources)
      if (seen.insert(source.relation).second) left.insert(source.relation);
  }
  co_return spaces;
}

}  // namespace

Task<Result<storage::Version>> internal::wait_until_fresh(std::shared_ptr<DatabaseCore> core,
                                                          Relation view, storage::Version version) {
  // A transactional view has what the store has.
  if (view.is_transactional() && version > core->store->version())
    WEIR_CO_TRY_VOID(co_await core->store->log().wait_past({version.number - 1}));
  for (;;) {
    const std::uint64_t seen = core->board->changes().published();
    // Before the status, which is there before the position moves past the making of a view.
    const storage::Version position = core->board->position();
    const auto status = status_of(*core, view);
    // Why all of them have stopped is told to those who would have to wait.
    const auto stopped = core->board->stopped(update_of(view));
    if (status && status->is_stopped && !stopped) {
      co_return Error(Errc::quarantined,
                      "view '" + view.name() + "': " +
                          (status->waits_for.empty() ? status->error
                                                     : "it waits for '" + status->waits_for + "'"));
    }
    if (status && status->phase == ViewPhase::live && status->position >= version)
      co_return status->position;
    if (!status && (view.is_transactional() || position >= version)) {
      // Seen, and not there any more.
      co_return Error(Errc::unknown_relation, "view '" + view.name() + "'");
    }
    if (stopped) co_return *stopped;
    WEIR_CO_TRY_VOID(co_await core->board->changes().wait_until(seen + 1));
  }
}

Task<Result<storage::Version>> Database::fresh(Relation view, storage::Version version) const {
  return internal::wait_until_fresh(core_, std::move(view), version);
}

std::optional<ViewStatus> Database::status(const Relation& view) const {
  return status_of(*core_, view);
}

std::uint64_t Database::rows_changed(const Relation& relation) const {
  if (!relation.is_view()) return core_->board->rows_changed(relation.id());
  const auto status = core_->board->find(relation.id());
  return status ? status->counts.rows_out : 0;
}

Task<Result<ViewLag>> Database::lag(Relation view) const {
  const auto core = core_;
  const auto status = status_of(*core, view);
  if (!status) co_return Error(Errc::unknown_relation, "view '" + view.name() + "'");
  WEIR_CO_TRY(spaces, co_await spaces_below(core->store, core->catalog, view.id()));
  const storage::ChangeLog log = core->store->log();
  const storage::Version newest = log.newest();
  ViewLag lag;
  for (storage::Version seen = status->position; seen < newest;) {
    WEIR_CO_TRY(records, co_await log.read(seen));
    for (const storage::ChangeRecord& record : records) {
      seen = record.version();
      const bool is_its = std::ranges::any_of(
          record.spaces(), [&](const auto& changes) { return spaces.contains(changes.space()); });
      if (!is_its || seen > newest) continue;
      if (lag.versions++ == 0)
        lag.time =
            std::chrono::floor<std::chrono::microseconds>(core->store->time() - record.time());
    }
  }
  co_return lag;
}

}  // namespace weir::flow::view
