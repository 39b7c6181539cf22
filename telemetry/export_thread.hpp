#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace weir::telemetry {

/// A thread that does one thing now and then, and when asked.
class ExportThread {
 public:
  /// `round` is called by the thread: after every `interval`, and sooner if somebody asks for it.
  ExportThread(std::chrono::milliseconds interval, std::function<void()> round);
  ExportThread(const ExportThread&) = delete;
  ExportThread& operator=(const ExportThread&) = delete;
  /// Call `shut_down` first.
  ~ExportThread() = default;

  /// Soon, without waiting for it.
  void ask_for_round();
  /// Asks for a round that begins after this call, whose number it returns.
  std::uint64_t begin_flush();
  /// True if that round has ended by then; false at once if there are no more rounds.
  bool await_flush(std::uint64_t round, std::chrono::milliseconds within);
  /// One more round if there is time for it, then the end. `interrupt` is called with the time that
  /// is left, and makes a round that still runs return. Repeating it does nothing.
  void shut_down(std::chrono::milliseconds within,
                 const std::function<void(std::chrono::milliseconds left)>& interrupt);

 private:
  void work();

  const std::chrono::milliseconds interval_;
  const std::function<void()> round_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_due_ = false;
  bool ends_ = false;
  std::uint64_t rounds_wanted_ = 0;
  std::uint64_t rounds_done_ = 0;

  std::thread thread_;
};

}  // namespace weir::telemetry
