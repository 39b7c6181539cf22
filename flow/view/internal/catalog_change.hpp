#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/relation_entry.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/transaction.hpp>

// What is done to the catalog in one transaction, by `storage::transact`: it may be run more than
// once.
namespace weir::flow::view::internal {

using CatalogRef = std::shared_ptr<const Catalog>;

/// A relation that is added or altered, and what came of it in the end.
struct CatalogChange {
  std::uint64_t id = 0;
  RelationEntry entry = {};
};

/// `already_exists`.
Task<Result<>> add_relation(storage::Transaction& transaction, CatalogRef catalog,
                            std::shared_ptr<CatalogChange> change);
/// `in_use` names the views that read a relation, or one of its columns; `what` is that.
Task<Result<>> check_unread(storage::Transaction& transaction, CatalogRef catalog, std::uint64_t id,
                            std::optional<std::uint32_t> column, std::string what);
/// Tells the tables that a transactional view reads that it does, or does not any more: who writes
/// them knows by that, and who did not know meets a conflict.
Task<Result<>> follow(storage::Transaction& transaction, CatalogRef catalog, std::uint64_t view,
                      RelationEntry view_entry, bool follows);
/// A view, or anything else: `not_a_table` if it is the other. `removed` is its number.
Task<Result<>> remove_relation(storage::Transaction& transaction, CatalogRef catalog,
                               std::string name, bool is_view,
                               std::shared_ptr<std::uint64_t> removed);

}  // namespace weir::flow::view::internal
