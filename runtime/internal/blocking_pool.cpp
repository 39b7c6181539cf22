#include <weir/runtime/internal/blocking_pool.hpp>

#include <system_error>

#include <weir/runtime/internal/blocking_waiter.hpp>
#include <weir/runtime/internal/pool.hpp>

namespace weir::internal {

bool BlockingPool::submit(BlockingCall* call) {
  Threads over;
  bool is_taken = false;
  {
    const std::scoped_lock hold(mutex_);
    over.splice(over.begin(), finished_);
    queue_.push_back(call);
    is_taken = !ends_ && ensure_thread();
    if (!is_taken) queue_.pop_back();
  }
  if (is_taken) changed_.notify_one();
  for (std::thread& thread : over) thread.join();
  return is_taken;
}

// True if some thread will come to the end of the queue.
bool BlockingPool::ensure_thread() {
  if (idle_ >= queue_.size()) return true;
  if (threads_.size() >= options_.threads_max) return !threads_.empty();
  try {
    threads_.emplace_front();
    threads_.front() = std::thread([this, self = threads_.begin()] { serve(self); });
  } catch (const std::system_error&) {
    threads_.pop_front();
  }
  return !threads_.empty();
}

void BlockingPool::stop() noexcept {
  std::deque<BlockingCall*> refused;
  std::unique_lock hold(mutex_);
  ends_ = true;
  refused.swap(queue_);
  changed_.notify_all();
  hold.unlock();
  for (BlockingCall* call : refused) {
    call->refuse();
    call->finish();
  }
  hold.lock();
  changed_.wait(hold, [this] { return threads_.empty(); });
  Threads over;
  over.swap(finished_);
  hold.unlock();
  for (std::thread& thread : over) thread.join();
}

std::size_t BlockingPool::depth() {
  const std::scoped_lock hold(mutex_);
  return queue_.size();
}

std::size_t BlockingPool::threads() {
  const std::scoped_lock hold(mutex_);
  return threads_.size();
}

void BlockingPool::serve(Threads::iterator self) noexcept {
  // A thread that has taken from the pools returns what it holds of them when it ends.
  pool_deallocate(pool_allocate(1), 1);
  std::unique_lock hold(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait_for(hold, options_.idle_time, [this] { return ends_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty()) break;
    BlockingCall* call = queue_.front();
    queue_.pop_front();
    hold.unlock();
    BlockingCall::perform(call);
    hold.lock();
  }
  finished_.splice(finished_.begin(), threads_, self);
  changed_.notify_all();
}

}  // namespace weir::internal
