#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <weir/flow/workflow/postgres/internal/context.hpp>
#include <weir/runtime/task.hpp>

// Entries of what has ended, in the order of ends: there are none until an engine is to remove what
// has ended. From then on everybody makes them, and those of what ended before are added.
namespace weir::flow::workflow::postgres::internal {

/// Held by every batch until it is committed.
inline constexpr const char* share_ended_text =
    "select pg_advisory_xact_lock_shared(hashtextextended('weir workflow ended entries', 0))";

/// Has everybody make entries. True if those of what ended before are all there.
Task<Result<bool>> begin_ended_entries(std::shared_ptr<const Context> context);
Task<Result<>> note_ended_entries_added(std::shared_ptr<const Context> context);

/// What has ended, after one of them, in order: executions without a workflow, and workflows.
Task<Result<std::vector<ExecutionId>>> read_ended_executions(std::shared_ptr<const Context> context,
                                                             std::optional<ExecutionId> after,
                                                             std::size_t executions_max);
Task<Result<std::vector<WorkflowId>>> read_ended_workflows(std::shared_ptr<const Context> context,
                                                           std::optional<WorkflowId> after,
                                                           std::size_t workflows_max);

}  // namespace weir::flow::workflow::postgres::internal
