#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace weir::flow::operators::internal {

/// The same for equal bytes, and spread over all its bits.
inline std::uint64_t hash_bytes(std::string_view bytes) noexcept {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;
  const auto fold = [](std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  std::uint64_t hash = bytes.size() * factor;
  const char* next = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; next += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, next, 8);
    hash = fold(hash ^ word, factor);
  }
  if (left != 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, next, left);
    hash = fold(hash ^ word, factor);
  }
  return fold(hash ^ (hash >> 32), 0xD6E8FEB86659FD93);
}

/// Finds entries by their keys. Does not own them.
///
/// Open addressing with linear probing; an entry that goes leaves no trace, as those behind it move
/// up.
template <class Entry>
class HashIndex {
 public:
  std::size_t size() const noexcept { return size_; }
  std::size_t memory() const noexcept { return slots_.size() * sizeof(Slot); }

  Entry* find(std::string_view key, std::uint64_t hash) const noexcept {
    if (slots_.empty()) return nullptr;
    for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
      const Slot& slot = slots_[at];
      if (slot.entry == nullptr) return nullptr;
      if (slot.hash == static_cast<std::uint32_t>(hash >> 32) && slot.entry->key() == key)
        return slot.entry;
    }
  }

  /// Its key must not be there yet.
  void insert(Entry* entry, std::uint64_t hash) {
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    place(entry, hash);
    ++size_;
  }

  void replace(Entry* entry, Entry* with, std::uint64_t hash) noexcept {
    slots_[position_of(entry, hash)].entry = with;
  }

  void erase(Entry* entry, std::uint64_t hash) noexcept {
    std::size_t hole = position_of(entry, hash);
    for (std::size_t at = (hole + 1) & mask(); slots_[at].entry != nullptr;
         at = (at + 1) & mask()) {
      const std::size_t home = hash_bytes(slots_[at].entry->key()) & mask();
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].entry = nullptr;
    --size_;
  }

  // In this order, with others in between: brings what `find` looks at near, so that it waits less
  // for memory.
  void prefetch_slot(std::uint64_t hash) const noexcept {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & mask()]);
  }
  /// Probably the one with that hash; null if there is none.
  Entry* prefetch_entry(std::uint64_t hash) const noexcept {
    if (slots_.empty()) return nullptr;
    Entry* entry = slots_[hash & mask()].entry;
    __builtin_prefetch(entry);
    __builtin_prefetch(reinterpret_cast<const char*>(entry) + 64);
    return entry;
  }

  /// How many places there are, some of them empty: for sweeps that go on where they left off.
  std::size_t places() const noexcept { return slots_.size(); }
  Entry* at(std::size_t place) const noexcept { return slots_[place].entry; }

 private:
  struct Slot {
    Entry* entry = nullptr;
    std::uint32_t hash = 0;  // the upper half: the lower half is the place
  };

  std::size_t mask() const noexcept { return slots_.size() - 1; }
  std::size_t position_of(const Entry* entry, std::uint64_t hash) const noexcept {
    std::size_t at = hash & mask();
    while (slots_[at].entry != entry) at = (at + 1) & mask();
    return at;
  }
  void place(Entry* entry, std::uint64_t hash) noexcept {
    std::size_t at = hash & mask();
    while (slots_[at].entry != nullptr) at = (at + 1) & mask();
    slots_[at] = {entry, static_cast<std::uint32_t>(hash >> 32)};
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.entry != nullptr) place(slot.entry, hash_bytes(slot.entry->key()));
  }

  std::vector<Slot> slots_;  // a power of two, or none
  std::size_t size_ = 0;
};

}  // namespace weir::flow::operators::internal
