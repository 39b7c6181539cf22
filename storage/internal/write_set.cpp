#include <weir/storage/internal/write_set.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace weir::storage::internal {

std::string_view WriteBytes::add(std::string_view bytes) {
  if (bytes.size() > left_) {
    // What is long has memory of its own, and leaves the rest of a chunk to others.
    if (bytes.size() > chunk_ / 4) {
      chunks_.push_back(std::make_unique_for_overwrite<char[]>(bytes.size()));
      std::memcpy(chunks_.back().get(), bytes.data(), bytes.size());
      chunk_ = std::min(chunk_ * 2, chunk_max);
      return {chunks_.back().get(), bytes.size()};
    }
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(chunk_));
    next_ = chunks_.back().get();
    left_ = chunk_;
    chunk_ = std::min(chunk_ * 2, chunk_max);
  }
  std::memcpy(next_, bytes.data(), bytes.size());
  const std::string_view added(next_, bytes.size());
  next_ += bytes.size();
  left_ -= bytes.size();
  return added;
}

WriteSet::Position WriteSet::next(Position position) const noexcept {
  if (++position.index == blocks_[position.block].size()) position = {position.block + 1, 0};
  return position;
}

WriteSet::Position WriteSet::lower_bound(std::string_view key) const noexcept {
  const auto block = std::ranges::partition_point(
      blocks_, [&](const Block& block) { return writes_[block.back()].key < key; });
  if (block == blocks_.end()) return {blocks_.size(), 0};
  const auto place = std::ranges::partition_point(
      *block, [&](std::uint32_t write) { return writes_[write].key < key; });
  return {static_cast<std::size_t>(block - blocks_.begin()),
          static_cast<std::size_t>(place - block->begin())};
}

WriteSet::Position WriteSet::place_for(std::string_view key) const noexcept {
  if (blocks_.empty()) return {};
  if (key_at(last_) < key) {
    const Position behind = next(last_);
    if (is_end(behind) || key <= key_at(behind)) return behind;
  }
  return lower_bound(key);
}

/// Where it is then.
WriteSet::Position WriteSet::insert(Position position, std::uint32_t write) {
  if (blocks_.empty()) blocks_.emplace_back();
  if (is_end(position)) position = {blocks_.size() - 1, blocks_.back().size()};
  Block* block = &blocks_[position.block];
  if (block->size() == block_max) {
    // Where keys come in order, blocks stay nearly full.
    const std::size_t kept = position.index == block_max ? block_max : block_max / 2;
    Block upper(block->begin() + static_cast<std::ptrdiff_t>(kept), block->end());
    upper.reserve(block_max);
    block->resize(kept);
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(position.block) + 1,
                   std::move(upper));
    if (position.index >= kept) position = {position.block + 1, position.index - kept};
    block = &blocks_[position.block];
  }
  block->insert(block->begin() + static_cast<std::ptrdiff_t>(position.index), write);
  return position;
}

void WriteSet::put(WriteKind kind, std::string_view key, std::optional<std::string_view> value) {
  if (!bytes_) bytes_ = std::make_shared<WriteBytes>();
  const Position place = place_for(key);
  const auto made = static_cast<std::uint32_t>(writes_.size());
  const bool is_there = !is_end(place) && key_at(place) == key;
  const std::string_view own_key = is_there ? key_at(place) : bytes_->add(key);
  if (value) value = bytes_->add(*value);
  if (is_there) {
    std::uint32_t& write = blocks_[place.block][place.index];
    writes_[write].key = {};
    write = made;
    last_ = place;
  } else {
    last_ = insert(place, made);
    ++size_;
  }
  writes_.push_back({.kind = kind, .key = own_key, .value = value});
}

const Write* WriteSet::find(std::string_view key) const noexcept {
  const Position place = lower_bound(key);
  if (is_end(place) || key_at(place) != key) return nullptr;
  return &writes_[blocks_[place.block][place.index]];
}

template <class Visit>
void WriteSet::visit(std::string_view begin, std::string_view end, Visit visit) const {
  for (Position at = lower_bound(begin); !is_end(at); at = next(at)) {
    const std::uint32_t write = blocks_[at.block][at.index];
    if (!end.empty() && writes_[write].key >= end) return;
    visit(write);
  }
}

std::vector<Write*> WriteSet::range(std::string_view begin, std::string_view end) {
  std::vector<Write*> found;
  visit(begin, end, [&](std::uint32_t write) { found.push_back(&writes_[write]); });
  return found;
}

std::vector<const Write*> WriteSet::range(std::string_view begin, std::string_view end) const {
  std::vector<const Write*> found;
  visit(begin, end, [&](std::uint32_t write) { found.push_back(&writes_[write]); });
  return found;
}

void WriteSet::erase(std::string_view begin, std::string_view end) {
  const std::vector<Write*> gone = range(begin, end);
  for (Write* write : gone) write->key = {};
  for (Block& block : blocks_)
    std::erase_if(block, [&](std::uint32_t write) { return writes_[write].key.empty(); });
  std::erase_if(blocks_, [](const Block& block) { return block.empty(); });
  last_ = {};
  size_ -= gone.size();
}

std::vector<Write> WriteSet::take() {
  if (writes_.size() != size_)
    std::erase_if(writes_, [](const Write& write) { return write.key.empty(); });
  blocks_.clear();
  size_ = 0;
  return std::exchange(writes_, {});
}

}  // namespace weir::storage::internal
