#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <weir/runtime/internal/spin_lock.hpp>
#include <weir/runtime/internal/timer_entry.hpp>
#include <weir/runtime/internal/timer_slot.hpp>

namespace weir::internal {

/// A hierarchical timer wheel: arming and cancelling take constant time.
///
/// Level 0 has 4,096 slots of one tick (0.52 ms, 2.1 s in all); each of the four levels above has
/// 256 slots, each as long as the whole level below. A timer waits in the level that spans its due
/// time and moves down when the level below has turned once. Any thread may call any function.
class TimerWheel final : public TimerQueue {
 public:
  explicit TimerWheel(std::int64_t now_ns) noexcept;

  void arm(TimerEntry& entry, std::int64_t due_ns) noexcept override;
  void arm_lazily(TimerEntry& entry, std::int64_t delay_ns) noexcept override;
  bool cancel(TimerEntry& entry) noexcept override;

  /// Fires everything due at `now_ns`. Returns how many fired.
  std::size_t advance(std::int64_t now_ns) noexcept;

  /// The same, unless somebody else is at it.
  void try_advance(std::int64_t now_ns) noexcept;

  /// When `advance` should be called next: exact for the nearest 2 s, early beyond. `never` if
  /// empty.
  std::int64_t next_due() const noexcept;

  bool is_empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
  std::size_t size() const noexcept { return count_.load(std::memory_order_relaxed); }

  static constexpr std::int64_t never = INT64_MAX;

 private:
  static constexpr int tick_shift = 19;
  static constexpr int base_bits = 12;
  static constexpr int level_bits = 8;
  static constexpr int upper_levels = 4;
  static constexpr std::uint64_t base_slots = 1u << base_bits;
  static constexpr std::uint64_t level_slots = 1u << level_bits;

  std::size_t advance_locked(std::int64_t now_ns) noexcept;
  void place(TimerEntry& entry) noexcept;
  void settle_fresh(std::int64_t now_ns) noexcept;
  void cascade() noexcept;
  std::size_t fire_slot(TimerSlot& slot) noexcept;
  std::uint64_t skip_empty(std::uint64_t target) noexcept;

  mutable SpinLock lock_;
  std::atomic<std::size_t> count_{0};
  std::uint64_t tick_ = 0;  // everything due at this tick or before has fired
  TimerSlot fresh_;         // armed lazily since the clock was last read
  std::array<std::uint64_t, base_slots / 64>
      occupied_{};  // may be set for an empty slot, never the reverse
  std::array<TimerSlot, base_slots> base_;
  std::array<std::array<TimerSlot, level_slots>, upper_levels> upper_;
};

}  // namespace weir::internal
