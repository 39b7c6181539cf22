#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <source_location>

#include <weir/telemetry/log_record.hpp>

namespace weir::telemetry::internal {

/// Lines of one place in the code that were not written.
struct SiteReport {
  Level level = Level::info;
  const char* file = "";
  std::uint32_t line = 0;
  std::uint64_t suppressed = 0;
};

/// Admits so many lines a second from each place in the code. Lock-free, and of fixed size: when it
/// is full, further places share the entries of others.
class SiteTable {
 public:
  explicit SiteTable(std::uint32_t lines_per_second) noexcept : limit_(lines_per_second) {}

  struct Verdict {
    bool is_admitted = true;
    /// What the place has been denied in seconds before this one, to be said once.
    SiteReport report;
  };
  Verdict admit(const std::source_location& site, Level level, WallTime now) noexcept;

  /// Calls `report` for every place that was denied something which has not been said.
  void take_reports(const std::function<void(const SiteReport&)>& report);

 private:
  struct Entry {
    // Of the place; zero while free.
    std::atomic<std::uint64_t> key{0};
    // The second, and how many lines were admitted in it:  | second : 40 | lines : 24 |
    std::atomic<std::uint64_t> window{0};
    std::atomic<std::uint64_t> suppressed{0};
    std::atomic<const char*> file{""};
    std::atomic<std::uint32_t> line{0};
    std::atomic<Level> level{Level::info};
  };
  static constexpr std::size_t entries_count = 1024;
  static constexpr std::size_t probes_max = 16;

  Entry& entry_of(const std::source_location& site, Level level) noexcept;
  static SiteReport take_report(Entry& entry) noexcept;

  const std::uint32_t limit_;
  std::array<Entry, entries_count> entries_;
};

}  // namespace weir::telemetry::internal
