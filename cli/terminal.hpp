#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>

namespace weir::cli {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t lines = 24;
};

/// Of the terminal at standard output; 80 by 24 if it does not tell.
TerminalSize terminal_size() noexcept;
/// https://no-color.org, and terminals that have none.
bool allows_colours() noexcept;

/// Signals that are waited for instead of obeyed: SIGINT, SIGTERM and SIGWINCH, which are blocked
/// from its begin to its end. Before other threads are started, which inherit that.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// Readable when one has come.
  int descriptor() const noexcept { return descriptor_; }
  /// Whether the process was told to end.
  bool is_ended() noexcept;
  /// Waits until it is, at most so long.
  bool wait(std::chrono::milliseconds time) noexcept;

 private:
  int descriptor_;
  bool is_ended_ = false;
};

/// Keys one by one, and a screen that goes back to what was on it.
class FullScreen {
 public:
  FullScreen();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

 private:
  termios before_{};
  bool has_keys_ = false;
};

}  // namespace weir::cli
