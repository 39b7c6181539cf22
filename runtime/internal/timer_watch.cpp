#include <weir/runtime/internal/timer_watch.hpp>

#include <algorithm>
#include <utility>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/stealing.hpp>

namespace weir::internal {
namespace {

// A sleeper looks after the timers of its neighbour, which may be stuck in a long handler, this
// long after they were due.
constexpr std::int64_t watch_delay_ns = 2'000'000;
// How many activations may pass before a worker that is never idle looks at its timers; fewer when
// they take long.
constexpr std::uint32_t ticks_between_timer_checks = 64;
constexpr std::int64_t timer_check_ns_max = 500'000;

Worker* watched_by(Worker& worker) noexcept {
  const std::size_t count = worker.core.workers.size();
  return count == 1 ? nullptr : worker.core.workers[(worker.index + 1) % count].get();
}

}  // namespace

std::int64_t next_timer_due(Worker& worker, std::int64_t now) noexcept {
  const std::int64_t own = worker.timers.next_due();
  Worker* watched = watched_by(worker);
  if (!watched) return own;
  // A timer that is armed from now on wakes this worker; earlier ones are seen below.
  watched->watched_since.store(now, std::memory_order_relaxed);
  watched->watched_until.store(TimerWheel::never, std::memory_order_seq_cst);
  const std::int64_t theirs = saturating_sum(watched->timers.next_due(), watch_delay_ns);
  const std::int64_t due = std::min(own, theirs);
  watched->watched_until.store(due, std::memory_order_seq_cst);
  return due;
}

void end_timer_watch(Worker& worker) noexcept {
  if (Worker* watched = watched_by(worker)) {
    watched->watched_until.store(INT64_MIN, std::memory_order_relaxed);
  }
}

void advance_timers(Worker& worker) noexcept {
  if (worker.timers.is_empty()) return;
  const OutsideOfTraces outside(worker);
  worker.timers.advance(worker.core.now_ns());
}

void check_timers(Worker& worker) noexcept {
  const std::int64_t now = worker.core.now_ns();
  const bool is_late = now - std::exchange(worker.timers_checked, now) > timer_check_ns_max;
  worker.timer_check_every =
      is_late ? std::max(worker.timer_check_every / 4, 1u)
              : std::min(worker.timer_check_every * 2, ticks_between_timer_checks);
  const OutsideOfTraces outside(worker);
  worker.timers.advance(now);
}

void advance_timers_of_stuck(Worker& worker) noexcept {
  const std::int64_t now = worker.core.now_ns();
  const OutsideOfTraces outside(worker);
  for (auto& other : worker.core.workers) {
    if (is_stuck(worker, *other) && !other->timers.is_empty()) other->timers.try_advance(now);
  }
}

void Core::wake_watcher_before(std::int64_t due_ns) noexcept {
  const Worker& armed = *this_worker;
  const std::int64_t until = armed.watched_until.load(std::memory_order_seq_cst);
  if (until == INT64_MIN || due_ns >= until - watch_delay_ns) [[likely]]
    return;
  wake(*workers[(armed.index + workers.size() - 1) % workers.size()]);
}

}  // namespace weir::internal
