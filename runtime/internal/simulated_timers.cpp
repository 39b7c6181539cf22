#include <weir/runtime/internal/simulated_timers.hpp>

#include <algorithm>
#include <utility>

namespace weir::internal {
namespace {

constexpr std::size_t slots_per_block = 256;
constexpr std::size_t children = 4;

}  // namespace

SimulatedTimers::SimulatedTimers() = default;
SimulatedTimers::~SimulatedTimers() = default;

void SimulatedTimers::add(TimerEntry& entry, std::int64_t due_ns, std::uint64_t order) {
  Slot* slot = take_free_slot();
  slot->entry = &entry;
  slot->due = due_ns;
  slot->order = order;
  entry.place = slot;
  heap_.push_back(slot);
  move_up(slot, heap_.size() - 1);
}

bool SimulatedTimers::remove(TimerEntry& entry) noexcept {
  if (!entry.is_armed()) return false;
  erase(static_cast<Slot*>(entry.place));
  entry.place = nullptr;
  return true;
}

void SimulatedTimers::fire_next() noexcept {
  Slot* slot = heap_.front();
  TimerEntry* entry = slot->entry;
  erase(slot);
  entry->place = nullptr;
  entry->fire(entry);
}

SimulatedTimers::Slot* SimulatedTimers::take_free_slot() {
  if (free_.empty()) {
    blocks_.push_back(std::make_unique<Slot[]>(slots_per_block));
    for (std::size_t i = 0; i < slots_per_block; ++i) free_.push_back(&blocks_.back()[i]);
  }
  Slot* slot = free_.back();
  free_.pop_back();
  return slot;
}

void SimulatedTimers::place(Slot* slot, std::size_t position) noexcept {
  heap_[position] = slot;
  slot->position = position;
}

void SimulatedTimers::move_up(Slot* slot, std::size_t position) noexcept {
  while (position > 0) {
    const std::size_t parent = (position - 1) / children;
    if (!slot->is_before(*heap_[parent])) break;
    place(heap_[parent], position);
    position = parent;
  }
  place(slot, position);
}

void SimulatedTimers::move_down(Slot* slot, std::size_t position) noexcept {
  for (;;) {
    const std::size_t first = position * children + 1;
    if (first >= heap_.size()) break;
    const std::size_t end = std::min(first + children, heap_.size());
    std::size_t least = first;
    for (std::size_t i = first + 1; i < end; ++i) {
      if (heap_[i]->is_before(*heap_[least])) least = i;
    }
    if (!heap_[least]->is_before(*slot)) break;
    place(heap_[least], position);
    position = least;
  }
  place(slot, position);
}

void SimulatedTimers::erase(Slot* slot) noexcept {
  Slot* last = heap_.back();
  heap_.pop_back();
  const std::size_t gap = slot->position;
  if (last != slot) {
    if (last->is_before(*slot)) {
      move_up(last, gap);
    } else {
      move_down(last, gap);
    }
  }
  free_.push_back(slot);
}

}  // namespace weir::internal
