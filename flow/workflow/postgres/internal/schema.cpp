#include <weir/flow/workflow/postgres/internal/schema.hpp>

#include <string>
#include <tuple>

#include <weir/flow/workflow/postgres/internal/table.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::postgres::internal {
namespace {

namespace db = storage::postgres;

/// The kinds of records that a migration makes tables for.
template <class... Rs>
struct Kinds {
  template <class R>
  static constexpr bool has = (std::is_same_v<R, Rs> || ...);
  static std::string script() { return (Table<Rs>::get().texts().create + ...); }
};

// Applied anywhere, a list never changes: a new kind of record is a new list, and a new migration.
using FirstKinds = Kinds<ExecutionSpec, Execution, Attempt, Workflow, Staged, Edge, EdgeGroup,
                         Links, Idempotency, Lane>;
using SignalKinds = Kinds<Suspension, Signal, SignalUse, Mailbox, Keyring>;
using JournalKinds = Kinds<JournalHead, JournalEntry>;
using LimitKinds = Kinds<Limit>;
using RetentionKinds = Kinds<Parent, Ended, Remains, NoticeCursors>;

template <class R>
struct HasTable {
  static_assert(FirstKinds::has<R> || SignalKinds::has<R> || JournalKinds::has<R> ||
                    LimitKinds::has<R> || RetentionKinds::has<R>,
                "this kind of record is in no migration: add it to one");
};
[[maybe_unused]] const workflow::internal::PerRecord<HasTable> every_kind_has_a_table;

constexpr const char* shared_script = R"(
create table workflow_facts (name text primary key, value text not null);
insert into workflow_facts values ('identity', (random() * 9e18)::int8::text);

-- What was told, by each batch. The counter is locked from the numbering to the commit: so the
-- numbers have no gaps, and nobody sees one before those below it.
create table workflow_counters (name text primary key, value int8 not null)
  with (fillfactor = 10);
insert into workflow_counters values ('notices', 0);
create table workflow_notices (last int8 primary key, first int8 not null,
                               records bytea not null);

-- Who does what is due in which partition. The epoch grows with each owner.
create table workflow_owners (owner int8 primary key, name text not null,
                              expires_at timestamptz not null);
create table workflow_partitions (number int2 primary key, owner int8,
                                  epoch int8 not null default 0, expires_at timestamptz)
  with (fillfactor = 50);
insert into workflow_partitions (number) select generate_series(0, 255);
)";

constexpr const char* index_script = R"(
create index workflow_executions_ready on workflow_executions
  (lane, priority desc, eligible_at, key) where is_ready;
create index workflow_executions_due on workflow_executions (partition, due_at)
  where due_at is not null;
create index workflow_executions_members on workflow_executions (workflow, key)
  where workflow is not null;
create index workflow_workflows_partition on workflow_workflows (partition, key);
create index workflow_workflows_cancelling on workflow_workflows (partition) where is_cancelling;
create index workflow_edge_groups_cancelling on workflow_edge_groups (partition)
  where is_cancelling;
)";

// Notices are removed from the first on; the counter has the last that was.
constexpr const char* notice_script = R"(
alter table workflow_notices add column told_at timestamptz not null default now();
insert into workflow_counters values ('removed_notices', 0);
)";

// Nothing to do: the number keeps programs away that do not know that a specification may end with
// the trace of who asked for it.
constexpr const char* trace_script = "select 'executions have traces'";

// Who claims asks for none that is under a limit which lets nobody pass. Of executions that were
// made before each is looked at.
constexpr const char* limit_keys_script =
    "alter table workflow_executions add column limit_keys text[] not null default '{}'";

/// Lets a column hold the words of an enumeration, and nothing else.
template <class E>
std::string check(const std::string& table, const std::string& column) {
  std::string list;
  for (const char* word : words<E>) {
    list += list.empty() ? "'" : ", '";
    list += std::string(word) + "'";
  }
  const std::string name = table + "_" + column + "_words";
  return "alter table " + table + " drop constraint if exists " + name + ";\nalter table " + table +
         " add constraint " + name + " check (" + column + " in (" + list + "));\n";
}

/// Not a migration: enumerations grow at their ends, and the checks with them.
std::string checks() {
  const std::string executions = table_of<Execution>();
  return check<PublicState>(executions, "state") + check<Phase>(executions, "phase") +
         check<workflow::Ownership>(executions, "ownership") +
         check<Eligibility>(executions, "eligibility") +
         check<BlockingReason>(executions, "reason") + check<Outcome>(executions, "outcome") +
         check<AttemptState>(executions, "attempt_state") +
         check<WorkflowState>(table_of<Workflow>(), "state") +
         check<EdgeState>(table_of<EdgeGroup>(), "state") +
         check<LaneState>(table_of<Lane>(), "state");
}

Task<Result<bool>> renew_checks(db::Transaction transaction, std::string wanted) {
  WEIR_CO_TRY_VOID(co_await transaction.execute(
      db::Statement("select pg_advisory_xact_lock(hashtextextended('weir workflow checks', 0))")));
  WEIR_CO_TRY(known, co_await transaction.execute(
                         db::Statement("select value from workflow_facts where name = 'checks'")));
  if (!known.is_empty()) {
    WEIR_CO_TRY(text, known[0].get<std::string>(0));
    if (text == wanted) co_return true;
  }
  WEIR_CO_TRY_VOID(co_await transaction.run_script(wanted));
  WEIR_CO_TRY_VOID(co_await transaction.execute(
      db::Statement("insert into workflow_facts values ('checks', $1)"
                    " on conflict (name) do update set value = excluded.value",
                    wanted)));
  co_return true;
}

}  // namespace

std::vector<db::Migration> migrations() {
  return {{"facts, notices and owners", shared_script},
          {"records", FirstKinds::script()},
          {"indexes of records", index_script},
          {"suspensions and signals", SignalKinds::script()},
          {"journals", JournalKinds::script()},
          {"limits", LimitKinds::script()},
          {"what has ended", RetentionKinds::script()},
          {"when notices were told", notice_script},
          {"traces of executions", trace_script},
          {"limits of executions", limit_keys_script}};
}

Task<Result<std::uint64_t>> prepare_schema(db::Pool pool) {
  WEIR_CO_TRY_VOID(co_await db::migrate(pool, migrations(), {.table = "weir_workflow_migrations"}));
  WEIR_CO_TRY_VOID(
      co_await pool.transaction(db::Isolation::read_committed, &renew_checks, checks()));
  WEIR_CO_TRY(rows, co_await pool.execute(db::Statement(
                        "select value::int8 from workflow_facts where name = 'identity'")));
  if (rows.is_empty()) co_return Error(db::Errc::corruption, "workflow_facts: no identity");
  WEIR_CO_TRY(identity, rows[0].get<std::int64_t>(0));
  co_return static_cast<std::uint64_t>(identity);
}

}  // namespace weir::flow::workflow::postgres::internal
