#pragma once

#include <optional>

#include <weir/flow/workflow/internal/draft.hpp>
#include <weir/runtime/result.hpp>

// What a durable coroutine did is undone when others end its execution: by another execution, which
// is made in the commit of that end.
namespace weir::flow::workflow::internal {

/// Of executions that undo what another one did. Their payload is its id.
inline constexpr const char* undo_kind = "weir.undo";

/// The one that undoes what an execution did that has ended; there need not be one.
ExecutionId undo_id(const ExecutionId& id, const Execution& execution);

/// Lets what it did be undone, if it is a durable coroutine that did something. It has just been
/// ended by somebody else than its worker, who knows of it when its lease would have ended.
Result<> begin_undo(Draft& draft, const ExecutionId& id, const Execution& execution,
                    std::optional<Time> leased_until);

/// Whether what it did has yet to be undone.
bool is_being_undone(Draft& draft, const ExecutionId& id, const Execution& execution);

/// Before it is replayed: what was undone is to be done again. `wrong_state` until it is.
Result<> forget_undone(Draft& draft, const ExecutionId& id, const Execution& execution);

}  // namespace weir::flow::workflow::internal
