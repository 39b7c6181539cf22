#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include <weir/storage/version.hpp>

namespace weir::storage::internal {

/// Key spaces that were dropped since the store was opened: handles of them may still be about.
/// Usable from any thread.
class DroppedSpaces {
 public:
  /// `last` is the highest number that a dropped space ever had.
  explicit DroppedSpaces(std::uint32_t last) noexcept : last_(last) {}

  /// The commit `version` dropped it. Must come before that can be seen.
  void add(std::uint32_t space, Version version) {
    const std::lock_guard lock(mutex_);
    versions_.emplace(space, version);
    if (space > last_.load(std::memory_order_relaxed)) last_.store(space);
    has_any_.store(true, std::memory_order_release);
  }
  /// Since when it is no more, if it was dropped.
  std::optional<Version> since(std::uint32_t space) const {
    if (!has_any_.load(std::memory_order_acquire)) return std::nullopt;
    const std::lock_guard lock(mutex_);
    const auto dropped = versions_.find(space);
    if (dropped == versions_.end()) return std::nullopt;
    return dropped->second;
  }
  /// Numbers up to this one are not given again.
  std::uint32_t last() const noexcept { return last_.load(); }

 private:
  std::atomic<bool> has_any_{false};
  std::atomic<std::uint32_t> last_;
  mutable std::mutex mutex_;
  std::map<std::uint32_t, Version> versions_;  // guarded by `mutex_`
};

}  // namespace weir::storage::internal
