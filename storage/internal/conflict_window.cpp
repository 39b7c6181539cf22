#include <weir/storage/internal/conflict_window.hpp>

#include <algorithm>
#include <utility>

namespace weir::storage::internal {

void ConflictWindow::Writes::reserve(std::size_t keys, std::size_t bytes) {
  ends_.reserve(keys);
  hashes_.reserve(keys);
  bytes_.reserve(bytes);
}

void ConflictWindow::Writes::add(std::string_view key) {
  bytes_.append(key);
  ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  hashes_.push_back(hash(key));
}

std::string_view ConflictWindow::Writes::operator[](std::size_t index) const noexcept {
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(bytes_).substr(begin, ends_[index] - begin);
}

bool ConflictWindow::Writes::has_within(std::string_view begin,
                                        std::string_view end) const noexcept {
  std::size_t low = 0;
  std::size_t high = size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if ((*this)[middle] < begin) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < size() && (end.empty() || (*this)[low] < end);
}

void ConflictWindow::add(Version version, Writes writes) {
  for (std::size_t i = 0; i < writes.size(); ++i) last_writes_.set(writes.hash_at(i), version);
  keys_ += writes.size();
  commits_.push_back({version, std::move(writes)});
  while (keys_ > keys_max_ && commits_.size() > 1) forget_oldest();
}

void ConflictWindow::forget_until(Version version) {
  while (!commits_.empty() && commits_.front().version <= version) forget_oldest();
}

void ConflictWindow::forget_oldest() {
  const Entry& oldest = commits_.front();
  for (std::size_t i = 0; i < oldest.writes.size(); ++i)
    last_writes_.forget(oldest.writes.hash_at(i), oldest.version);
  keys_ -= oldest.writes.size();
  floor_ = oldest.version;
  commits_.pop_front();
}

Version ConflictWindow::last_write(std::uint64_t hash) const noexcept {
  return last_writes_.find(hash);
}

bool ConflictWindow::has_range_write(std::string_view begin, std::string_view end,
                                     Version since) const noexcept {
  const auto later =
      std::upper_bound(commits_.begin(), commits_.end(), since,
                       [](Version version, const Entry& entry) { return version < entry.version; });
  return std::any_of(later, commits_.end(),
                     [&](const Entry& entry) { return entry.writes.has_within(begin, end); });
}

}  // namespace weir::storage::internal
