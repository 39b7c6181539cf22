#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/database_core.hpp>
#include <weir/flow/view/internal/replacement.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/retry.hpp>

namespace weir::flow::view {

namespace {

using internal::Catalog;
using internal::ColumnEntry;
using internal::hidden_name;
using internal::RelationEntry;
using internal::SourceEntry;
using CatalogRef = std::shared_ptr<const Catalog>;

/// A view, and the one that will be there instead.
struct Pair {
  std::uint64_t before;
  std::uint64_t after;
  std::string name;
};
using Pairs = std::vector<Pair>;

/// What a reader reads of the new view instead of the old one. Columns stay what they are called.
Result<SourceEntry> point_to(const SourceEntry& source, const RelationEntry& before,
                             const RelationEntry& after, std::uint64_t id) {
  SourceEntry moved{.name = source.name, .relation = id};
  for (const std::uint32_t column : source.columns) {
    const auto& known = before.layouts.back();
    const auto old = std::ranges::find(known, column, &ColumnEntry::id);
    if (old == known.end()) return Error(Errc::corruption, "catalog: '" + before.name + "'");
    const auto& columns = after.layouts.back();
    const auto at = std::ranges::find(columns, old->name, &ColumnEntry::name);
    if (at == columns.end())
      return Error(data::Errc::unknown_column, "'" + source.name + "': '" + old->name + "'");
    if (internal::type_of(*at) != internal::type_of(*old) ||
        (at->is_nullable && !old->is_nullable)) {
      return Error(data::Errc::type_mismatch, "'" + source.name + "': '" + old->name + "' is " +
                                                  to_string(internal::type_of(*at)) + ", not " +
                                                  to_string(internal::type_of(*old)) +
                                                  (old->is_nullable ? "" : " not null"));
    }
    moved.columns.push_back(at->id);
  }
  return moved;
}

/// All views, with their numbers, in an order in which each reads only those before it.
Task<Result<std::map<std::uint64_t, RelationEntry>>> read_views(storage::Transaction& transaction,
                                                                CatalogRef catalog) {
  std::map<std::uint64_t, RelationEntry> views;
  auto scan = transaction.scan(catalog->relations());
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    views.emplace(row->key, std::move(row->value));
  }
  co_return views;
}

/// Copies whoever reads the view, directly or not, so that the copies read the new one.
Task<Result<>> copy_readers(storage::Transaction& transaction, CatalogRef catalog, std::string name,
                            std::uint64_t made, std::shared_ptr<Pairs> pairs) {
  WEIR_CO_TRY(before, co_await catalog->find(transaction, name));
  WEIR_CO_TRY(views, co_await read_views(transaction, catalog));
  if (views.at(before).kind != internal::RelationKind::view)
    co_return Error(Errc::invalid_argument, "'" + name + "' is no view");
  if (views.at(before).is_transactional()) {
    co_return Error(Errc::invalid_argument,
                    "view '" + name + "' is transactional: drop it and make it again");
  }
  *pairs = {{before, made, name}};
  std::map<std::uint64_t, std::uint64_t> replaced = {{before, made}};
  std::map<std::uint64_t, RelationEntry> copies = {{made, views.at(made)}};
  for (const auto& [id, entry] : views) {
    const bool reads = std::ranges::any_of(entry.sources, [&](const SourceEntry& source) {
      return replaced.contains(source.relation);
    });
    if (!reads) continue;
    if (copies.contains(id))
      co_return Error(Errc::invalid_argument, "view '" + name + "' would read itself");
    RelationEntry copy = entry;
    copy.name = hidden_name(entry.name);
    for (SourceEntry& source : copy.sources) {
      const auto at = replaced.find(source.relation);
      if (at == replaced.end()) continue;
      auto moved = point_to(source, views.at(source.relation), copies.at(at->second), at->second);
      if (!moved) {
        co_return Error(Errc::in_use, "'" + name + "' is read by '" + entry.name +
                                          "', which would not fit: " + moved.error().message());
      }
      source = *std::move(moved);
    }
    WEIR_CO_TRY(copied, co_await catalog->add(transaction, copy));
    replaced.emplace(id, copied);
    copies.emplace(copied, std::move(copy));
    pairs->push_back({id, copied, entry.name});
  }
  co_return {};
}

/// The new ones get the names, the old ones go: all at once.
Task<Result<>> switch_names(storage::Transaction& transaction, CatalogRef catalog,
                            std::shared_ptr<const Pairs> pairs) {
  for (const auto& [before, after, name] : *pairs) {
    WEIR_CO_TRY(known, co_await catalog->find(transaction, name));
    if (known != before) co_return Error(Errc::stale_relation, "'" + name + "'");
    WEIR_CO_TRY(readers, co_await catalog->readers(transaction, before, std::nullopt));
    for (const std::string& reader : readers) {
      if (std::ranges::find(*pairs, reader, &Pair::name) == pairs->end()) {
        co_return Error(Errc::in_use, "'" + name + "' is read by '" + reader +
                                          "', which was made meanwhile: try again");
      }
    }
  }
  for (const auto& [before, after, name] : *pairs) {
    WEIR_CO_TRY(entry, co_await catalog->read(transaction, after));
    catalog->remove(transaction, before, name, internal::RelationKind::view);
    catalog->rename(transaction, after, std::move(entry), name);
  }
  co_return {};
}

/// Those of the names, or all.
Task<Result<>> remove_hidden(storage::Transaction& transaction, CatalogRef catalog,
                             std::shared_ptr<const std::set<std::string>> names,
                             std::shared_ptr<std::vector<std::uint64_t>> removed) {
  WEIR_CO_TRY(views, co_await read_views(transaction, catalog));
  removed->clear();
  for (const auto& [id, entry] : views) {
    if (!internal::is_hidden(entry.name) || (names && !names->contains(entry.name))) continue;
    catalog->remove(transaction, id, entry.name, entry.kind);
    removed->push_back(id);
  }
  co_return {};
}

Task<Result<>> drop_hidden(std::shared_ptr<internal::DatabaseCore> core,
                           std::shared_ptr<const std::set<std::string>> names) {
  auto removed = std::make_shared<std::vector<std::uint64_t>>();
  WEIR_CO_TRY(version, co_await storage::transact(core->store, {}, &remove_hidden, core->catalog,
                                                  std::move(names), removed));
  if (removed->empty()) co_return {};
  co_return co_await internal::sweep_removed(core, *removed, version);
}

Task<Result<Relation>> open_view(std::shared_ptr<internal::DatabaseCore> core, std::uint64_t id) {
  auto transaction = core->store->begin();
  WEIR_CO_TRY(entry, co_await core->catalog->read(transaction, id));
  WEIR_CO_TRY(info, co_await core->catalog->load(id, std::move(entry)));
  co_return Relation(std::move(info));
}

/// Says it of the view that was asked for.
Error about(const std::string& name, const Error& error) {
  std::string detail(error.detail());
  const std::string hidden = hidden_name(name);
  for (auto at = detail.find(hidden); at != std::string::npos; at = detail.find(hidden))
    detail.replace(at, hidden.size(), name);
  return Error(error.code(), detail);
}

}  // namespace

