#include <weir/flow/compose/execution_table.hpp>

#include <memory>
#include <set>

#include <weir/flow/view/errc.hpp>
#include <weir/flow/workflow/errc.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>

namespace weir::flow::compose {
namespace {

using data::Kind;
using data::Value;

constexpr std::size_t notices_at_once = 256;

data::SchemaRef schema() {
  auto made = data::Schema::make({{"id", Kind::text, false},
                                  {"kind", Kind::text, false},
                                  {"lane", Kind::text, false},
                                  {"namespace", Kind::text, false},
                                  {"workflow", Kind::text, true},
                                  {"state", Kind::text, false},
                                  {"attempts", Kind::int64, false},
                                  {"changed_at", Kind::timestamp, false}},
                                 {"id"});
  return std::make_shared<const data::Schema>(*std::move(made));
}

view::Row row_of(const workflow::ExecutionInfo& info) {
  const workflow::Execution& execution = info.execution;
  return {Value(to_string(info.id)),
          Value(info.spec.kind),
          Value(execution.lane),
          Value(execution.space),
          execution.workflow ? Value(to_string(*execution.workflow)) : Value(),
          Value(std::string(to_string(info.state))),
          Value(static_cast<std::int64_t>(execution.attempts)),
          Value(data::Timestamp(execution.changed_at))};
}

using Places = storage::StateSpace<std::string, std::uint64_t>;

/// Writes what the notices from `from` on tell of; gives where the next ones begin.
Task<Result<std::uint64_t>> write_some(const workflow::Engine* engine,
                                       const view::Database* database, view::Relation table,
                                       Places places, std::uint64_t from) {
  WEIR_CO_TRY(notices, co_await engine->notices(from, notices_at_once));
  if (notices.empty()) co_return from;
  std::set<workflow::ExecutionId> executions;
  for (const auto& [number, notice] : notices) executions.insert(notice.execution);
  view::Transaction transaction = database->begin();
  for (const workflow::ExecutionId& id : executions) {
    WEIR_CO_TRY(info, co_await engine->describe(id));
    if (info) WEIR_CO_TRY_VOID(co_await transaction.upsert(table, row_of(*info)));
  }
  const std::uint64_t next = notices.back().first + 1;
  transaction.base().put(places, table.name(), next);
  WEIR_CO_TRY_VOID(co_await transaction.commit());
  co_return next;
}

Task<Result<>> follow(const workflow::Engine* engine, const view::Database* database,
                      std::string name, internal::WentOn went_on) {
  storage::Store* store = engine->store();
  WEIR_CO_TRY(table, co_await database->relation(name));
  WEIR_CO_TRY(places,
              (co_await store->open_state<std::string, std::uint64_t>("compose.execution_tables")));
  WEIR_CO_TRY(known, co_await store->current_state().get(places, name));
  // One that is new begins with what there is.
  WEIR_CO_TRY(first, co_await engine->first_notice());
  std::uint64_t from = known.value_or(first);
  bool is_new = true;
  for (;;) {
    // What is told later is a commit after this version.
    const storage::Version seen = store->version();
    WEIR_CO_TRY(next, co_await write_some(engine, database, table, places, from));
    // Those that have not been written are not removed meanwhile.
    if (next != from || is_new) {
      WEIR_CO_TRY_VOID(co_await engine->acknowledge_notices("table " + name, next - 1));
      is_new = false;
    }
    went_on();
    if (next == from) WEIR_CO_TRY_VOID(co_await store->log().wait_past(seen));
    from = next;
  }
}

}  // namespace

Task<Result<Follower>> follow_executions(const workflow::Engine* engine, view::Database* database,
                                         std::string table) {
  if (engine->store() == nullptr) {
    co_return Error(weir::Errc::unsupported,
                    "a table of executions needs an engine in the database's store");
  }
  auto made = co_await database->create_table(table, schema());
  if (!made && made.error() != view::Errc::already_exists) co_return made.error();
  co_return Follower(
      &engine->system(), "executions in " + table,
      [engine = engine->share(), database = database->share(), table](internal::WentOn went_on) {
        return follow(engine.get(), database.get(), table, std::move(went_on));
      });
}

}  // namespace weir::flow::compose
