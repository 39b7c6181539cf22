#include <weir/flow/operator/internal/sorted_records.hpp>

#include <bit>
#include <cstring>

namespace weir::flow::operators::internal {
namespace {

/// Bytes as a number that has their order; what is missing is zero.
std::uint64_t number_of(std::string_view bytes) noexcept {
  std::uint64_t number = 0;
  if (bytes.size() >= sizeof number) {
    std::memcpy(&number, bytes.data(), sizeof number);
  } else if (!bytes.empty()) {
    std::memcpy(&number, bytes.data(), bytes.size());
  }
  return std::endian::native == std::endian::little ? __builtin_bswap64(number) : number;
}

}  // namespace

std::uint64_t rank_of(std::string_view key) noexcept {
  if (key.empty()) return 0;
  // Two bits for how it begins: with nothing, a value, something else, or a value complemented.
  switch (static_cast<std::uint8_t>(key.front())) {
    case 0x00: return number_of(key.substr(1)) >> 2;
    case 0x01: return number_of(key.substr(1)) >> 2 | std::uint64_t{1} << 62;
    case 0xFE: return number_of(key.substr(1)) >> 2 | std::uint64_t{3} << 62;
    case 0xFF: return ~std::uint64_t{0};
    default: return number_of(key) >> 2 | std::uint64_t{2} << 62;
  }
}

SortedRecords::~SortedRecords() {
  for (std::size_t index = 0; index <= rest_.size(); ++index)
    for (const Entry& entry : block(index)) Record::Ptr(entry.record).reset();
}

/// How many of some entries in order have a lesser rank. Without a branch to be guessed wrong.
std::size_t SortedRecords::count_less(std::span<const Entry> entries, std::uint64_t rank) noexcept {
  const Entry* begin = entries.data();
  std::size_t left = entries.size();
  while (left > 1) {
    const std::size_t half = left / 2;
    begin += begin[half - 1].rank < rank ? half : 0;
    left -= half;
  }
  const auto before = static_cast<std::size_t>(begin - entries.data());
  return before + (left == 1 && begin->rank < rank ? 1 : 0);
}

std::size_t SortedRecords::index_of(const Block& block, std::uint64_t rank,
                                    std::string_view key) noexcept {
  std::span<const Entry> entries(block);
  const std::size_t less = count_less(entries, rank);
  entries = entries.subspan(less);
  if (entries.empty() || entries.front().rank != rank) return less;
  const auto found = std::ranges::partition_point(
      entries, [&](const Entry& entry) { return is_before(entry, rank, key); });
  return less + static_cast<std::size_t>(found - entries.begin());
}

SortedRecords::Position SortedRecords::lower_bound(std::string_view key) const noexcept {
  const std::uint64_t rank = rank_of(key);
  std::size_t index = 0;
  if (!rest_.empty() && is_before(first_.back(), rank, key)) {
    const auto found = std::ranges::partition_point(
        rest_, [&](const Block& block) { return is_before(block.back(), rank, key); });
    index = static_cast<std::size_t>(found - rest_.begin()) + 1;
    if (found == rest_.end()) return {index, 0};
  }
  return {index, index_of(block(index), rank, key)};
}

Record* SortedRecords::find(std::string_view key) const noexcept {
  Record* record = at(lower_bound(key));
  return record != nullptr && record->key() == key ? record : nullptr;
}

void SortedRecords::prefetch(std::string_view key) const noexcept {
  if (!rest_.empty()) return;
  const std::uint64_t rank = rank_of(key);
  const std::size_t index = count_less(first_, rank);
  if (index < first_.size() && first_[index].rank == rank) first_[index].record->prefetch();
}

SortedRecords::Position SortedRecords::position_of(const Record* record) const noexcept {
  // Comparing addresses, other records need not be fetched.
  if (!rest_.empty()) return lower_bound(record->key());
  const auto found = std::ranges::find(first_, record, &Entry::record);
  return {0, static_cast<std::size_t>(found - first_.begin())};
}

Record* SortedRecords::last() const noexcept {
  if (first_.empty()) return nullptr;
  return block(rest_.size()).back().record;
}

void SortedRecords::insert(Position position, Record::Ptr record) {
  if (position.block > rest_.size()) position = {rest_.size(), block(rest_.size()).size()};
  Block& block = this->block(position.block);
  block.insert(block.begin() + static_cast<std::ptrdiff_t>(position.index),
               {rank_of(record->key()), record.get()});
  static_cast<void>(record.release());
  if (block.size() <= block_max) return;

  // In ascending order, as keys that grow come, blocks stay nearly full.
  const std::size_t kept = position.index + 1 == block.size() ? block_max - 8 : block_max / 2;
  Block upper(block.begin() + static_cast<std::ptrdiff_t>(kept), block.end());
  rest_.insert(rest_.begin() + static_cast<std::ptrdiff_t>(position.block), std::move(upper));
  this->block(position.block).resize(kept);
}

Record::Ptr SortedRecords::erase(Position position) noexcept {
  Block& block = this->block(position.block);
  const auto place = block.begin() + static_cast<std::ptrdiff_t>(position.index);
  Record::Ptr record(place->record);
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
