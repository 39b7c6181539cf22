#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include <weir/runtime/clock.hpp>

namespace weir::storage {

namespace engine {
class SimulatedDisk;
}

/// When a commit is on disk.
struct Durability {
  enum class Mode : std::uint8_t { durable, buffered, memory };

  Mode mode = Mode::durable;
  Duration interval = {};

  /// Before it is acknowledged. Commits that come together share one sync.
  static constexpr Durability durable() noexcept { return {}; }
  /// At most `interval` after it is acknowledged: a crash may take the newest commits, and never
  /// one without all that came after it.
  static constexpr Durability buffered(Duration interval = std::chrono::milliseconds(5)) noexcept {
    return {Mode::buffered, interval};
  }
  /// When the store is closed, if it has a directory at all.
  static constexpr Durability memory() noexcept { return {Mode::memory, {}}; }
};

/// What is kept of the past.
struct Retention {
  /// Old versions of rows, for readers that travel in time. What open transactions read is kept
  /// anyway.
  Duration history = {};
  /// Change records that every consumer has passed are kept this long.
  Duration log = {};
  /// Beyond one of these limits change records go although a consumer has not passed them, and it
  /// is told that it was overtaken.
  std::uint64_t log_bytes_max = std::uint64_t{16} << 30;
  Duration log_age_max = std::chrono::hours(24 * 7);
};

/// How a store is opened.
struct StoreOptions {
  /// Made if it is not there; its parent must be. Without one the store is in memory.
  std::filesystem::path directory = {};
  Durability durability = {};
  Retention retention = {};
  /// For blocks read, rows not yet in sorted files, indexes and filters. Half as much again may be
  /// in use for short times.
  std::size_t memory_budget = std::size_t{256} << 20;
  /// Written keys that are remembered to find conflicts: a transaction older than they reach is
  /// refused with `Errc::conflict`.
  std::size_t conflict_keys_max = 200'000;
  /// How often what nobody needs any more is collected.
  Duration collect_interval = std::chrono::seconds(10);
  /// Commits are dated by the system's clock, counted from this time of day: by default the one
  /// when the store is opened. Give one under simulation.
  std::optional<std::chrono::sys_time<Duration>> opened_at = {};
  /// For simulation: what a store in memory has instead of a directory.
  std::shared_ptr<engine::SimulatedDisk> disk = {};
};

/// The longest encoded key, without its key space.
inline constexpr std::size_t key_bytes_max = std::size_t{16} << 10;
/// The longest encoded value.
inline constexpr std::size_t value_bytes_max = std::size_t{64} << 20;
/// The most that one transaction may write.
inline constexpr std::size_t transaction_bytes_max = std::size_t{256} << 20;

}  // namespace weir::storage
