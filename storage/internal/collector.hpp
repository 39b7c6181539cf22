#pragma once

#include <cstdint>
#include <deque>

#include <weir/runtime/clock.hpp>
#include <weir/runtime/result.hpp>
#include <weir/storage/internal/log_retention.hpp>
#include <weir/storage/version.hpp>

namespace weir::storage::internal {

struct StoreCore;

/// Remembers when which version was the newest, roughly.
class VersionTimes {
 public:
  void note(TimePoint time, Version newest);
  /// The newest version that was there at `time`; zero if that is longer ago than is known.
  /// Forgets what is older.
  Version newest_at(TimePoint time);

 private:
  struct Sample {
    TimePoint time;
    Version newest;
  };
  static constexpr std::size_t samples_max = 4096;
  std::deque<Sample> samples_;
};

/// The first change record that the limits on the log's length and age leave. Reads the log: waits
/// for the disk.
Result<Version> log_limit(const StoreCore& core, std::uint64_t total_bytes, std::uint64_t bytes_max,
                          std::uint64_t oldest_microseconds);

}  // namespace weir::storage::internal
