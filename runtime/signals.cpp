#include <weir/runtime/signals.hpp>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <future>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <weir/runtime/check.hpp>

namespace weir {
namespace {

constexpr std::array caught_signals{SIGINT, SIGTERM};

// What a handler may touch: a signal belongs to the process, so this does, too.
struct Caught {
  std::atomic<bool> is_awaited{false};
  std::atomic<int> pipe{-1};  // where the handler writes
  std::atomic<int> first{0};
};
constinit Caught caught;
static_assert(std::atomic<int>::is_always_lock_free, "a handler must not wait for a lock");

void on_signal(int signal) {
  const int error = errno;
  if (caught.first.exchange(signal) != 0) _exit(128 + signal);
  const auto byte = static_cast<unsigned char>(signal);
  static_cast<void>(!write(caught.pipe.load(), &byte, 1));
  errno = error;
}

sigset_t caught_set() noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : caught_signals) sigaddset(&set, signal);
  return set;
}

// Opened once and never closed: a handler may still be on its way to it when nobody waits any more.
const std::array<int, 2>& pipe_ends() {
  static const std::array<int, 2> opened = [] {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "a pipe for signals");
    }
    caught.pipe.store(ends[1]);
    return ends;
  }();
  return opened;
}

// Handlers that write into a pipe, rather than `sigwait`, because they need no thread to block the
// signals: a library cannot ask that of threads it did not start.
class SignalHandlers {
 public:
  SignalHandlers() : ends_(pipe_ends()) {
    if (caught.is_awaited.exchange(true)) {
      throw std::logic_error("weir: this process waits for SIGINT and SIGTERM already");
    }
    discard_leftovers();
    caught.first.store(0);
    struct sigaction action{};
    action.sa_handler = &on_signal;
    action.sa_flags = SA_RESTART;
    action.sa_mask = caught_set();
    for (std::size_t i = 0; i < caught_signals.size(); ++i) {
      sigaction(caught_signals[i], &action, &before_[i]);
    }
  }
  ~SignalHandlers() {
    for (std::size_t i = 0; i < caught_signals.size(); ++i) {
      sigaction(caught_signals[i], &before_[i], nullptr);
    }
    caught.is_awaited.store(false);
  }
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;

  /// The signal that came first; zero if `end_wait` was called.
  int wait() const {
    unsigned char byte = 0;
    while (read(ends_[0], &byte, 1) != 1) {
      check(errno == EINTR, "a pipe for signals can be read");
    }
    return byte;
  }
  void end_wait() const noexcept {
    const unsigned char byte = 0;
    static_cast<void>(!write(ends_[1], &byte, 1));
  }

 private:
  void discard_leftovers() const noexcept {
    pollfd readable{ends_[0], POLLIN, 0};
    unsigned char byte = 0;
    while (poll(&readable, 1, 0) == 1 && read(ends_[0], &byte, 1) == 1) {
    }
  }

  const std::array<int, 2>& ends_;
  std::array<struct sigaction, caught_signals.size()> before_{};
};

// Lets this thread take the signals even if all others block them.
class Unblocked {
 public:
  Unblocked() noexcept {
    const sigset_t set = caught_set();
    pthread_sigmask(SIG_UNBLOCK, &set, &before_);
  }
  ~Unblocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Unblocked(const Unblocked&) = delete;
  Unblocked& operator=(const Unblocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

int wait_for_signal() {
  const SignalHandlers handlers;
  const Unblocked unblocked;
  return handlers.wait();
}

class StopOnSignal::Watch {
 public:
  Watch(ActorSystem& system, StopOptions options)
      : thread_([this, &system, options] {
          const Unblocked unblocked;
          const int signal = handlers_.wait();
          if (signal != 0) system.stop(options);
          outcome_.set_value(signal);
        }) {}
  ~Watch() {
    handlers_.end_wait();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  int wait() const { return result_.get(); }

 private:
  SignalHandlers handlers_;
  std::promise<int> outcome_;
  std::shared_future<int> result_ = outcome_.get_future().share();
  std::thread thread_;
};

StopOnSignal::StopOnSignal(ActorSystem& system, StopOptions options)
    : watch_(std::make_unique<Watch>(system, options)) {}

StopOnSignal::~StopOnSignal() = default;

int StopOnSignal::wait() {
  internal::forbid_inside_actors();
  return watch_->wait();
}

}  // namespace weir
