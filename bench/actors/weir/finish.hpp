#pragma once

#include <condition_variable>
#include <mutex>

#include <weir/bench/actors/measure.hpp>
#include <weir/runtime/actor_system.hpp>

namespace weir::bench::actors {

/// Lets the main thread sleep until the actors say that the measured work is done.
class Finish {
 public:
  void done() {
    std::scoped_lock hold(mutex_);
    is_done_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [this] { return is_done_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
};

inline ActorSystemOptions system_options() { return {.threads = static_cast<unsigned>(threads())}; }

inline constexpr std::uint32_t bounded_capacity = bounded_mailbox;

}  // namespace weir::bench::actors
