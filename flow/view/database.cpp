#include <weir/flow/view/database.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/data/row_codec.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/catalog.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/retry.hpp>

namespace weir::flow::view {

namespace {

using internal::Catalog;
using internal::ColumnEntry;
using internal::RelationEntry;
using internal::RelationKind;
using CatalogRef = std::shared_ptr<const Catalog>;

/// Changes what the catalog knows of a table.
using Alter = std::function<Result<>(RelationEntry& entry)>;

/// What a transaction that may run more than once found in the end.
struct Outcome {
  std::uint64_t id = 0;
  RelationEntry entry = {};
};

Task<Result<>> add_relation(storage::Transaction& transaction, CatalogRef catalog,
                            std::shared_ptr<Outcome> outcome) {
  WEIR_CO_TRY(id, co_await catalog->add(transaction, outcome->entry));
  outcome->id = id;
  co_return {};
}

Task<Result<RelationEntry>> read_table(storage::Transaction& transaction, CatalogRef catalog,
                                       std::uint64_t id) {
  WEIR_CO_TRY(entry, co_await catalog->read(transaction, id));
  if (entry.kind != RelationKind::table)
    co_return Error(Errc::not_a_table, "'" + entry.name + "' is a view");
  co_return entry;
}

Task<Result<>> alter_table(storage::Transaction& transaction, CatalogRef catalog, std::string name,
                           std::shared_ptr<const Alter> alter, std::shared_ptr<Outcome> outcome) {
  WEIR_CO_TRY(id, co_await catalog->find(transaction, name));
  WEIR_CO_TRY(entry, co_await read_table(transaction, catalog, id));
  if (auto altered = (*alter)(entry); !altered) {
    co_return Error(altered.error().code(), "'" + name + "': " + altered.error().detail());
  }
  WEIR_CO_TRY_VOID(internal::schema_of(entry, entry.layouts.size() - 1));
  catalog->replace(transaction, id, entry);
  *outcome = {id, std::move(entry)};
  co_return {};
}

Task<Result<>> remove_table(storage::Transaction& transaction, CatalogRef catalog,
                            std::string name) {
  WEIR_CO_TRY(id, co_await catalog->find(transaction, name));
  WEIR_CO_TRY_VOID(co_await read_table(transaction, catalog, id));
  catalog->remove(transaction, id, name);
  co_return {};
}

Task<Result<Relation>> alter(const storage::Store* store, CatalogRef catalog, std::string table,
                             Alter alter) {
  auto outcome = std::make_shared<Outcome>();
  WEIR_CO_TRY_VOID(co_await storage::transact(store, {}, &alter_table, catalog, std::move(table),
                                              std::make_shared<const Alter>(std::move(alter)),
                                              outcome));
  WEIR_CO_TRY(info, co_await catalog->load(outcome->id, outcome->entry));
  co_return Relation(std::move(info));
}

Result<std::vector<ColumnEntry>::iterator> find_column(std::vector<ColumnEntry>& columns,
                                                       const std::string& name) {
  const auto at = std::ranges::find(columns, name, &ColumnEntry::name);
  if (at == columns.end()) return Error(data::Errc::unknown_column, "'" + name + "'");
  return at;
}

Result<> add_column_to(RelationEntry& entry, const NewColumn& column) {
  std::vector<ColumnEntry> columns = entry.layouts.back();
  if (std::ranges::find(columns, column.name, &ColumnEntry::name) != columns.end())
    return Error(data::Errc::duplicate_column, "'" + column.name + "'");
  if (column.name.empty()) return Error(Errc::invalid_argument, "a column must have a name");
  ColumnEntry added{.id = entry.next_column++,
                    .name = column.name,
                    .kind = static_cast<std::uint8_t>(column.type.kind),
                    .scale = column.type.scale,
                    .is_nullable = column.is_nullable};
  if (!column.fill.is_null()) {
    if (column.fill.type() != column.type) {
      return Error(data::Errc::type_mismatch, "'" + column.name + "' is " + to_string(column.type) +
                                                  ", not " + to_string(column.fill));
    }
    data::Column value(column.type);
    value.append(column.fill);
    data::append_ordered(value, 0, added.fill.emplace());
  } else if (!column.is_nullable) {
    return Error(data::Errc::null_not_allowed,
                 "'" + column.name + "' needs a value for the rows that are there already");
  }
  columns.push_back(std::move(added));
  entry.layouts.push_back(std::move(columns));
  return {};
}

Result<> drop_column_of(RelationEntry& entry, const std::string& name) {
  std::vector<ColumnEntry> columns = entry.layouts.back();
  auto at = find_column(columns, name);
  if (!at) return std::move(at).error();
  if (std::ranges::find(entry.key, (*at)->id) != entry.key.end())
    return Error(Errc::invalid_argument, "'" + name + "' is part of the primary key");
  columns.erase(*at);
  entry.layouts.push_back(std::move(columns));
  return {};
}

}  // namespace

Database::Database(storage::Store* store, CatalogRef catalog) noexcept
    : store_(store), catalog_(std::move(catalog)) {}

Task<Result<Database>> Database::open(storage::Store* store) {
  WEIR_CO_TRY(catalog, co_await Catalog::open(store));
  WEIR_CO_TRY_VOID(co_await catalog.sweep());
  co_return Database(store, std::make_shared<const Catalog>(std::move(catalog)));
}

Task<Result<Relation>> Database::create_table(std::string name, data::SchemaRef schema) {
  const CatalogRef catalog = catalog_;
  if (name.empty()) co_return Error(Errc::invalid_argument, "a table must have a name");
  if (schema->primary_key().empty())
    co_return Error(Errc::invalid_argument, "'" + name + "': a table must have a primary key");
  auto outcome = std::make_shared<Outcome>();
  outcome->entry = internal::make_entry(RelationKind::table, std::move(name), *schema);
  WEIR_CO_TRY_VOID(co_await storage::transact(store_, {}, &add_relation, catalog, outcome));
  WEIR_CO_TRY(info, co_await catalog->load(outcome->id, outcome->entry));
  co_return Relation(std::move(info));
}

Task<Result<Relation>> Database::relation(std::string name) const {
  const CatalogRef catalog = catalog_;
  auto transaction = store_->begin();
  WEIR_CO_TRY(id, co_await catalog->find(transaction, name));
  WEIR_CO_TRY(entry, co_await catalog->read(transaction, id));
  WEIR_CO_TRY(info, co_await catalog->load(id, std::move(entry)));
  co_return Relation(std::move(info));
}

Task<Result<std::vector<Relation>>> Database::relations() const {
  const CatalogRef catalog = catalog_;
  auto reading = store_->read();
  auto scan = reading.scan(catalog->relations());
  std::vector<Relation> relations;
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    WEIR_CO_TRY(info, co_await catalog->load(row->key, std::move(row->value)));
    relations.emplace_back(std::move(info));
  }
  std::ranges::sort(relations, {}, &Relation::name);
  co_return relations;
}

