#pragma once

#include <cstdint>

namespace weir::internal {

class TimerQueue;

/// One timer. The lock of the queue that will fire it guards it while it is armed.
struct TimerEntry {
  void* place = nullptr;    // where the queue keeps it; null when not armed
  std::uint32_t index = 0;  // within that place
  std::int64_t due = 0;     // nanoseconds on the system clock; a duration while fresh
  TimerQueue* queue = nullptr;
  // Called once when due, with the queue's lock held: hand over and return.
  void (*fire)(TimerEntry*) noexcept = nullptr;

  bool is_armed() const noexcept { return place != nullptr; }
};

/// `from + delay`, or the end of time if that is beyond it.
constexpr std::int64_t saturating_sum(std::int64_t from, std::int64_t delay) noexcept {
  return delay > INT64_MAX - from ? INT64_MAX : from + delay;
}

/// Fires timers. One per worker; another one under simulation.
class TimerQueue {
 public:
  virtual ~TimerQueue() = default;

  /// Fires at `due_ns`, never before.
  virtual void arm(TimerEntry& entry, std::int64_t due_ns) noexcept = 0;
  /// Fires `delay_ns` from now, never before, and needs no clock: for deadlines that rarely pass.
  virtual void arm_lazily(TimerEntry& entry, std::int64_t delay_ns) noexcept = 0;
  /// True if the timer was still armed, and so will not fire.
  virtual bool cancel(TimerEntry& entry) noexcept = 0;
};

}  // namespace weir::internal
