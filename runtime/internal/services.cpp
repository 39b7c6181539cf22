#include <weir/runtime/internal/services.hpp>

#include <algorithm>

#include <weir/runtime/internal/core.hpp>

namespace weir::internal {

NameTable::~NameTable() {
  for (auto& [name, entry] : entries_) entry.cell->release();
}

bool NameTable::add(const std::string& name, Cell* cell) {
  std::scoped_lock hold(mutex_);
  const auto [at, is_new] = entries_.try_emplace(name, Entry{cell});
  if (!is_new) {
    if (at->second.cell->is_running()) return false;
    at->second.cell->release();
    at->second.cell = cell;
  }
  cell->add_ref();
  return true;
}

bool NameTable::remove(const std::string& name) {
  std::scoped_lock hold(mutex_);
  const auto at = entries_.find(name);
  if (at == entries_.end()) return false;
  at->second.cell->release();
  entries_.erase(at);
  return true;
}

Cell* NameTable::find(const std::string& name) {
  std::scoped_lock hold(mutex_);
  const auto at = entries_.find(name);
  if (at == entries_.end() || !at->second.cell->is_running()) return nullptr;
  at->second.cell->add_ref();
  return at->second.cell;
}

std::vector<std::string> NameTable::names() {
  std::scoped_lock hold(mutex_);
  std::vector<std::string> all;
  for (const auto& [name, entry] : entries_) {
    if (entry.cell->is_running()) all.push_back(name);
  }
  std::sort(all.begin(), all.end());
  return all;
}

BlockingPool::~BlockingPool() {
  {
    std::scoped_lock hold(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void BlockingPool::submit(std::function<void()> work) {
  {
    std::scoped_lock hold(mutex_);
    queue_.push_back(std::move(work));
    if (idle_ < queue_.size() && threads_.size() < core_.options.blocking_threads_max) {
      threads_.emplace_back([this] { serve(); });
    }
  }
  changed_.notify_one();
}

std::size_t BlockingPool::depth() {
  std::scoped_lock hold(mutex_);
  return queue_.size();
}

void BlockingPool::serve() {
  std::unique_lock hold(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(hold, [this] { return ends_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty()) return;
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    hold.unlock();
    work();
    work = nullptr;
    hold.lock();
  }
}

}  // namespace weir::internal
