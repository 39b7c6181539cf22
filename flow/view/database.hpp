#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/flow/data/schema.hpp>
#include <weir/flow/view/relation.hpp>
#include <weir/flow/view/snapshot.hpp>
#include <weir/flow/view/transaction.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/store.hpp>

namespace weir::flow::view {

namespace internal {
class Catalog;
}

/// A column to be added to a table.
struct NewColumn {
  std::string name;
  data::DataType type;
  /// What the rows have that are there already; null by default.
  data::Value fill = {};
  bool is_nullable = true;
};

/// Tables of typed rows, and views that follow them, in a store.
///
///     auto database = (co_await Database::open(&store)).value();
///     auto orders = (co_await database.create_table("orders", schema)).value();
///     auto transaction = database.begin();
///
/// Making, altering and dropping are changes of the catalog, which is part of the store: they are
/// there after a restart, and a transaction that meets them is a conflict. Usable from any actor.
/// The store outlives it.
class Database {
 public:
  static Task<Result<Database>> open(storage::Store* store);

  /// The schema must have a primary key. `already_exists`.
  Task<Result<Relation>> create_table(std::string name, data::SchemaRef schema);
  /// `unknown_relation`.
  Task<Result<Relation>> relation(std::string name) const;
  /// In order of their names.
  Task<Result<std::vector<Relation>>> relations() const;

  // Altering gives the table as it is then. Handles opened before are stale.
  Task<Result<Relation>> add_column(std::string table, NewColumn column);
  Task<Result<Relation>> rename_column(std::string table, std::string column, std::string name);
  /// Not one of the primary key.
  Task<Result<Relation>> drop_column(std::string table, std::string column);
  /// With all its rows.
  Task<Result<>> drop_table(std::string name);

  Transaction begin() const;
  /// The newest version.
  Snapshot read() const;
  /// An older one, as of `storage::Store::read_at`.
  Result<Snapshot> read_at(storage::Version version) const;

 private:
  Database(storage::Store* store, std::shared_ptr<const internal::Catalog> catalog) noexcept;

  storage::Store* store_;
  std::shared_ptr<const internal::Catalog> catalog_;
};

}  // namespace weir::flow::view
