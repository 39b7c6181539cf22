#include <weir/telemetry/export_thread.hpp>

#include <algorithm>
#include <utility>

namespace weir::telemetry {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

ExportThread::ExportThread(milliseconds interval, std::function<void()> round)
    : interval_(interval), round_(std::move(round)), thread_([this] { work(); }) {}

void ExportThread::ask_for_round() {
  const std::scoped_lock hold(mutex_);
  is_due_ = true;
  changed_.notify_all();
}

std::uint64_t ExportThread::begin_flush() {
  const std::scoped_lock hold(mutex_);
  changed_.notify_all();
  return ++rounds_wanted_;
}

bool ExportThread::await_flush(std::uint64_t round, milliseconds within) {
  std::unique_lock hold(mutex_);
  changed_.wait_for(hold, within, [&] { return rounds_done_ >= round || ends_; });
  return rounds_done_ >= round;
}

void ExportThread::shut_down(milliseconds within,
                             const std::function<void(milliseconds left)>& interrupt) {
  if (!thread_.joinable()) return;
  const auto end = steady_clock::now() + within;
  if (within > milliseconds(0)) await_flush(begin_flush(), within);
  {
    const std::scoped_lock hold(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  const auto left = std::chrono::duration_cast<milliseconds>(end - steady_clock::now());
  interrupt(std::max(left, milliseconds(0)));
  thread_.join();
}

void ExportThread::work() {
  std::unique_lock hold(mutex_);
  while (!ends_) {
    changed_.wait_for(hold, interval_,
                      [&] { return ends_ || is_due_ || rounds_wanted_ > rounds_done_; });
    if (ends_) return;
    is_due_ = false;
    const std::uint64_t round = rounds_wanted_;
    hold.unlock();
    round_();
    hold.lock();
    rounds_done_ = round;
    changed_.notify_all();
  }
}

}  // namespace weir::telemetry
