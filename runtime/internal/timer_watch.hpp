#pragma once

#include <weir/runtime/internal/worker.hpp>

// Who looks at the timers of which worker, and when.
namespace weir::internal {

/// Fires what is due.
void advance_timers(Worker& worker) noexcept;

/// The same, and decides how soon to do it again.
void check_timers(Worker& worker) noexcept;

/// For a worker that is never idle, before every activation.
inline void advance_timers_in_passing(Worker& worker) noexcept {
  if (--worker.until_timer_check > 0) return;
  if (!worker.timers.is_empty()) [[unlikely]]
    check_timers(worker);
  worker.until_timer_check = worker.timer_check_every;
}

/// The timers of workers that are stuck in a long handler, each by itself: see stealing.hpp.
void advance_timers_of_stuck(Worker& worker) noexcept;

/// When this worker must look after its own timers or, somewhat later, its neighbour's.
std::int64_t next_timer_due(Worker& worker, std::int64_t now) noexcept;

/// A worker that was asleep looks after its neighbour's timers no longer.
void end_timer_watch(Worker& worker) noexcept;

}  // namespace weir::internal
