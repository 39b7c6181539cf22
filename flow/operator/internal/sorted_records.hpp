#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/flow/operator/internal/record.hpp>

namespace weir::flow::operators::internal {

/// A number for a key, not greater than that of a greater one: keys are only compared themselves
/// where these are equal. Most keys begin with a byte that says whether there is a value, or with
/// its complement, and eight bytes of the value follow.
std::uint64_t rank_of(std::string_view key) noexcept;

/// Records in the order of their keys: blocks of them, so that few move when one comes or goes. The
/// first block is here itself, as most groups have no other.
///
/// The ranks of the keys lie beside the records, so that a key is found without fetching others.
class SortedRecords {
 public:
  /// A place among the records. What comes or goes makes it invalid.
  struct Position {
    std::size_t block = 0;
    std::size_t index = 0;
    friend bool operator==(const Position&, const Position&) = default;
  };

  SortedRecords() = default;
  SortedRecords(SortedRecords&& other) noexcept
      : first_(std::exchange(other.first_, {})), rest_(std::exchange(other.rest_, {})) {}
  SortedRecords& operator=(SortedRecords&&) = delete;
  ~SortedRecords();

  bool is_empty() const noexcept { return first_.empty(); }
  /// Null at the end.
  Record* at(Position position) const noexcept {
    if (position.block > rest_.size()) return nullptr;
    const Block& block = this->block(position.block);
    return position.index < block.size() ? block[position.index].record : nullptr;
  }
  Position next(Position position) const noexcept {
    if (++position.index == block(position.block).size()) position = {position.block + 1, 0};
    return position;
  }
  /// The first whose key is not less.
  Position lower_bound(std::string_view key) const noexcept;
  Record* find(std::string_view key) const noexcept;
  /// Of a record that is there.
  Position position_of(const Record* record) const noexcept;
  Record* last() const noexcept;

  /// At its `lower_bound`; its key must not be there yet.
  void insert(Position position, Record::Ptr record);
  Record::Ptr erase(Position position) noexcept;
  /// The same key with more room.
  void replace(Position position, Record::Ptr record) noexcept {
    Record*& place = block(position.block)[position.index].record;
    Record::Ptr(std::exchange(place, record.release())).reset();
  }

  /// Has the processor fetch what is looked at first to find a key.
  void prefetch_block() const noexcept {
    const char* begin = reinterpret_cast<const char*>(first_.data());
    const std::size_t bytes = std::min<std::size_t>(first_.size(), prefetch_max) * sizeof(Entry);
    for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(begin + at);
  }
  /// The same for what is looked at last: the record with the key, if there is one.
  void prefetch(std::string_view key) const noexcept;
  /// The same for going through the records, once `prefetch_block` has been done.
  void prefetch_records() const noexcept {
    for (std::size_t index = 0; index < first_.size() && index < prefetch_max; ++index)
      first_[index].record->prefetch();
  }

 private:
  struct Entry {
    std::uint64_t rank;
    Record* record;  // owned
  };
  using Block = std::vector<Entry>;
  static constexpr std::size_t block_max = 128;
  static constexpr std::size_t prefetch_max = 16;

  Block& block(std::size_t index) noexcept { return index == 0 ? first_ : rest_[index - 1]; }
  const Block& block(std::size_t index) const noexcept {
    return index == 0 ? first_ : rest_[index - 1];
  }
  static bool is_before(const Entry& entry, std::uint64_t rank, std::string_view key) noexcept {
    return entry.rank != rank ? entry.rank < rank : entry.record->key() < key;
  }
  static std::size_t count_less(std::span<const Entry> entries, std::uint64_t rank) noexcept;
  static std::size_t index_of(const Block& block, std::uint64_t rank,
                              std::string_view key) noexcept;

  Block first_;              // empty only if there is nothing
  std::vector<Block> rest_;  // none is empty
};

}  // namespace weir::flow::operators::internal
