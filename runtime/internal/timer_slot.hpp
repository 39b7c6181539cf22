#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <weir/runtime/internal/pool.hpp>
#include <weir/runtime/internal/timer_entry.hpp>

namespace weir::internal {

/// The timers of one slot of a wheel, in no order. They lie scattered in memory, so that finding
/// them costs more than keeping them: adding and removing one touches no other, and all of them are
/// fetched ahead when they are visited.
///
/// Chunks of pointers, the one being filled first. A timer that is removed leaves a gap; a chunk
/// that has nothing but gaps goes, unless it is the only one.
class TimerSlot {
 public:
  TimerSlot() noexcept = default;
  TimerSlot(TimerSlot&& other) noexcept : first_(std::exchange(other.first_, nullptr)) {}
  TimerSlot& operator=(TimerSlot&&) = delete;
  ~TimerSlot() {
    while (first_) drop(first_);
  }

  bool is_empty() const noexcept { return !first_ || first_->live == 0; }

  void add(TimerEntry& entry) noexcept {
    Chunk* chunk = first_;
    if (!chunk || chunk->used == chunk_entries) [[unlikely]]
      chunk = push_chunk();
    entry.place = chunk;
    entry.index = chunk->used;
    chunk->entries[chunk->used++] = &entry;
    ++chunk->live;
  }

  /// Takes a timer out of the slot it is in.
  static void remove(TimerEntry& entry) noexcept {
    auto* chunk = static_cast<Chunk*>(std::exchange(entry.place, nullptr));
    chunk->entries[entry.index] = nullptr;
    if (--chunk->live > 0) [[likely]] {
      if (entry.index + 1 == chunk->used) --chunk->used;
      return;
    }
    chunk->used = 0;
    if (chunk->next || chunk->previous) chunk->slot->drop(chunk);
  }

  /// Calls `visit` for every timer and empties the slot. Returns how many there were.
  template <class Visit>
  std::size_t take_all(Visit visit) noexcept {
    TimerSlot taken(std::move(*this));
    std::size_t count = 0;
    while (Chunk* chunk = taken.first_) {
      if (chunk->next) __builtin_prefetch(&chunk->next->entries);
      count += visit_chunk(*chunk, visit);
      if (first_ || chunk->next) {
        taken.drop(chunk);
      } else {  // kept for the next timer
        taken.first_ = nullptr;
        chunk->used = chunk->live = 0;
        chunk->slot = this;
        chunk->previous = nullptr;
        first_ = chunk;
      }
    }
    return count;
  }

 private:
  static constexpr std::uint32_t chunk_entries = 28;
  struct Chunk : Pooled {
    Chunk* next = nullptr;
    Chunk* previous = nullptr;
    TimerSlot* slot = nullptr;
    std::uint32_t used = 0;  // entries, gaps among them
    std::uint32_t live = 0;
    TimerEntry* entries[chunk_entries];
  };
  static_assert(sizeof(Chunk) == 256);

  Chunk* push_chunk() noexcept {
    auto* chunk = new Chunk;
    chunk->slot = this;
    chunk->next = first_;
    if (first_) first_->previous = chunk;
    return first_ = chunk;
  }
  void drop(Chunk* chunk) noexcept {
    (chunk->previous ? chunk->previous->next : first_) = chunk->next;
    if (chunk->next) chunk->next->previous = chunk->previous;
    delete chunk;
  }

  template <class Visit>
  static std::size_t visit_chunk(const Chunk& chunk, Visit& visit) noexcept {
    constexpr std::uint32_t ahead = 6;
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < chunk.used; ++i) {
      if (i + ahead < chunk.used && chunk.entries[i + ahead]) {
        __builtin_prefetch(chunk.entries[i + ahead], 1);
        __builtin_prefetch(reinterpret_cast<char*>(chunk.entries[i + ahead]) + 64, 1);
      }
      if (!chunk.entries[i]) continue;
      visit(*chunk.entries[i]);
      ++count;
    }
    return count;
  }

  Chunk* first_ = nullptr;
};

}  // namespace weir::internal
