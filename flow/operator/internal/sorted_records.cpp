#include <weir/flow/operator/internal/sorted_records.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>

namespace weir::flow::operators::internal {

SortedRecords::Prefix::Prefix(std::string_view key) noexcept {
  std::array<std::uint64_t, 2> words = {};
  std::memcpy(words.data(), key.data(), std::min(key.size(), sizeof(words)));
  if constexpr (std::endian::native == std::endian::little)
    for (std::uint64_t& word : words) word = __builtin_bswap64(word);
  high = words[0];
  low = words[1];
}

SortedRecords::Position SortedRecords::lower_bound(std::string_view key) const noexcept {
  const Prefix prefix(key);
  const auto block = std::ranges::partition_point(
      blocks_, [&](const Block& block) { return block.back().is_less(prefix, key); });
  if (block == blocks_.end()) return {blocks_.size(), 0};
  const auto entry = std::ranges::partition_point(
      *block, [&](const Entry& entry) { return entry.is_less(prefix, key); });
  return {static_cast<std::size_t>(block - blocks_.begin()),
          static_cast<std::size_t>(entry - block->begin())};
}

Record* SortedRecords::find(std::string_view key) const noexcept {
  Record* record = at(lower_bound(key));
  return record != nullptr && record->key() == key ? record : nullptr;
}

Record* SortedRecords::last() const noexcept {
  return blocks_.empty() ? nullptr : blocks_.back().back().record.get();
}

void SortedRecords::insert(Position position, Record::Ptr record) {
  if (position.block == blocks_.size()) {
    if (blocks_.empty()) blocks_.emplace_back();
    position = {blocks_.size() - 1, blocks_.back().size()};
  }
  Block& block = blocks_[position.block];
  block.emplace(block.begin() + static_cast<std::ptrdiff_t>(position.index), std::move(record));
  if (block.size() <= block_max) return;

  // In ascending order, as keys that grow come, blocks stay nearly full.
  const std::size_t kept = position.index + 1 == block.size() ? block_max - 8 : block_max / 2;
  Block upper(std::make_move_iterator(block.begin() + static_cast<std::ptrdiff_t>(kept)),
              std::make_move_iterator(block.end()));
  block.erase(block.begin() + static_cast<std::ptrdiff_t>(kept), block.end());
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(position.block) + 1,
                 std::move(upper));
}

Record::Ptr SortedRecords::erase(Position position) noexcept {
  Block& block = blocks_[position.block];
  const auto place = block.begin() + static_cast<std::ptrdiff_t>(position.index);
  Record::Ptr record = std::move(place->record);
  block.erase(place);
  if (block.empty()) blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(position.block));
  return record;
}

}  // namespace weir::flow::operators::internal
