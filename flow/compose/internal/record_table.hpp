#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <weir/flow/compose/follower.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/try.hpp>

// A table that shows the records of an engine. `Rows` says which: their `Id`, the `schema`, what a
// notice is about, and how they are read and listed.
namespace weir::flow::compose::internal {

inline constexpr std::size_t notices_at_once = 256;
inline constexpr std::size_t rows_at_once = 500;

using Places = storage::StateSpace<std::string, std::uint64_t>;

/// Who keeps a table, and where.
struct RecordTable {
  const workflow::Engine* engine;
  const view::Database* database;
  view::Relation table;
  Places places;
};

/// Lets rows be as the records are. True if some were not.
template <class Rows>
Task<Result<bool>> write_rows(const RecordTable* to, view::Transaction* transaction,
                              std::vector<typename Rows::Id> ids) {
  WEIR_CO_TRY(found, co_await Rows::read(to->engine, ids));
  bool has_written = false;
  for (const auto& id : ids) {
    const view::Row key = {data::Value(to_string(id))};
    WEIR_CO_TRY(there, co_await transaction->get(to->table, key));
    const auto row = found.find(id);
    if (row != found.end() && there != row->second) {
      WEIR_CO_TRY_VOID(co_await transaction->upsert(to->table, row->second));
      has_written = true;
    } else if (row == found.end() && there) {
      WEIR_CO_TRY_VOID(co_await transaction->remove(to->table, key));
      has_written = true;
    }
  }
  co_return has_written;
}

template <class Rows>
Task<Result<>> write_now(const RecordTable* to, std::vector<typename Rows::Id> ids) {
  view::Transaction transaction = to->database->begin();
  WEIR_CO_TRY(has_written, co_await write_rows<Rows>(to, &transaction, std::move(ids)));
  if (has_written) WEIR_CO_TRY_VOID(co_await transaction.commit());
  co_return {};
}

/// Each row once: of what has been removed, or has changed while nobody told of it.
template <class Rows>
Task<Result<>> look_at_rows(const RecordTable* to) {
  view::Snapshot snapshot = to->database->read();
  view::RowScan scan = snapshot.scan(to->table);
  for (;;) {
    WEIR_CO_TRY(batch, co_await scan.next(rows_at_once));
    if (batch.is_empty()) co_return {};
    std::vector<typename Rows::Id> ids;
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const std::vector<data::Value> values = batch.row(row);
      if (const auto id = Rows::id_of(values.front())) ids.push_back(*id);
    }
    WEIR_CO_TRY_VOID(co_await write_now<Rows>(to, std::move(ids)));
  }
}

/// What there is and has no row yet.
template <class Rows>
Task<Result<>> look_at_records(const RecordTable* to, bool is_new) {
  std::optional<typename Rows::Id> after;
  do {
    WEIR_CO_TRY(page, co_await Rows::list(to->engine, is_new, after, rows_at_once));
    after = page.next;
    WEIR_CO_TRY_VOID(co_await write_now<Rows>(to, std::move(page.items)));
  } while (after);
  co_return {};
}

/// Writes what the notices from `from` on tell of; gives where the next ones begin.
template <class Rows>
Task<Result<std::uint64_t>> write_some(const RecordTable* to, std::uint64_t from) {
  WEIR_CO_TRY(notices, co_await to->engine->notices(from, notices_at_once));
  if (notices.empty()) co_return from;
  std::set<typename Rows::Id> ids;
  for (const auto& [number, notice] : notices) {
    if (const auto id = Rows::id_of(notice)) ids.insert(*id);
  }
  view::Transaction transaction = to->database->begin();
  WEIR_CO_TRY_VOID(co_await write_rows<Rows>(to, &transaction, {ids.begin(), ids.end()}));
  const std::uint64_t next = notices.back().first + 1;
  transaction.base().put(to->places, to->table.name(), next);
  WEIR_CO_TRY_VOID(co_await transaction.commit());
  co_return next;
}

template <class Rows>
Task<Result<>> follow_records(const workflow::Engine* engine, const view::Database* database,
                              std::string name, WentOn went_on) {
  storage::Store* store = engine->store();
  WEIR_CO_TRY(table, co_await database->relation(name));
  WEIR_CO_TRY(places,
              (co_await store->open_state<std::string, std::uint64_t>("compose.execution_tables")));
  WEIR_CO_TRY(known, co_await store->current_state().get(places, name));
  WEIR_CO_TRY(first, co_await engine->first_notice());
  const RecordTable to{engine, database, table, places};
  std::uint64_t from = known.value_or(first);
  // Those that have not been written are not removed meanwhile.
  WEIR_CO_TRY_VOID(co_await engine->acknowledge_notices("table " + name, from - 1));
  engine->tell_changes();
  WEIR_CO_TRY_VOID(co_await look_at_rows<Rows>(&to));
  WEIR_CO_TRY_VOID(co_await look_at_records<Rows>(&to, !known));
  for (;;) {
    // What is told later is a commit after this version.
    const storage::Version seen = store->version();
    WEIR_CO_TRY(next, co_await write_some<Rows>(&to, from));
    if (next != from) {
      WEIR_CO_TRY_VOID(co_await engine->acknowledge_notices("table " + name, next - 1));
    }
    went_on();
    if (next == from) WEIR_CO_TRY_VOID(co_await store->log().wait_past(seen));
    from = next;
  }
}

/// Makes the table if it is not there.
template <class Rows>
Task<Result<Follower>> keep_table(const workflow::Engine* engine, view::Database* database,
                                  std::string table) {
  if (engine->store() == nullptr) {
    co_return Error(weir::Errc::unsupported,
                    "table '" + table + "' needs an engine in the database's store");
  }
  auto made = co_await database->create_table(table, Rows::schema());
  if (!made && made.error() != view::Errc::already_exists) co_return made.error();
  co_return Follower(
      &engine->system(), "table " + table,
      [engine = engine->share(), database = database->share(), table](WentOn went_on) {
        return follow_records<Rows>(engine.get(), database.get(), table, std::move(went_on));
      });
}

}  // namespace weir::flow::compose::internal
