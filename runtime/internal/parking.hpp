#pragma once

#include <weir/runtime/internal/worker.hpp>

// Workers without work sleep, and somebody stays awake enough to see that nothing is stuck.
namespace weir::internal {

/// Sleeps until woken, until a timer is due or, for the sentinel, for a moment. True if woken.
bool sleep(Worker& worker) noexcept;

/// An idle worker has found something to do: somebody else looks after what it was to look after.
void hand_over_watch(Worker& worker) noexcept;

}  // namespace weir::internal
