// Tables, ring buffers and series: made, altered and dropped.

#include <algorithm>
#include <functional>
#include <utility>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/data/row_codec.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/catalog_change.hpp>
#include <weir/flow/view/internal/database_core.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/retry.hpp>

namespace weir::flow::view {

namespace {

using internal::CatalogRef;
using internal::ColumnEntry;
using internal::RelationEntry;
using internal::RelationKind;
using Outcome = internal::CatalogChange;

/// Changes what the catalog knows of a table.
using Alter = std::function<Result<>(RelationEntry& entry)>;

Task<Result<Relation>> make_relation(const storage::Store* store, CatalogRef catalog,
                                     RelationEntry entry) {
  auto outcome = std::make_shared<Outcome>();
  outcome->entry = std::move(entry);
  WEIR_CO_TRY_VOID(
      co_await storage::transact(store, {}, &internal::add_relation, catalog, outcome));
  WEIR_CO_TRY(info, co_await catalog->load(outcome->id, outcome->entry));
  co_return Relation(std::move(info));
}

/// What rows are that were appended: as the operator of the same kind gives them.
Result<data::SchemaRef> append_schema(const std::string& name, const data::SchemaRef& schema,
                                      const operators::OperatorSpec& spec) {
  if (name.empty())
    return Error(Errc::invalid_argument, "a ring buffer or series must have a name");
  if (!schema->primary_key().empty()) {
    return Error(Errc::invalid_argument,
                 "'" + name + "': rows that are appended have no primary key of their own");
  }
  auto made = spec.make(std::span(&schema, 1), {});
  if (!made) return Error(made.error().code(), "'" + name + "': " + made.error().detail());
  return (*made)->schema();
}

Task<Result<RelationEntry>> read_table(storage::Transaction& transaction, CatalogRef catalog,
                                       std::uint64_t id) {
  WEIR_CO_TRY(entry, co_await catalog->read(transaction, id));
  if (entry.kind == RelationKind::view)
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
    if (auto checked = data::check_value(column.fill); !checked)
      return Error(checked.error().code(), "'" + column.name + "': " + checked.error().detail());
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

Task<Result<>> drop_column_unread(storage::Transaction& transaction, CatalogRef catalog,
                                  std::string table, std::string column,
                                  std::shared_ptr<Outcome> outcome) {
  WEIR_CO_TRY(id, co_await catalog->find(transaction, table));
  WEIR_CO_TRY(entry, co_await read_table(transaction, catalog, id));
  const auto& columns = entry.layouts.back();
  const auto at = std::ranges::find(columns, column, &ColumnEntry::name);
  if (at != columns.end()) {
    WEIR_CO_TRY_VOID(co_await internal::check_unread(transaction, catalog, id, at->id,
                                                     "'" + table + "." + column + "'"));
  }
  auto alter = std::make_shared<const Alter>(
      [column](RelationEntry& altered) { return drop_column_of(altered, column); });
  co_return co_await alter_table(transaction, catalog, table, alter, outcome);
}

}  // namespace

Task<Result<Relation>> Database::create_table(std::string name, data::SchemaRef schema) {
  const auto core = core_;
  if (name.empty()) co_return Error(Errc::invalid_argument, "a table must have a name");
  if (schema->primary_key().empty())
    co_return Error(Errc::invalid_argument, "'" + name + "': a table must have a primary key");
  co_return co_await make_relation(
      core->store, core->catalog,
      internal::make_entry(RelationKind::table, std::move(name), *schema));
}

Task<Result<Relation>> Database::create_ring_buffer(std::string name, data::SchemaRef schema,
                                                    std::uint64_t capacity,
                                                    operators::RingBufferOptions options) {
  const auto core = core_;
  WEIR_CO_TRY(all, append_schema(name, schema, operators::RingBuffer(capacity, options)));
  RelationEntry entry = internal::make_entry(RelationKind::ring_buffer, std::move(name), *all);
  entry.capacity = capacity;
  co_return co_await make_relation(core->store, core->catalog, std::move(entry));
}

Task<Result<Relation>> Database::create_series(std::string name, data::SchemaRef schema,
                                               std::string key, operators::SeriesOptions options) {
  const auto core = core_;
  WEIR_CO_TRY(all, append_schema(name, schema, operators::Series(std::move(key), options)));
  co_return co_await make_relation(
      core->store, core->catalog,
      internal::make_entry(RelationKind::series, std::move(name), *all));
}

Task<Result<Relation>> Database::add_column(std::string table, NewColumn column) {
  return alter(core_->store, core_->catalog, std::move(table),
               [column](RelationEntry& entry) { return add_column_to(entry, column); });
}

Task<Result<Relation>> Database::rename_column(std::string table, std::string column,
                                               std::string name) {
  return alter(core_->store, core_->catalog, std::move(table),
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
  const auto core = core_;
  auto outcome = std::make_shared<Outcome>();
  WEIR_CO_TRY_VOID(co_await storage::transact(core->store, {}, &drop_column_unread, core->catalog,
                                              std::move(table), std::move(column), outcome));
  WEIR_CO_TRY(info, co_await core->catalog->load(outcome->id, outcome->entry));
  co_return Relation(std::move(info));
}

Task<Result<>> Database::drop_table(std::string name) {
  const auto core = core_;
  const auto id = std::make_shared<std::uint64_t>();
  WEIR_CO_TRY(version, co_await storage::transact(core->store, {}, &internal::remove_relation,
                                                  core->catalog, std::move(name), false, id));
  co_return co_await internal::sweep_removed(core, {*id}, version);
}

}  // namespace weir::flow::view
