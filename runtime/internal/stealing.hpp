#pragma once

#include <weir/runtime/internal/worker.hpp>

// Where a worker finds work that others have.
namespace weir::internal {

/// Looks for work elsewhere, for longer if that was worth while the last time.
Cell* search_adaptively(Worker& worker) noexcept;

/// Takes what waits in the slot of a worker that does not come to it.
Cell* steal_stuck_slot(Worker& worker) noexcept;

}  // namespace weir::internal
