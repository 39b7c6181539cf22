#pragma once

#include <cstddef>
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
    return position.block < blocks_.size() ? blocks_[position.block][position.index].get()
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
    blocks_[position.block][position.index] = std::move(record);
  }

 private:
  using Block = std::vector<Record::Ptr>;
  static constexpr std::size_t block_max = 128;

  std::vector<Block> blocks_;  // none is empty
};

}  // namespace weir::flow::operators::internal
