#include <weir/flow/operator/memory_state.hpp>

namespace weir::flow::operators {

Result<std::optional<std::string>> MemoryState::get(std::string_view key) {
  const auto at = entries_.find(key);
  return at == entries_.end() ? std::nullopt : std::optional(at->second);
}

Result<std::vector<StateReader::Entry>> MemoryState::scan(const Range& range) {
  std::vector<Entry> found;
  for (auto at = entries_.lower_bound(range.from);
       at != entries_.end() && at->first < range.until && found.size() < range.limit; ++at) {
    found.push_back({at->first, at->second});
  }
  return found;
}

void MemoryState::write(std::span<const State::Write> writes) {
  for (const State::Write& write : writes) {
    if (write.value) {
      entries_[write.key] = *write.value;
    } else {
      entries_.erase(write.key);
    }
  }
}

}  // namespace weir::flow::operators