Task<Result<Relation>> Database::add_column(std::string table, NewColumn column) {
  return alter(store_, catalog_, std::move(table),
               [column](RelationEntry& entry) { return add_column_to(entry, column); });
}

Task<Result<Relation>> Database::rename_column(std::string table, std::string column,
                                               std::string name) {
  return alter(store_, catalog_, std::move(table),
               [column, name](RelationEntry& entry) -> Result<> {
                 auto& columns = entry.layouts.back();
                 auto at = find_column(columns, column);
                 if (!at) return std::move(at).error();
                 if (name.empty())
                   return Error(Errc::invalid_argument, "a column must have a name");
                 if (name != column && find_column(columns, name))
                   return Error(data::Errc::duplicate_column, "'" + name + "'");
                 (*at)->name = name;
                 return {};
               });
}

Task<Result<Relation>> Database::drop_column(std::string table, std::string column) {
  return alter(store_, catalog_, std::move(table),
               [column](RelationEntry& entry) { return drop_column_of(entry, column); });
}

Task<Result<>> Database::drop_table(std::string name) {
  const CatalogRef catalog = catalog_;
  WEIR_CO_TRY_VOID(co_await storage::transact(store_, {}, &remove_table, catalog, std::move(name)));
  co_return co_await catalog->sweep();
}

Transaction Database::begin() const { return Transaction(store_->begin(), catalog_); }

Snapshot Database::read() const { return Snapshot(store_->read()); }

Result<Snapshot> Database::read_at(storage::Version version) const {
  auto reading = store_->read_at(version);
  if (!reading) return std::move(reading).error();
  return Snapshot(*std::move(reading));
}

}  // namespace weir::flow::view
