#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

#include <weir/flow/data/calendar.hpp>
#include <weir/tests/storage/support/arbitrary.hpp>

// Random times, and what the C library says of a time.
namespace weir::flow::data::testing {

using storage::testing::arbitrary;
using storage::testing::Random;

/// In range; often near its ends, near 1970, at midnight, or at the turn of a year.
inline Timestamp arbitrary_time(Random& random) {
  using std::chrono::days;
  using std::chrono::microseconds;
  static constexpr auto range = static_cast<std::uint64_t>((date_max - date_min).count()) + 1;
  const auto near = microseconds(static_cast<int>(random.below(5)) - 2);
  Date date = date_min + days(random.bits() % range);
  if (random.one_in(4)) {
    date = std::chrono::year(static_cast<int>(1 + random.below(9999))) / 1 / 1;
    date += days(static_cast<int>(random.below(8)) - 4);
  }
  Timestamp time = date + microseconds(random.bits() % 86'400'000'000u);
  if (random.one_in(4)) time = date + near;
  if (random.one_in(8)) time = Timestamp() + near;
  if (random.one_in(4)) time = std::chrono::floor<std::chrono::seconds>(time);
  return std::clamp(time, timestamp_min, timestamp_max);
}

/// Since 1970, rounded down: the C library counts no less.
inline std::int64_t seconds_of(Timestamp time) {
  const std::int64_t count = time.time_since_epoch().count();
  return count / 1'000'000 - (count % 1'000'000 < 0 ? 1 : 0);
}

/// Of the second.
inline std::int64_t microseconds_of(Timestamp time) {
  return time.time_since_epoch().count() - seconds_of(time) * 1'000'000;
}

inline std::tm broken_down(Timestamp time) {
  const std::time_t seconds = seconds_of(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return parts;
}

}  // namespace weir::flow::data::testing
