#include <weir/storage/internal/high_keys.hpp>

#include <weir/storage/internal/row_format.hpp>

namespace weir::storage::internal {

void HighKeys::learn(std::string_view row_key) {
  const std::lock_guard lock(mutex_);
  std::string& highest = highest_[space_of(row_key)];
  // Others may have learnt, and written, since this one looked.
  if (row_key > highest) highest = row_key;
}

bool HighKeys::is_known(std::uint32_t space) const {
  const std::lock_guard lock(mutex_);
  return highest_.contains(space);
}

void HighKeys::raise(const std::vector<Write>& writes) {
  const std::lock_guard lock(mutex_);
  for (const Write& write : writes) {
    if (write.kind != WriteKind::row || !write.value) continue;
    const auto highest = highest_.find(space_of(write.key));
    if (highest != highest_.end() && write.key > highest->second) highest->second = write.key;
  }
}

bool HighKeys::is_beyond(std::string_view row_key) const {
  const std::lock_guard lock(mutex_);
  const auto highest = highest_.find(space_of(row_key));
  return highest != highest_.end() && row_key > highest->second;
}

void HighKeys::mark_new(std::vector<Write>& writes) const {
  const std::lock_guard lock(mutex_);
  for (Write& write : writes) {
    if (write.kind != WriteKind::row || write.is_before_known) continue;
    const auto highest = highest_.find(space_of(write.key));
    if (highest != highest_.end() && write.key > highest->second) write.is_before_known = true;
  }
}

}  // namespace weir::storage::internal
