#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/flow/operator/internal/record.hpp>

namespace weir::flow::operators::internal {

/// Records in the order of their keys: blocks of them, so that few move when one comes or goes. The
/// first block is here itself, as most groups have no other.
class SortedRecords {
 public:
  /// A place among the records. What comes or goes makes it invalid.
  struct Position {
    std::size_t block = 0;
    std::size_t index = 0;
    friend bool operator==(const Position&, const Position&) = default;
  };

  bool is_empty() const noexcept { return first_.empty(); }
  /// Null at the end.
  Record* at(Position position) const noexcept {
    if (position.block > rest_.size()) return nullptr;
    const Block& block = this->block(position.block);
    return position.index < block.size() ? block[position.index].get() : nullptr;
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
    block(position.block)[position.index] = std::move(record);
  }

  /// Has the processor fetch what is read next of records that are soon looked at.
  void prefetch_block() const noexcept { __builtin_prefetch(first_.data()); }
  void prefetch_records() const noexcept {
    for (std::size_t index = 0; index < first_.size() && index < prefetch_max; ++index)
      first_[index]->prefetch();
  }

 private:
  using Block = std::vector<Record::Ptr>;
  static constexpr std::size_t block_max = 128;
  static constexpr std::size_t prefetch_max = 16;

  Block& block(std::size_t index) noexcept { return index == 0 ? first_ : rest_[index - 1]; }
  const Block& block(std::size_t index) const noexcept {
    return index == 0 ? first_ : rest_[index - 1];
  }

  Block first_;              // empty only if there is nothing
  std::vector<Block> rest_;  // none is empty
};

}  // namespace weir::flow::operators::internal
