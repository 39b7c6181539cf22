#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <weir/flow/workflow/postgres/internal/batch_actor.hpp>

namespace weir::flow::workflow::postgres::internal {

/// Executions of a workflow after one of them, in order.
Task<Result<std::vector<ExecutionId>>> read_members(std::shared_ptr<const Context> context,
                                                    WorkflowId workflow,
                                                    std::optional<ExecutionId> after,
                                                    std::size_t members_max);

/// Some of the executions of a workflow that is marked to be cancelled.
struct CancelledPiece {
  std::vector<ExecutionId> cancelled;
  /// The last one that was looked at: the next piece begins behind it. None if this was the last.
  std::optional<ExecutionId> reached;
};
Task<Result<CancelledPiece>> cancel_piece(std::shared_ptr<const Context> context, BatchRef batches,
                                          WorkflowId workflow, std::optional<ExecutionId> after);

/// All of them, piece by piece. Gives those that this has cancelled.
Task<Result<std::vector<ExecutionId>>> cancel_all_members(std::shared_ptr<const Context> context,
                                                          BatchRef batches, WorkflowId workflow);

}  // namespace weir::flow::workflow::postgres::internal
