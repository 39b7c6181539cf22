#include <weir/flow/view/internal/catalog_change.hpp>

#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view::internal {

Task<Result<>> add_relation(storage::Transaction& transaction, CatalogRef catalog,
                            std::shared_ptr<CatalogChange> change) {
  WEIR_CO_TRY(id, co_await catalog->add(transaction, change->entry));
  change->id = id;
  co_return {};
}

Task<Result<>> check_unread(storage::Transaction& transaction, CatalogRef catalog, std::uint64_t id,
                            std::optional<std::uint32_t> column, std::string what) {
  WEIR_CO_TRY(readers, co_await catalog->readers(transaction, id, column));
  if (readers.empty()) co_return {};
  std::string names;
  for (const std::string& reader : readers) names += (names.empty() ? "'" : ", '") + reader + "'";
  co_return Error(Errc::in_use, what + " is read by " + names);
}

Task<Result<>> follow(storage::Transaction& transaction, CatalogRef catalog, std::uint64_t view,
                      RelationEntry view_entry, bool follows) {
  for (const SourceEntry& source : view_entry.sources) {
    WEIR_CO_TRY(entry, co_await catalog->read(transaction, source.relation));
    if (entry.kind == RelationKind::view) continue;
    std::erase(entry.followers, view);
    if (follows) entry.followers.push_back(view);
    catalog->replace(transaction, source.relation, entry);
  }
  co_return {};
}

Task<Result<>> remove_relation(storage::Transaction& transaction, CatalogRef catalog,
                               std::string name, bool is_view,
                               std::shared_ptr<std::uint64_t> removed) {
  WEIR_CO_TRY(id, co_await catalog->find(transaction, name));
  WEIR_CO_TRY(entry, co_await catalog->read(transaction, id));
  if ((entry.kind == RelationKind::view) != is_view)
    co_return Error(Errc::not_a_table, "'" + name + "' is " + to_string(entry.kind));
  WEIR_CO_TRY_VOID(co_await check_unread(transaction, catalog, id, std::nullopt, "'" + name + "'"));
  catalog->remove(transaction, id, name, entry.kind);
  *removed = id;
  if (entry.is_transactional()) co_return co_await follow(transaction, catalog, id, entry, false);
  co_return {};
}

}  // namespace weir::flow::view::internal
