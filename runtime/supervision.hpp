#pragma once

#include <cstdint>

#include <weir/runtime/clock.hpp>

namespace weir {

/// What happens to an actor whose handler threw.
struct Supervision {
  enum class Directive : std::uint8_t {
    stop,      // end the actor
    resume,    // drop the message, keep the state
    restart,   // build the actor anew from its constructor arguments, keep its mailbox
    escalate,  // end the actor and fail its parent
  };

  Directive directive = Directive::stop;

  /// Restarts: the first waits `backoff`, each further one twice as long up to `backoff_max`, with
  /// up to `jitter` of it added at random. After `restarts_max` restarts within `window` the actor
  /// stops.
  Duration backoff = std::chrono::milliseconds(100);
  Duration backoff_max = std::chrono::seconds(30);
  double jitter = 0.2;
  std::uint32_t restarts_max = 10;
  Duration window = std::chrono::minutes(1);

  static constexpr Supervision stop() noexcept { return {}; }
  static constexpr Supervision resume() noexcept { return {.directive = Directive::resume}; }
  static constexpr Supervision restart() noexcept { return {.directive = Directive::restart}; }
  static constexpr Supervision escalate() noexcept { return {.directive = Directive::escalate}; }

  friend constexpr bool operator==(const Supervision&, const Supervision&) = default;
};

}  // namespace weir
