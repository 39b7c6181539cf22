#pragma once

#include <weir/runtime/clock.hpp>
#include <weir/runtime/internal/sleep_waiter.hpp>

namespace weir {

/// `co_await sleep_for(1s)`: waits on the system clock, virtual under simulation. Gives a
/// `Result<>`: `cancelled` if the caller was. A time that has passed is no wait at all.
///
/// The actor handles nothing else meanwhile unless it interleaves; see `schedule_once` for
/// something to be done later.
[[nodiscard]] inline internal::SleepAwaiter sleep_for(Duration duration) noexcept {
  return internal::SleepAwaiter(duration);
}

/// The same until a point on the system clock, as told by `now()`.
[[nodiscard]] inline internal::SleepAwaiter sleep_until(TimePoint time) noexcept {
  return internal::SleepAwaiter(time);
}

/// `co_await yield()`: goes to the back of the run queue, so that other actors can run. For long
/// computations; it is not cancelled.
[[nodiscard]] inline internal::YieldAwaiter yield() noexcept { return {}; }

}  // namespace weir
