#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/internal/name_table.hpp>

namespace weir::internal {

/// Threads for calls that block, started when needed and kept for a while.
class BlockingPool {
 public:
  explicit BlockingPool(Core& core) noexcept : core_(core) {}
  /// Waits for calls that have begun.
  ~BlockingPool();

  void submit(std::function<void()> work);
  std::size_t depth();

 private:
  void serve();

  Core& core_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::thread> threads_;
  unsigned idle_ = 0;
  bool ends_ = false;
};

/// Runs completion handlers of asynchronous I/O.
class IoService {
 public:
  virtual ~IoService() = default;
};

}  // namespace weir::internal
