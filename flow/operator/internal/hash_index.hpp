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
/// up. What tells most entries apart, a byte of their hashes, lies beside them, not among them:
/// nine bytes a place.
template <class Entry>
class HashIndex {
 public:
  std::size_t size() const noexcept { return size_; }
  std::size_t memory() const noexcept { return entries_.size() * (sizeof(Entry*) + sizeof(Tag)); }

  Entry* find(std::string_view key, std::uint64_t hash) const noexcept {
    if (entries_.empty()) return nullptr;
    const Tag tag = tag_of(hash);
    for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
      if (tags_[at] == none) return nullptr;
      if (tags_[at] == tag && entries_[at]->key() == key) return entries_[at];
    }
  }

  /// Has the processor fetch what `find` looks at first.
  void prefetch(std::uint64_t hash) const noexcept {
    if (entries_.empty()) return;
    __builtin_prefetch(&tags_[hash & mask()]);
    __builtin_prefetch(&entries_[hash & mask()]);
  }
  /// An entry that may be the one that is looked for; null if there is none.
  const Entry* likely(std::uint64_t hash) const noexcept {
    return entries_.empty() ? nullptr : entries_[hash & mask()];
  }

  /// Its key must not be there yet.
  void insert(Entry* entry, std::uint64_t hash) {
    if ((size_ + 1) * 4 > entries_.size() * 3) grow();
    place(entry, hash);
    ++size_;
  }

  void replace(Entry* entry, Entry* with, std::uint64_t hash) noexcept {
    entries_[position_of(entry, hash)] = with;
  }

  void erase(Entry* entry, std::uint64_t hash) noexcept {
    std::size_t hole = position_of(entry, hash);
    for (std::size_t at = (hole + 1) & mask(); tags_[at] != none; at = (at + 1) & mask()) {
      const std::size_t home = hash_bytes(entries_[at]->key()) & mask();
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      entries_[hole] = entries_[at];
      tags_[hole] = tags_[at];
      hole = at;
    }
    entries_[hole] = nullptr;
    tags_[hole] = none;
    --size_;
  }

  /// How many places there are, some of them empty: for sweeps that go on where they left off.
  std::size_t places() const noexcept { return entries_.size(); }
  Entry* at(std::size_t place) const noexcept { return entries_[place]; }

 private:
  using Tag = std::uint8_t;
  static constexpr Tag none = 0;

  /// Of the highest bits: the lowest are the place.
  static Tag tag_of(std::uint64_t hash) noexcept { return static_cast<Tag>(hash >> 56 | 1); }
  std::size_t mask() const noexcept { return entries_.size() - 1; }
  std::size_t position_of(const Entry* entry, std::uint64_t hash) const noexcept {
    std::size_t at = hash & mask();
    while (entries_[at] != entry) at = (at + 1) & mask();
    return at;
  }
  void place(Entry* entry, std::uint64_t hash) noexcept {
    std::size_t at = hash & mask();
    while (tags_[at] != none) at = (at + 1) & mask();
    entries_[at] = entry;
    tags_[at] = tag_of(hash);
  }
  void grow() {
    std::vector<Entry*> old(entries_.empty() ? 16 : entries_.size() * 2);
    old.swap(entries_);
    tags_.assign(entries_.size(), none);
    for (Entry* entry : old)
      if (entry != nullptr) place(entry, hash_bytes(entry->key()));
  }

  // By place: a power of two of them, or none.
  std::vector<Entry*> entries_;
  std::vector<Tag> tags_;  // `none` where there is no entry
  std::size_t size_ = 0;
};

}  // namespace weir::flow::operators::internal
