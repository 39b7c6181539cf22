#pragma once

// <chrono> also has calendars, and with them streams and locales, which cost every file with an
// actor a tenth of its time to compile. libstdc++ has durations, clocks and their literals apart as
// well.
#if __has_include(<bits/chrono.h>)
#include <bits/chrono.h>
#else
#include <chrono>
#endif

namespace weir {

using Duration = std::chrono::nanoseconds;

/// A point on the system's monotonic clock. Under simulation the clock is virtual and starts at
/// zero.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// A deadline that never comes.
inline constexpr Duration forever = Duration::max();

}  // namespace weir
