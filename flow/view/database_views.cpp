// Views: made, dropped, built again and told to go on.

#include <algorithm>
#include <functional>
#include <utility>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/catalog_change.hpp>
#include <weir/flow/view/internal/coordinator.hpp>
#include <weir/flow/view/internal/database_core.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/retry.hpp>

namespace weir::flow::view {

namespace {

using internal::CatalogRef;
using internal::ColumnEntry;
using internal::RelationKind;
using internal::SourceEntry;
using Outcome = internal::CatalogChange;

/// Where a source of a plan is: the relation, and those of its columns that the plan knows.
Task<Result<SourceEntry>> find_source(storage::Transaction& transaction, CatalogRef catalog,
                                      operators::Graph::SourceInfo source, ViewUpdate update) {
  SourceEntry found{.name = source.name};
  WEIR_CO_TRY(id, co_await catalog->find(transaction, source.name));
  WEIR_CO_TRY(entry, co_await catalog->read(transaction, id));
  const bool is_deferred = entry.kind == RelationKind::view && !entry.is_transactional();
  if (update == ViewUpdate::transactional && is_deferred) {
    co_return Error(Errc::invalid_argument, "a transactional view cannot read '" + source.name +
                                                "', which is a deferred view");
  }
  found.relation = id;
  for (const data::Field& field : source.schema->fields()) {
    const auto& columns = entry.layouts.back();
    const auto at = std::ranges::find(columns, field.name, &ColumnEntry::name);
    if (at == columns.end())
      co_return Error(data::Errc::unknown_column, "'" + source.name + "': '" + field.name + "'");
    if (internal::type_of(*at) != field.type || (at->is_nullable && !field.is_nullable)) {
      co_return Error(data::Errc::type_mismatch, "'" + source.name + "': '" + field.name + "' is " +
                                                     to_string(internal::type_of(*at)) +
                                                     (at->is_nullable ? "" : " not null") +
                                                     ", not " + to_string(field.type) +
                                                     (field.is_nullable ? "" : " not null"));
    }
    found.columns.push_back(at->id);
  }
  co_return found;
}

Task<Result<>> add_view(storage::Transaction& transaction, CatalogRef catalog,
                        std::shared_ptr<const std::vector<operators::Graph::SourceInfo>> sources,
                        std::shared_ptr<Outcome> outcome) {
  outcome->entry.sources.clear();
  for (const auto& source : *sources) {
    WEIR_CO_TRY(found, co_await find_source(transaction, catalog, source, outcome->entry.update));
    outcome->entry.sources.push_back(std::move(found));
  }
  WEIR_CO_TRY_VOID(co_await internal::add_relation(transaction, catalog, outcome));
  if (!outcome->entry.is_transactional()) co_return {};
  co_return co_await internal::follow(transaction, catalog, outcome->id, outcome->entry, true);
}

/// Lets whoever keeps transactional views change which there are.
Task<Result<storage::Version>> change_views(
    internal::TransactionalFlows::Ref flows,
    std::function<Task<Result<storage::Version>>()> change) {
  co_return co_await flows.ask<internal::ChangeViews>(std::move(change)).within(forever);
}

/// Each source once. A name stands for one schema.
Result<std::vector<operators::Graph::SourceInfo>> sources_of(const operators::Graph& graph) {
  std::vector<operators::Graph::SourceInfo> sources;
  for (const auto& source : graph.sources()) {
    const auto known = std::ranges::find(sources, source.name, &operators::Graph::SourceInfo::name);
    if (known == sources.end()) {
      sources.push_back(source);
    } else if (*known->schema != *source.schema) {
      return Error(Errc::invalid_argument, "'" + source.name + "' is used with two schemas");
    }
  }
  return sources;
}

}  // namespace

Task<Result<Relation>> Database::create_view(std::string name, operators::Plan plan,
                                             ViewOptions options) {
  const auto core = core_;
  if (name.empty()) co_return Error(Errc::invalid_argument, "a view must have a name");
  auto graph = operators::Graph::make(plan, {.library = core->library});
  if (!graph) {
    co_return Error(graph.error().code(), "view '" + name + "': " + graph.error().detail());
  }
  const std::string_view ticking = (*graph)->ticking_operator();
  if (options.update == ViewUpdate::transactional && !ticking.empty()) {
    co_return Error(Errc::invalid_argument, "view '" + name + "': " + std::string(ticking) +
                                                ": goes by the clock, which no transaction does");
  }
  WEIR_CO_TRY(sources, sources_of(**graph));
  auto outcome = std::make_shared<Outcome>();
  outcome->entry = internal::make_entry(RelationKind::view, name, *(*graph)->schema());
  outcome->entry.plan = plan.encode();
  outcome->entry.row_errors = options.row_errors;
  outcome->entry.update = options.update;
  const auto known =
      std::make_shared<const std::vector<operators::Graph::SourceInfo>>(std::move(sources));
  const auto change = [store = core->store, catalog = core->catalog, known, outcome] {
    return storage::transact(store, {}, &add_view, catalog, known, outcome);
  };
  auto added = outcome->entry.is_transactional() ? co_await change_views(core->flows, change)
                                                 : co_await change();
  if (!added)
    co_return Error(added.error().code(), "view '" + name + "': " + added.error().detail());
  WEIR_CO_TRY(info, co_await core->catalog->load(outcome->id, outcome->entry));
  co_return Relation(std::move(info));
}

Task<Result<>> Database::drop_view(std::string name) {
  const auto core = core_;
  const auto id = std::make_shared<std::uint64_t>();
  const auto change = [store = core->store, catalog = core->catalog, name = std::move(name), id] {
    return storage::transact(store, {}, &internal::remove_relation, catalog, name, true, id);
  };
  WEIR_CO_TRY(version, co_await change_views(core->flows, change));
  co_return co_await internal::sweep_removed(core, {*id}, version);
}

namespace {

/// The coordinator may not have seen a view that has just been made.
Task<Result<>> wait_until_known(std::shared_ptr<internal::DatabaseCore> core, Relation view) {
  if (core->board->find(view.id())) co_return {};
  co_return co_await core->board->reach(core->store->version());
}

}  // namespace

Task<Result<>> Database::rebuild(Relation view) {
  const auto core = core_;
  if (view.is_transactional()) {
    WEIR_CO_TRY_VOID(co_await core->flows.ask<internal::RebuildView>(view.id()).within(forever));
  } else {
    WEIR_CO_TRY_VOID(co_await wait_until_known(core, view));
    WEIR_CO_TRY_VOID(co_await core->coordinator.ask<internal::RebuildFlow>(view.id()));
  }
  co_return {};
}

namespace {

/// Those that are part of a commit fail only while they take rows.
Task<Result<>> resume_view(std::shared_ptr<internal::DatabaseCore> core, Relation view,
                           bool skips) {
  if (view.is_transactional()) {
    co_return Error(Errc::invalid_argument,
                    "view '" + view.name() + "' is transactional: rebuild it");
  }
  WEIR_CO_TRY_VOID(co_await wait_until_known(core, view));
  WEIR_CO_TRY_VOID(co_await core->coordinator.ask<internal::ResumeFlow>(view.id(), skips));
  co_return {};
}

}  // namespace

Task<Result<>> Database::resume(Relation view) {
  return resume_view(core_, std::move(view), false);
}

Task<Result<>> Database::skip(Relation view) { return resume_view(core_, std::move(view), true); }

}  // namespace weir::flow::view
