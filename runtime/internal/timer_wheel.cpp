#include <weir/runtime/internal/timer_wheel.hpp>

#include <bit>
#include <mutex>

namespace weir::internal {
namespace {

std::uint64_t tick_at_or_after(std::int64_t ns, int shift) noexcept {
  return (static_cast<std::uint64_t>(ns) + (std::uint64_t{1} << shift) - 1) >> shift;
}

}  // namespace

TimerWheel::TimerWheel(std::int64_t now_ns) noexcept
    : tick_(static_cast<std::uint64_t>(now_ns) >> tick_shift) {}

void TimerWheel::arm(TimerEntry& entry, std::int64_t due_ns) noexcept {
  std::scoped_lock hold(lock_);
  entry.due = due_ns;
  entry.queue = this;
  place(entry);
  count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void TimerWheel::arm_lazily(TimerEntry& entry, std::int64_t delay_ns) noexcept {
  std::scoped_lock hold(lock_);
  entry.due = delay_ns;
  entry.queue = this;
  fresh_.add(entry);
  count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

bool TimerWheel::cancel(TimerEntry& entry) noexcept {
  std::scoped_lock hold(lock_);
  if (!entry.is_armed()) return false;
  TimerSlot::remove(entry);
  count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  return true;
}

std::size_t TimerWheel::advance(std::int64_t now_ns) noexcept {
  std::scoped_lock hold(lock_);
  return advance_locked(now_ns);
}

void TimerWheel::try_advance(std::int64_t now_ns) noexcept {
  if (!lock_.try_lock()) return;
  advance_locked(now_ns);
  lock_.unlock();
}

std::size_t TimerWheel::advance_locked(std::int64_t now_ns) noexcept {
  const std::uint64_t target = static_cast<std::uint64_t>(now_ns) >> tick_shift;
  settle_fresh(now_ns);
  std::size_t fired = 0;
  while (tick_ < target) {
    tick_ = skip_empty(target);
    if ((tick_ & (base_slots - 1)) == 0) cascade();
    fired += fire_slot(base_[tick_ & (base_slots - 1)]);
  }
  return fired;
}

std::int64_t TimerWheel::next_due() const noexcept {
  std::scoped_lock hold(lock_);
  if (count_.load(std::memory_order_relaxed) == 0) return never;
  if (!fresh_.is_empty()) return static_cast<std::int64_t>((tick_ + 1) << tick_shift);
  const std::uint64_t turn_end = (tick_ | (base_slots - 1)) + 1;
  for (std::uint64_t tick = tick_ + 1; tick < turn_end; ++tick) {
    const std::uint64_t slot = tick & (base_slots - 1);
    const std::uint64_t word = occupied_[slot / 64] >> (slot % 64);
    if (word == 0) {
      tick |= 63;
      continue;
    }
    tick += static_cast<std::uint64_t>(std::countr_zero(word));
    if (tick < turn_end && !base_[tick & (base_slots - 1)].is_empty()) {
      return static_cast<std::int64_t>(tick << tick_shift);
    }
  }
  return static_cast<std::int64_t>(turn_end << tick_shift);
}

// A slot of the base wheel may hold timers of this turn and of the next one up to `tick_`, so what
// is within one full turn goes there; farther ones go to the first level whose span reaches them.
void TimerWheel::place(TimerEntry& entry) noexcept {
  std::uint64_t due = tick_at_or_after(entry.due, tick_shift);
  if (due <= tick_) due = tick_ + 1;
  if (due - tick_ < base_slots) {
    const std::uint64_t slot = due & (base_slots - 1);
    occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    base_[slot].add(entry);
    return;
  }
  int shift = base_bits;
  for (int level = 0; level < upper_levels; ++level, shift += level_bits) {
    const std::uint64_t distance = (due >> shift) - (tick_ >> shift);
    if (distance < level_slots || level == upper_levels - 1) {
      const std::uint64_t slot = distance < level_slots ? due >> shift : (tick_ >> shift) - 1;
      upper_[static_cast<std::size_t>(level)][slot & (level_slots - 1)].add(entry);
      return;
    }
  }
}

void TimerWheel::settle_fresh(std::int64_t now_ns) noexcept {
  if (fresh_.is_empty()) return;
  fresh_.take_all([&](TimerEntry& entry) {
    entry.due = entry.due > never - now_ns ? never - 1 : entry.due + now_ns;
    place(entry);
  });
}

// Called when the base wheel has turned: the next slot of each level comes down, as far as the
// levels below have turned too.
void TimerWheel::cascade() noexcept {
  int shift = base_bits;
  for (auto& level : upper_) {
    const std::uint64_t slot = (tick_ >> shift) & (level_slots - 1);
    level[slot].take_all([&](TimerEntry& entry) {
      if (tick_at_or_after(entry.due, tick_shift) <= tick_) {
        base_[tick_ & (base_slots - 1)].add(entry);  // due at this very tick
      } else {
        place(entry);
      }
    });
    if (slot != 0) break;
    shift += level_bits;
  }
}

std::size_t TimerWheel::fire_slot(TimerSlot& slot) noexcept {
  if (slot.is_empty()) return 0;
  const std::size_t count = slot.take_all([](TimerEntry& entry) {
    entry.place = nullptr;
    entry.fire(&entry);
  });
  count_.store(count_.load(std::memory_order_relaxed) - count, std::memory_order_relaxed);
  return count;
}

// The next tick that has something to do, not after `target`; clears the marks it passes.
std::uint64_t TimerWheel::skip_empty(std::uint64_t target) noexcept {
  std::uint64_t tick = tick_ + 1;
  while (tick < target && (tick & (base_slots - 1)) != 0) {
    const std::uint64_t slot = tick & (base_slots - 1);
    const std::uint64_t word = occupied_[slot / 64] >> (slot % 64);
    if (word != 0) {
      const auto skip = static_cast<std::uint64_t>(std::countr_zero(word));
      if (tick + skip > target) return target;
      tick += skip;
      break;
    }
    tick = (tick | 63) + 1;
  }
  if (tick > target) tick = target;
  const std::uint64_t slot = tick & (base_slots - 1);
  occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
  return tick;
}

}  // namespace weir::internal
