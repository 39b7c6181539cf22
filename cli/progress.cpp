#include <weir/cli/progress.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <weir/cli/format.hpp>

namespace weir::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto before_drawing = 1s;
constexpr auto between_drawings = 100ms;
constexpr std::size_t bar_columns = 20;

bool is_drawn(ShowProgress show) noexcept {
  if (show == ShowProgress::automatic) return ::isatty(STDERR_FILENO) == 1;
  return show == ShowProgress::always;
}

std::string amount(Progress::Unit unit, double count) {
  return unit == Progress::Unit::bytes ? bytes(count) : grouped(static_cast<std::uint64_t>(count));
}

std::string bar(double part) {
  const auto full = static_cast<std::size_t>(part * bar_columns);
  char percent[8];
  std::snprintf(percent, sizeof(percent), "%3d %%", static_cast<int>(part * 100));
  return "  [" + std::string(full, '#') + std::string(bar_columns - full, ' ') + "]  " + percent;
}

}  // namespace

Progress::Progress(std::string what, ShowProgress show)
    : is_always_(show == ShowProgress::always), what_(std::move(what)) {
  if (cli::is_drawn(show)) thread_ = std::thread([this] { draw_until_stopped(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

void Progress::update(Unit unit, std::uint64_t done, std::uint64_t total) noexcept {
  unit_.store(unit, std::memory_order_relaxed);
  total_.store(total, std::memory_order_relaxed);
  done_.store(done, std::memory_order_relaxed);
}

void Progress::begin(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  begin_ = std::chrono::steady_clock::now();
  update(Unit::entries, 0);
}

void Progress::draw_until_stopped() {
  std::unique_lock lock(mutex_);
  const auto is_over = [this] { return is_stopped_; };
  if (!is_always_) stopped_.wait_for(lock, before_drawing, is_over);
  while (!is_stopped_) {
    draw();
    stopped_.wait_for(lock, between_drawings, is_over);
  }
  // Somebody asked to see it, however fast it was.
  if (is_always_) draw();
  if (is_drawn_) std::fputs("\r\x1b[K", stderr);
}

void Progress::draw() {
  const double time =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const auto done = static_cast<double>(done_.load(std::memory_order_relaxed));
  const auto total = static_cast<double>(total_.load(std::memory_order_relaxed));
  const Unit unit = unit_.load(std::memory_order_relaxed);
  const double speed = time > 0 ? done / time : 0;
  std::string line = "\r" + what_;
  if (total > 0) {
    line +=
        bar(std::min(done / total, 1.0)) + "  " + amount(unit, done) + " of " + amount(unit, total);
  } else if (done > 0) {
    line += "  " + amount(unit, done);
  }
  if (done > 0) line += "  " + amount(unit, speed) + "/s";
  if (total > done && speed > 0) {
    line += "  " + seconds((total - done) / speed) + " left";
  } else {
    line += "  " + seconds(time);
  }
  std::fputs((line + "\x1b[K").c_str(), stderr);
  std::fflush(stderr);
  is_drawn_ = true;
}

}  // namespace weir::cli
