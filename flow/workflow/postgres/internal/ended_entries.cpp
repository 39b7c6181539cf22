#include <weir/flow/workflow/postgres/internal/ended_entries.hpp>

#include <string>
#include <utility>

#include <weir/flow/workflow/postgres/internal/encoding.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::postgres::internal {
namespace {

namespace db = storage::postgres;

constexpr const char* executions_text =
    "select key from workflow_executions where key > $1 and workflow is null"
    " and phase = 'terminal' order by key limit $2";
constexpr const char* workflows_text =
    "select key from workflow_workflows where key > $1 and state <> 'open' order by key limit $2";

template <class Id>
Task<Result<std::vector<Id>>> read_ids(std::shared_ptr<const Context> context, const char* text,
                                       std::optional<Id> after, std::size_t ids_max) {
  db::Batch statements;
  statements.emplace_back("select set_config('enable_seqscan', 'off', true)");
  statements.emplace_back(text, after ? encode_key(*after) : db::Bytes(),
                          static_cast<std::int64_t>(ids_max));
  WEIR_CO_TRY(results, co_await context->pool.execute(std::move(statements)));
  std::vector<Id> ids;
  for (const db::Row row : results[1]) {
    WEIR_CO_TRY(id, key_in<Id>(row));
    ids.push_back(id);
  }
  co_return ids;
}

}  // namespace

Task<Result<bool>> begin_ended_entries(std::shared_ptr<const Context> context) {
  db::Batch statements;
  // When nobody is left who began without knowing it.
  statements.emplace_back(
      "select pg_advisory_xact_lock(hashtextextended('weir workflow ended entries', 0))");
  statements.emplace_back(
      "insert into workflow_facts values ('ended_entries', 'new') on conflict (name) do nothing");
  statements.emplace_back("select value from workflow_facts where name = 'ended_entries'");
  WEIR_CO_TRY(results, co_await context->pool.execute(std::move(statements)));
  WEIR_CO_TRY(which, results[2][0].get<std::string>(0));
  co_return which == "all";
}

Task<Result<>> note_ended_entries_added(std::shared_ptr<const Context> context) {
  WEIR_CO_TRY_VOID(co_await context->pool.execute(
      db::Statement("update workflow_facts set value = 'all' where name = 'ended_entries'")));
  co_return {};
}

Task<Result<std::vector<ExecutionId>>> read_ended_executions(std::shared_ptr<const Context> context,
                                                             std::optional<ExecutionId> after,
                                                             std::size_t executions_max) {
  return read_ids<ExecutionId>(std::move(context), executions_text, after, executions_max);
}

Task<Result<std::vector<WorkflowId>>> read_ended_workflows(std::shared_ptr<const Context> context,
                                                           std::optional<WorkflowId> after,
                                                           std::size_t workflows_max) {
  return read_ids<WorkflowId>(std::move(context), workflows_text, after, workflows_max);
}

}  // namespace weir::flow::workflow::postgres::internal
