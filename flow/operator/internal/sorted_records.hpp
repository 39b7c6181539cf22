#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/flow/operator/internal/record.hpp>

namespace weir::flow::operators::internal {

/// Records in the order of their keys: blocks of them, so that few move when one comes or goes.
class SortedRecords {
 public:
  /// A place among the records. What comes or goes makes it invalid.
  struct Position {
    std::size_t block = 0;
    std::size_t index = 0;
    friend bool operator==(const Position&, const Position&) = default;
  };

  bool is_empty() const noexcept { return blocks_.empty(); }
  /// Null at the end.
  Record* at(Position position) const noexcept {
    return position.block < blocks_.size() ? blocks_[position.block][position.index].record.get()
                                           : nullptr;
  }
  Position next(Position position) const noexcept {
    if (++position.index == blocks_[position.block].size()) position = {position.block + 1, 0};
    return position;
  }
  /// The first whose key is not less.
  Position lower_bound(std::string_view key) const noexcept;
  Record* find(std::string_view key) const noexcept;
  Record* last() const noexcept;

  /// At its `lower_bound`; its key must not be there yet.
  void insert(Position position, Record::Ptr record);
  Record::Ptr erase(Position position) noexcept;
  /// The same key with more room.
  void replace(Position position, Record::Ptr record) noexcept {
    blocks_[position.block][position.index].record = std::move(record);
  }

  // In this order, with others in between: brings the first records near, so that looking for one
  // of them waits less for memory.
  void prefetch_blocks() const noexcept { __builtin_prefetch(blocks_.data()); }
  void prefetch_entries() const noexcept {
    if (!blocks_.empty()) __builtin_prefetch(blocks_.front().data());
  }

 private:
  /// The beginning of a key as a number: less or greater where keys are that differ in it.
  struct Prefix {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    explicit Prefix(std::string_view key) noexcept;
    friend bool operator==(const Prefix&, const Prefix&) = default;
    friend auto operator<=>(const Prefix&, const Prefix&) = default;
  };
  struct Entry {
    Prefix prefix;
    Record::Ptr record;

    explicit Entry(Record::Ptr of) : prefix(of->key()), record(std::move(of)) {}
    bool is_less(const Prefix& than, std::string_view key) const noexcept {
      return prefix == than ? record->key() < key : prefix < than;
    }
  };
  using Block = std::vector<Entry>;
  static constexpr std::size_t block_max = 128;

  std::vector<Block> blocks_;  // none is empty
};

}  // namespace weir::flow::operators::internal
