#include <weir/flow/operator/internal/sorted_records.hpp>

#include <algorithm>
#include <iterator>

namespace weir::flow::operators::internal {

SortedRecords::Position SortedRecords::lower_bound(std::string_view key) const noexcept {
  const auto block = std::ranges::partition_point(
      blocks_, [key](const Block& block) { return block.back()->key() < key; });
  if (block == blocks_.end()) return {blocks_.size(), 0};
  const auto record = std::ranges::partition_point(
      *block, [key](const Record::Ptr& record) { return record->key() < key; });
  return {static_cast<std::size_t>(block - blocks_.begin()),
          static_cast<std::size_t>(record - block->begin())};
}

Record* SortedRecords::find(std::string_view key) const noexcept {
  Record* record = at(lower_bound(key));
  return record != nullptr && record->key() == key ? record : nullptr;
}

Record* SortedRecords::last() const noexcept {
  return blocks_.empty() ? nullptr : blocks_.back().back().get();
}

void SortedRecords::insert(Position position, Record::Ptr record) {
  if (position.block == blocks_.size()) {
    if (blocks_.empty()) blocks_.emplace_back();
    position = {blocks_.size() - 1, blocks_.back().size()};
  }
  Block& block = blocks_[position.block];
  block.insert(block.begin() + static_cast<std::ptrdiff_t>(position.index), std::move(record));
  if (block.size() <= block_max) return;

  // In ascending order, as keys that grow come, blocks stay nearly full.
  const std::size_t kept = position.index + 1 == block.size() ? block_max - 8 : block_max / 2;
  Block upper(std::make_move_iterator(block.begin() + static_cast<std::ptrdiff_t>(kept)),
              std::make_move_iterator(block.end()));
  block.resize(kept);
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(position.block) + 1,
                 std::move(upper));
}

Record::Ptr SortedRecords::erase(Position position) noexcept {
  Block& block = blocks_[position.block];
  const auto place = block.begin() + static_cast<std::ptrdiff_t>(position.index);
  Record::Ptr record = std::move(*place);
  block.erase(place);
  if (block.empty()) blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(position.block));
  return record;
}

}  // namespace weir::flow::operators::internal
