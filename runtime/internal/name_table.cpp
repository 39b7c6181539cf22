#include <weir/runtime/internal/name_table.hpp>

#include <algorithm>

namespace weir::internal {

Cell* NameTable::lock(const Entry& entry) noexcept {
  if (!entry.cell->try_add_ref(entry.id)) return nullptr;
  if (entry.cell->is_running()) return entry.cell;
  entry.cell->release();
  return nullptr;
}

bool NameTable::is_alive(const Entry& entry) noexcept {
  Cell* cell = lock(entry);
  if (cell) cell->release();
  return cell != nullptr;
}

Cell* NameTable::add(std::string name, Cell& cell) {
  const Entry wanted{&cell, cell.id.load(std::memory_order_relaxed)};
  std::scoped_lock hold(mutex_);
  sweep_if_large();
  const auto [at, is_new] = entries_.try_emplace(std::move(name), wanted);
  if (is_new) return nullptr;
  if (Cell* owner = lock(at->second)) return owner;
  at->second = wanted;
  return nullptr;
}

bool NameTable::remove(std::string_view name) {
  std::scoped_lock hold(mutex_);
  const auto at = entries_.find(name);
  if (at == entries_.end()) return false;
  const bool was_alive = is_alive(at->second);
  entries_.erase(at);
  return was_alive;
}

Cell* NameTable::find(std::string_view name) {
  std::scoped_lock hold(mutex_);
  const auto at = entries_.find(name);
  return at == entries_.end() ? nullptr : lock(at->second);
}

std::vector<std::string> NameTable::names() {
  std::scoped_lock hold(mutex_);
  std::vector<std::string> all;
  for (const auto& [name, entry] : entries_) {
    if (is_alive(entry)) all.push_back(name);
  }
  return all;
}

// The table is at most twice as large as it was with living actors only.
void NameTable::sweep_if_large() {
  if (entries_.size() < sweep_at_) return;
  std::erase_if(entries_, [](const auto& entry) { return !is_alive(entry.second); });
  sweep_at_ = std::max<std::size_t>(64, entries_.size() * 2);
}

}  // namespace weir::internal
