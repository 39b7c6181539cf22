#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace weir::test {

/// Lines written by any thread, and a way to wait for one without sleeping.
class EventLog {
 public:
  void add(std::string line) {
    std::scoped_lock hold(mutex_);
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }

  std::vector<std::string> lines() const {
    std::scoped_lock hold(mutex_);
    return lines_;
  }
  std::size_t count(const std::string& line) const {
    std::scoped_lock hold(mutex_);
    return static_cast<std::size_t>(std::count(lines_.begin(), lines_.end(), line));
  }

  /// True when the line has been written `times`; false if that takes absurdly long.
  bool wait_for(const std::string& line, std::size_t times = 1) const {
    std::unique_lock hold(mutex_);
    return changed_.wait_for(hold, std::chrono::seconds(20), [&] {
      return static_cast<std::size_t>(std::count(lines_.begin(), lines_.end(), line)) >= times;
    });
  }
  bool wait_for_lines(std::size_t wanted) const {
    std::unique_lock hold(mutex_);
    return changed_.wait_for(hold, std::chrono::seconds(20),
                             [&] { return lines_.size() >= wanted; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<std::string> lines_;
};

}  // namespace weir::test
