#include <weir/cli/terminal.hpp>

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <weir/runtime/check.hpp>

namespace weir::cli {
namespace {

sigset_t watched() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGWINCH);
  return set;
}

}  // namespace

TerminalSize terminal_size() noexcept {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return {};
  return {.columns = size.ws_col, .lines = size.ws_row};
}

bool allows_colours() noexcept {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  return (no_colour == nullptr || *no_colour == '\0') &&
         (kind == nullptr || std::string_view(kind) != "dumb");
}

Signals::Signals() {
  const sigset_t set = watched();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  descriptor_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  check(descriptor_ >= 0, "there is a descriptor for signals");
}

Signals::~Signals() {
  ::close(descriptor_);
  const sigset_t set = watched();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

bool Signals::is_ended() noexcept {
  signalfd_siginfo came{};
  while (::read(descriptor_, &came, sizeof(came)) == sizeof(came))
    is_ended_ = is_ended_ || came.ssi_signo != SIGWINCH;
  return is_ended_;
}

bool Signals::wait(std::chrono::milliseconds time) noexcept {
  pollfd awaited{.fd = descriptor_, .events = POLLIN, .revents = 0};
  if (!is_ended()) ::poll(&awaited, 1, static_cast<int>(time.count()));
  return is_ended();
}

FullScreen::FullScreen() {
  has_keys_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
  if (has_keys_) {
    termios keys = before_;
    // Signals stay: Ctrl-C is one.
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_cc[VMIN] = 0;
    keys.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  std::fputs("\x1b[?1049h\x1b[?25l", stdout);
  std::fflush(stdout);
}

FullScreen::~FullScreen() {
  std::fputs("\x1b[?25h\x1b[?1049l", stdout);
  std::fflush(stdout);
  if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

}  // namespace weir::cli
