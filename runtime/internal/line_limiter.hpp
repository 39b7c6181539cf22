#pragma once

#include <atomic>
#include <cstdint>

namespace weir::internal {

/// Admits one line a second, and says how many were left out.
class LineLimiter {
 public:
  /// Zero: print nothing. Otherwise the number of events since the last line, this one included.
  std::uint64_t admit(std::int64_t now_ns) noexcept {
    const std::uint64_t count = waiting_.fetch_add(1, std::memory_order_relaxed) + 1;
    std::int64_t last = last_ns_.load(std::memory_order_relaxed);
    if (last != 0 && now_ns - last < 1'000'000'000) return 0;
    if (!last_ns_.compare_exchange_strong(last, now_ns)) return 0;
    waiting_.fetch_sub(count, std::memory_order_relaxed);
    return count;
  }

 private:
  std::atomic<std::int64_t> last_ns_{0};
  std::atomic<std::uint64_t> waiting_{0};
};

}  // namespace weir::internal