Task<Result<>> internal::drop_replacements(std::shared_ptr<DatabaseCore> core) {
  return drop_hidden(std::move(core), nullptr);
}

namespace {

/// Waits until the new views are live and lets them take the place of the old ones.
Task<Result<>> take_over(std::shared_ptr<internal::DatabaseCore> core,
                         std::shared_ptr<const Pairs> pairs, storage::Version copied) {
  // The old ones are read until all new ones can be.
  for (const Pair& pair : *pairs) {
    WEIR_CO_TRY(after, co_await open_view(core, pair.after));
    WEIR_CO_TRY_VOID(co_await internal::wait_until_fresh(core, after, copied));
  }
  // From here on it is done or not, whether or not someone waits for it.
  const CancellationShield shield;
  WEIR_CO_TRY(version,
              co_await storage::transact(core->store, {}, &switch_names, core->catalog, pairs));
  std::vector<std::uint64_t> removed;
  for (const Pair& pair : *pairs) removed.push_back(pair.before);
  co_return co_await internal::sweep_removed(core, std::move(removed), version);
}

}  // namespace

Task<Result<Relation>> Database::replace_view(std::string name, operators::Plan plan,
                                              ViewOptions options) {
  const auto core = core_;
  if (options.update == ViewUpdate::transactional) {
    co_return Error(Errc::invalid_argument, "view '" + name +
                                                "': a transactional view takes nobody's place: "
                                                "drop that one and make it again");
  }
  // What has been made is known, so that it can be dropped.
  std::optional<CancellationShield> shield(std::in_place);
  auto made = co_await create_view(hidden_name(name), std::move(plan), options);
  if (!made) co_return about(name, made.error());
  auto hidden = std::make_shared<std::set<std::string>>(std::set{hidden_name(name)});
  auto pairs = std::make_shared<Pairs>();
  auto copied = co_await storage::transact(core->store, {}, &copy_readers, core->catalog, name,
                                           made->id(), pairs);
  shield.reset();
  Result<> outcome;
  if (copied) {
    for (const Pair& pair : *pairs) hidden->insert(hidden_name(pair.name));
    outcome = co_await take_over(core, pairs, *copied);
  } else {
    outcome = copied.error();
  }
  if (!outcome) {
    // Also if whoever asked for it waits no more.
    shield.emplace();
    WEIR_CO_TRY_VOID(co_await drop_hidden(core, hidden));
    co_return about(name, outcome.error());
  }
  co_return co_await open_view(core, made->id());
}

}  // namespace weir::flow::view
