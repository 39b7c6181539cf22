#pragma once

#include <chrono>

namespace weir {

using Duration = std::chrono::nanoseconds;

/// A point on the system's monotonic clock. Under simulation the clock is virtual and starts at
/// zero.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// A deadline that never comes.
inline constexpr Duration forever = Duration::max();

}  // namespace weir
