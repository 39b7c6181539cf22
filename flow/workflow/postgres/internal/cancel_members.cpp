#include <weir/flow/workflow/postgres/internal/cancel_members.hpp>

#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::postgres::internal {
namespace {

namespace db = storage::postgres;
using Ids = std::vector<ExecutionId>;

/// The members first, then their workflow: in the order in which others lock them.
Result<Ids> cancel_these(Draft& draft, const WorkflowId& workflow, const Ids& members,
                         bool is_last) {
  for (const ExecutionId& member : members) draft.find<Execution>(member);
  return workflow::internal::cancel_members(draft, workflow, members, is_last);
}

}  // namespace

Task<Result<Ids>> read_members(std::shared_ptr<const Context> context, WorkflowId workflow,
                               std::optional<ExecutionId> after, std::size_t members_max) {
  db::Batch statements;
  statements.emplace_back("select set_config('enable_seqscan', 'off', true)");
  statements.push_back(db::Statement("select key from workflow_executions"
                                     " where workflow = $1 and key > $2 order by key limit $3",
                                     encode_key(workflow), after ? encode_key(*after) : db::Bytes(),
                                     static_cast<std::int64_t>(members_max))
                           .about("workflow_executions"));
  WEIR_CO_TRY(results, co_await context->pool.execute(std::move(statements)));
  Ids members;
  for (const db::Row row : results[1]) {
    WEIR_CO_TRY(id, key_in<ExecutionId>(row));
    members.push_back(id);
  }
  co_return members;
}

Task<Result<CancelledPiece>> cancel_piece(std::shared_ptr<const Context> context, BatchRef batches,
                                          WorkflowId workflow, std::optional<ExecutionId> after) {
  const std::size_t piece = context->options.cancels_max;
  WEIR_CO_TRY(members, co_await read_members(context, workflow, after, piece));
  const bool is_last = members.size() < piece;
  std::optional<ExecutionId> reached;
  if (!is_last) reached = members.back();
  const auto function = [workflow, members = std::move(members), is_last](Draft& draft) {
    return cancel_these(draft, workflow, members, is_last);
  };
  using Piece = workflow::internal::CommandOf<std::decay_t<decltype(function)>>;
  auto command = std::make_shared<Piece>(function);
  auto job = std::make_shared<CommandJob>(context->random(), command);
  WEIR_CO_TRY_VOID(co_await batches.ask<Submit>(job).within(forever));
  auto outcome = command->take();
  if (!outcome) co_return outcome.error();
  co_return CancelledPiece{*std::move(outcome), reached};
}

Task<Result<Ids>> cancel_all_members(std::shared_ptr<const Context> context, BatchRef batches,
                                     WorkflowId workflow) {
  Ids cancelled;
  std::optional<ExecutionId> after;
  do {
    WEIR_CO_TRY(piece, co_await cancel_piece(context, batches, workflow, after));
    cancelled.insert(cancelled.end(), piece.cancelled.begin(), piece.cancelled.end());
    after = piece.reached;
  } while (after);
  co_return cancelled;
}

}  // namespace weir::flow::workflow::postgres::internal
