#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace weir::cli {

enum class ShowProgress { automatic, always, never };

/// A line on standard error about something that takes long: drawn again and again, and removed in
/// the end. By itself it appears after a second, and only on a terminal.
///
///     copying  [##########          ]  51 %  1.2 GiB of 2.4 GiB  300 MiB/s  4.0 s left
class Progress {
 public:
  enum class Unit { bytes, entries };

  explicit Progress(std::string what, ShowProgress show = ShowProgress::automatic);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// How much is done. A total of zero: nobody knows how much there is. From any thread.
  void update(Unit unit, std::uint64_t done, std::uint64_t total = 0) noexcept;
  /// What is going on now.
  void begin(std::string what);

 private:
  void draw_until_stopped();
  void draw();

  const bool is_always_;
  std::atomic<Unit> unit_ = Unit::entries;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> total_ = 0;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable stopped_;
  std::string what_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool is_stopped_ = false;
  bool is_drawn_ = false;

  std::thread thread_;  // none if nothing is drawn
};

}  // namespace weir::cli
