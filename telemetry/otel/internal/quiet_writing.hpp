#pragma once

#include <csignal>

namespace weir::telemetry::otel {

/// While it lives, what this thread writes to a pipe that nobody reads any more, or beyond the
/// largest size that a file may have, fails with an error: the signal that would end the process is
/// held back and then taken away. One that was pending before is left alone.
class QuietWriting {
 public:
  QuietWriting() noexcept;
  QuietWriting(const QuietWriting&) = delete;
  QuietWriting& operator=(const QuietWriting&) = delete;
  ~QuietWriting();

 private:
  ::sigset_t held_back_{};
  ::sigset_t mask_before_{};
};

}  // namespace weir::telemetry::otel
