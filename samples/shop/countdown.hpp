#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>

namespace shop {

/// How many are left, for who waits at a terminal: on standard error, not in the first second, and
/// removed in the end.
class Countdown {
 public:
  explicit Countdown(const char* what) : what_(what) {}
  ~Countdown() {
    if (is_drawn_) std::fputs("\r\x1b[K", stderr);
  }
  Countdown(const Countdown&) = delete;
  Countdown& operator=(const Countdown&) = delete;

  void show(std::int64_t left) {
    if (!is_terminal_ || Clock::now() - begin_ < std::chrono::seconds(1)) return;
    std::fprintf(stderr, "\r%lld %s\x1b[K", static_cast<long long>(left), what_);
    is_drawn_ = true;
  }

 private:
  using Clock = std::chrono::steady_clock;

  const char* what_;
  const bool is_terminal_ = ::isatty(STDERR_FILENO) == 1;
  const Clock::time_point begin_ = Clock::now();
  bool is_drawn_ = false;
};

}  // namespace shop
