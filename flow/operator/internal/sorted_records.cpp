#include <weir/flow/operator/internal/sorted_records.hpp>

#include <algorithm>
#include <iterator>

namespace weir::flow::operators::internal {

SortedRecords::Position SortedRecords::lower_bound(std::string_view key) const noexcept {
  std::size_t index = 0;
  if (!rest_.empty() && first_.back()->key() < key) {
    const auto found = std::ranges::partition_point(
        rest_, [key](const Block& block) { return block.back()->key() < key; });
    index = static_cast<std::size_t>(found - rest_.begin()) + 1;
    if (found == rest_.end()) return {index, 0};
  }
  const Block& block = this->block(index);
  const auto record = std::ranges::partition_point(
      block, [key](const Record::Ptr& record) { return record->key() < key; });
  return {index, static_cast<std::size_t>(record - block.begin())};
}

Record* SortedRecords::find(std::string_view key) const noexcept {
  Record* record = at(lower_bound(key));
  return record != nullptr && record->key() == key ? record : nullptr;
}

SortedRecords::Position SortedRecords::position_of(const Record* record) const noexcept {
  // Comparing addresses, other records need not be fetched.
  if (!rest_.empty()) return lower_bound(record->key());
  const auto found = std::ranges::find(first_, record, &Record::Ptr::get);
  return {0, static_cast<std::size_t>(found - first_.begin())};
}

Record* SortedRecords::last() const noexcept {
  if (first_.empty()) return nullptr;
  return block(rest_.size()).back().get();
}

void SortedRecords::insert(Position position, Record::Ptr record) {
  if (position.block > rest_.size()) position = {rest_.size(), block(rest_.size()).size()};
  Block& block = this->block(position.block);
  block.insert(block.begin() + static_cast<std::ptrdiff_t>(position.index), std::move(record));
  if (block.size() <= block_max) return;

  // In ascending order, as keys that grow come, blocks stay nearly full.
  const std::size_t kept = position.index + 1 == block.size() ? block_max - 8 : block_max / 2;
  Block upper(std::make_move_iterator(block.begin() + static_cast<std::ptrdiff_t>(kept)),
              std::make_move_iterator(block.end()));
  block.resize(kept);
  rest_.insert(rest_.begin() + static_cast<std::ptrdiff_t>(position.block), std::move(upper));
}

Record::Ptr SortedRecords::erase(Position position) noexcept {
  Block& block = this->block(position.block);
  const auto place = block.begin() + static_cast<std::ptrdiff_t>(position.index);
  Record::Ptr record = std::move(*place);
  block.erase(place);
  if (!block.empty() || rest_.empty()) return record;
  if (position.block == 0) {
    first_ = std::move(rest_.front());
    position.block = 1;
  }
  rest_.erase(rest_.begin() + static_cast<std::ptrdiff_t>(position.block) - 1);
  return record;
}

}  // namespace weir::flow::operators::internal
