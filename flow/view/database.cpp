#include <weir/flow/view/database.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/data/row_codec.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/coordinator.hpp>
#include <weir/flow/view/internal/database_core.hpp>
#include <weir/flow/view/internal/replacement.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/retry.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::flow::view {

namespace {

/// Writers wait while a transactional view takes a piece of the rows that were there before it.
constexpr std::size_t inline_rows_max = 2'048;

using internal::Catalog;
using internal::ColumnEntry;
using internal::RelationEntry;
using internal::RelationKind;
using internal::SourceEntry;
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

Task<Result<Relation>> make_relation(const storage::Store* store, CatalogRef catalog,
                                     RelationEntry entry) {
  auto outcome = std::make_shared<Outcome>();
  outcome->entry = std::move(entry);
  WEIR_CO_TRY_VOID(co_await storage::transact(store, {}, &add_relation, catalog, outcome));
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

Task<Result<>> check_unread(storage::Transaction& transaction, CatalogRef catalog, std::uint64_t id,
                            std::optional<std::uint32_t> column, std::string what) {
  WEIR_CO_TRY(readers, co_await catalog->readers(transaction, id, column));
  if (readers.empty()) co_return {};
  std::string names;
  for (const std::string& reader : readers) names += (names.empty() ? "'" : ", '") + reader + "'";
  co_return Error(Errc::in_use, what + " is read by " + names);
}

/// Tells the tables that a transactional view reads that it does, or does not any more: who writes
/// them knows by that, and who did not know meets a conflict.
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
                               std::string name, bool is_view) {
  WEIR_CO_TRY(id, co_await catalog->find(transaction, name));
  WEIR_CO_TRY(entry, co_await catalog->read(transaction, id));
  if ((entry.kind == RelationKind::view) != is_view)
    co_return Error(Errc::not_a_table, "'" + name + "' is " + to_string(entry.kind));
  WEIR_CO_TRY_VOID(co_await check_unread(transaction, catalog, id, std::nullopt, "'" + name + "'"));
  catalog->remove(transaction, id, name, entry.kind);
  if (entry.is_transactional()) co_return co_await follow(transaction, catalog, id, entry, false);
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
  WEIR_CO_TRY_VOID(co_await add_relation(transaction, catalog, outcome));
  if (!outcome->entry.is_transactional()) co_return {};
  co_return co_await follow(transaction, catalog, outcome->id, outcome->entry, true);
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

Result<> drop_column_of(RelationEntry& entry, const std::string& name);

Task<Result<>> drop_column_unread(storage::Transaction& transaction, CatalogRef catalog,
                                  std::string table, std::string column,
                                  std::shared_ptr<Outcome> outcome) {
  WEIR_CO_TRY(id, co_await catalog->find(transaction, table));
  WEIR_CO_TRY(entry, co_await read_table(transaction, catalog, id));
  const auto& columns = entry.layouts.back();
  const auto at = std::ranges::find(columns, column, &ColumnEntry::name);
  if (at != columns.end()) {
    WEIR_CO_TRY_VOID(
        co_await check_unread(transaction, catalog, id, at->id, "'" + table + "." + column + "'"));
  }
  auto alter = std::make_shared<const Alter>(
      [column](RelationEntry& altered) { return drop_column_of(altered, column); });
  co_return co_await alter_table(transaction, catalog, table, alter, outcome);
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

Database::Database(std::shared_ptr<internal::DatabaseCore> core) noexcept
    : core_(std::move(core)) {}
Database::Database(Database&&) noexcept = default;

Database::~Database() {
  if (!core_ || core_->gone->published() > 0) return;
  try {
    static_cast<void>(core_->store->system().run(close()));
  } catch (const std::exception&) {
    // Inside an actor, which must not wait, or the system has stopped and with it the views.
    core_->flows.stop();
    core_->coordinator.stop();
  }
}

Task<Result<Database>> Database::open(storage::Store* store, DatabaseOptions options) {
  if (options.workers == 0) co_return Error(Errc::invalid_argument, "workers must be 1 or more");
  if (options.backfill_rows == 0 || options.cycle.records_max == 0)
    co_return Error(Errc::invalid_argument, "backfill_rows and records_max must be 1 or more");
  WEIR_CO_TRY(catalog, co_await Catalog::open(store));
  WEIR_CO_TRY_VOID(co_await catalog.sweep());
  auto core = std::make_shared<internal::DatabaseCore>();
  core->store = store;
  core->library = options.library;
  core->batch_bytes_max = options.batch_bytes_max;
  core->catalog = std::make_shared<const Catalog>(std::move(catalog));
  core->board = std::make_shared<internal::FlowBoard>();
  core->gone = std::make_shared<SequenceBarrier>();
  core->flows_gone = std::make_shared<SequenceBarrier>();
  if (auto* telemetry = store->system().options().telemetry) {
    core->metrics = std::make_unique<internal::FlowMetrics>(core->board, store, telemetry->meter());
  }
  const internal::FlowOptions flow{.state_memory_max = options.state_memory_max,
                                   .row_errors = options.row_errors,
                                   .library = options.library,
                                   .verifies_rows = options.verifies_rows,
                                   .output_bytes_max = options.batch_bytes_max,
                                   .cycle_deadline = options.cycle_deadline};
  core->flows = store->system().spawn<internal::TransactionalFlows>(
      SpawnOptions{.name = "flow.transactional", .mailbox_capacity = unbounded}, store,
      core->catalog, core->board, core->flows_gone,
      internal::TransactionalOptions{
          .flow = flow,
          .backfill_rows = std::min(options.backfill_rows, inline_rows_max),
          .retry_backoff = options.retry_backoff,
          .failures_max = options.failures_max});
  core->coordinator = store->system().spawn<internal::Coordinator>(
      SpawnOptions{.name = "flow.coordinator"}, store, core->catalog, core->board, core->gone,
      internal::CoordinatorOptions{
          .flow = flow,
          .workers = options.workers,
          .backfill_rows = options.backfill_rows,
          .backfill_step = options.backfill_step,
          .cycle = options.cycle,
          .retry_backoff = options.retry_backoff,
          .failures_max = options.failures_max,
          .cycle_duration = core->metrics ? core->metrics->cycle_duration() : nullptr});
  Database database(core);
  WEIR_CO_TRY_VOID(co_await core->flows.ask<internal::LoadViews>().within(forever));
  WEIR_CO_TRY_VOID(co_await core->coordinator.ask<internal::Start>().within(forever));
  WEIR_CO_TRY_VOID(co_await internal::drop_replacements(core));
  co_return std::move(database);
}

Task<Result<>> Database::close() {
  const auto core = core_;
  const CancellationShield shield;
  core->flows.stop(Stop::when_drained);
  WEIR_CO_TRY_VOID(co_await core->flows_gone->wait_until(1));
  static_cast<void>(co_await core->coordinator.ask<internal::Close>().within(forever));
  core->coordinator.stop(Stop::when_drained);
  WEIR_CO_TRY_VOID(co_await core->gone->wait_until(1));
  co_return {};
}

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

Task<Result<Relation>> Database::relation(std::string name) const {
  const auto core = core_;
  auto transaction = core->store->begin();
  WEIR_CO_TRY(id, co_await core->catalog->find(transaction, name));
  WEIR_CO_TRY(entry, co_await core->catalog->read(transaction, id));
  WEIR_CO_TRY(info, co_await core->catalog->load(id, std::move(entry)));
  co_return Relation(std::move(info));
}

Task<Result<std::vector<Relation>>> Database::relations() const {
  const auto core = core_;
  auto reading = core->store->read();
  auto scan = reading.scan(core->catalog->relations());
  std::vector<Relation> relations;
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    if (internal::is_hidden(row->value.name)) continue;
    WEIR_CO_TRY(info, co_await core->catalog->load(row->key, std::move(row->value)));
    relations.emplace_back(std::move(info));
  }
  std::ranges::sort(relations, {}, &Relation::name);
  co_return relations;
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
  WEIR_CO_TRY_VOID(co_await storage::transact(core->store, {}, &remove_relation, core->catalog,
                                              std::move(name), false));
  co_return co_await core->catalog->sweep();
}

Task<Result<>> Database::drop_view(std::string name) {
  const auto core = core_;
  const auto change = [store = core->store, catalog = core->catalog, name = std::move(name)] {
    return storage::transact(store, {}, &remove_relation, catalog, name, true);
  };
  WEIR_CO_TRY(version, co_await change_views(core->flows, change));
  // Once the coordinator has seen it, nothing writes there any more.
  WEIR_CO_TRY_VOID(co_await core->board->reach(version));
  co_return co_await core->catalog->sweep();
}

Task<Result<>> Database::rebuild(Relation view) {
  const auto core = core_;
  if (view.is_transactional()) {
    WEIR_CO_TRY_VOID(co_await core->flows.ask<internal::RebuildView>(view.id()).within(forever));
  } else {
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
  WEIR_CO_TRY_VOID(co_await core->coordinator.ask<internal::ResumeFlow>(view.id(), skips));
  co_return {};
}

}  // namespace

Task<Result<>> Database::resume(Relation view) {
  return resume_view(core_, std::move(view), false);
}

Task<Result<>> Database::skip(Relation view) { return resume_view(core_, std::move(view), true); }

Transaction Database::begin() const { return Transaction(core_->store->begin(), core_); }

Snapshot Database::read() const { return Snapshot(core_->store->read(), core_->catalog); }

Result<Snapshot> Database::read_at(storage::Version version) const {
  auto reading = core_->store->read_at(version);
  if (!reading) return std::move(reading).error();
  return Snapshot(*std::move(reading), core_->catalog);
}

operators::Plan from(const Relation& relation) {
  return operators::from(relation.name(), relation.schema());
}

}  // namespace weir::flow::view
