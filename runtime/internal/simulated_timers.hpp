#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <weir/runtime/internal/timer_entry.hpp>

namespace weir::internal {

/// Timers in exact order of their due time: a heap, where the wheel of a real system counts ticks.
///
/// Timers due at the same time fire by `order`: drawn at random it shuffles them.
class SimulatedTimers {
 public:
  static constexpr std::int64_t never = INT64_MAX;

  SimulatedTimers();
  ~SimulatedTimers();
  SimulatedTimers(const SimulatedTimers&) = delete;
  SimulatedTimers& operator=(const SimulatedTimers&) = delete;

  void add(TimerEntry& entry, std::int64_t due_ns, std::uint64_t order);
  /// False if the timer was not armed.
  bool remove(TimerEntry& entry) noexcept;
  /// Fires the next timer. There must be one.
  void fire_next() noexcept;

  /// When the next timer is due; `never` if there is none.
  std::int64_t next_due() const noexcept { return heap_.empty() ? never : heap_.front()->due; }
  bool is_empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }

  /// A timer for which `wanted(entry)`, or null.
  template <class Wanted>
  TimerEntry* find(Wanted wanted) const {
    for (const Slot* slot : heap_) {
      if (wanted(*slot->entry)) return slot->entry;
    }
    return nullptr;
  }

 private:
  // Where an armed entry's `place` points.
  struct Slot {
    TimerEntry* entry;
    std::int64_t due;
    std::uint64_t order;
    std::size_t position;

    bool is_before(const Slot& other) const noexcept {
      return due != other.due ? due < other.due : order < other.order;
    }
  };

  Slot* take_free_slot();
  void place(Slot* slot, std::size_t position) noexcept;
  void move_up(Slot* slot, std::size_t position) noexcept;
  void move_down(Slot* slot, std::size_t position) noexcept;
  void erase(Slot* slot) noexcept;

  std::vector<Slot*> heap_;
  std::vector<Slot*> free_;
  std::vector<std::unique_ptr<Slot[]>> blocks_;
};

}  // namespace weir::internal
