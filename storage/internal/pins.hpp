#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include <weir/storage/version.hpp>

namespace weir::storage::internal {

/// Which versions are being read, and how far back one may still read. Usable from any thread.
class Pins {
 public:
  explicit Pins(Version horizon) : horizon_(horizon) {}

  /// Keeps `version` readable until `unpin`. False if it is older than the horizon.
  [[nodiscard]] bool pin(Version version) {
    const std::lock_guard lock(mutex_);
    if (version < horizon_) return false;
    ++pins_[version];
    return true;
  }
  /// Keeps the version that `newest()` gives readable until `unpin`. It is asked under the lock:
  /// who has looked for pins before has seen no newer version than the one that is pinned.
  template <class Newest>
  Version pin_newest(Newest newest) {
    const std::lock_guard lock(mutex_);
    const Version version = newest();
    ++pins_[version];
    return version;
  }
  void unpin(Version version) noexcept {
    const std::lock_guard lock(mutex_);
    const auto pinned = pins_.find(version);
    if (--pinned->second == 0) pins_.erase(pinned);
  }

  /// The oldest version being read, or `otherwise`.
  Version oldest_or(Version otherwise) const {
    const std::lock_guard lock(mutex_);
    return pins_.empty() ? otherwise : pins_.begin()->first;
  }
  /// The oldest version that may still be read.
  Version horizon() const {
    const std::lock_guard lock(mutex_);
    return horizon_;
  }
  /// Moves the horizon forward to `wanted`, or to the oldest pin before it. Gives where it is.
  Version raise_horizon(Version wanted) {
    const std::lock_guard lock(mutex_);
    if (!pins_.empty() && pins_.begin()->first < wanted) wanted = pins_.begin()->first;
    if (horizon_ < wanted) horizon_ = wanted;
    return horizon_;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const auto& [version, pins] : pins_) count += pins;
    return count;
  }

 private:
  mutable std::mutex mutex_;
  std::map<Version, std::size_t> pins_;
  Version horizon_;
};

}  // namespace weir::storage::internal
