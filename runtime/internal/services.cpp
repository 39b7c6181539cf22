#include <weir/runtime/internal/services.hpp>

#include <algorithm>

#include <weir/runtime/internal/core.hpp>

namespace weir::internal {

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
