#include <weir/telemetry/otel/internal/quiet_writing.hpp>

#include <cerrno>
#include <ctime>

namespace weir::telemetry::otel {

QuietWriting::QuietWriting() noexcept {
  ::sigset_t pending{};
  ::sigpending(&pending);
  ::sigemptyset(&held_back_);
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    if (::sigismember(&pending, signal) == 0) ::sigaddset(&held_back_, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &held_back_, &mask_before_);
}

QuietWriting::~QuietWriting() {
  const int error = errno;
  constexpr ::timespec no_time{};
  while (::sigtimedwait(&held_back_, nullptr, &no_time) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  errno = error;
}

}  // namespace weir::telemetry::otel
