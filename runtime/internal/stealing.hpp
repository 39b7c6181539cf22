#pragma once

#include <weir/runtime/internal/worker.hpp>

// Where a worker finds work that others have.
namespace weir::internal {

/// Looks for work elsewhere, for longer if that was worth while the last time.
Cell* search_adaptively(Worker& worker) noexcept;

/// Remembers how many actors each of the other workers has activated so far.
void look_at_others(Worker& worker) noexcept;

/// True if `other` has not come to its next activation since `worker` last looked at the others.
/// One that has no work has not either, but leaves nothing to do.
bool is_stuck(const Worker& worker, const Worker& other) noexcept;

/// Takes what waits in the slot of a worker that is stuck.
Cell* steal_stuck_slot(Worker& worker) noexcept;

}  // namespace weir::internal
