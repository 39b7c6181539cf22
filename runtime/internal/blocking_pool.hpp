#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <list>
#include <mutex>
#include <thread>

#include <weir/runtime/clock.hpp>

namespace weir::internal {

struct BlockingCall;

/// Threads for calls that block, started when needed and kept for a while.
class BlockingPool {
 public:
  struct Options {
    unsigned threads_max;
    Duration idle_time = std::chrono::seconds(10);
  };

  explicit BlockingPool(Options options) noexcept : options_(options) {}
  ~BlockingPool() { stop(); }

  /// False if no thread could be started.
  [[nodiscard]] bool submit(BlockingCall* call);

  /// Refuses what has not begun and waits for what has. Repeating it does nothing.
  void stop() noexcept;

  /// How many calls wait for a thread, and how many threads there are.
  std::size_t depth();
  std::size_t threads();

 private:
  using Threads = std::list<std::thread>;

  bool ensure_thread();
  void serve(Threads::iterator self) noexcept;

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<BlockingCall*> queue_;
  Threads threads_;
  Threads finished_;  // to be joined
  std::size_t idle_ = 0;
  bool ends_ = false;
};

}  // namespace weir::internal
