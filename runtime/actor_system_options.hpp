#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <weir/runtime/clock.hpp>
#include <weir/runtime/dead_letter.hpp>
#include <weir/runtime/internal/function.hpp>

namespace weir::telemetry {
class Telemetry;
}

namespace weir {

/// What is known of an actor whose handler threw. Views are valid during the call that passes it.
struct ActorFailure {
  ActorId actor;
  std::string_view actor_type;
  std::string_view actor_name;
  std::string_view message;  // of the exception
  std::uint32_t restarts;    // so far
};

/// An actor entered a phase, stayed in one too long, or tried an illegal transition.
struct PhaseEvent {
  enum class Kind : std::uint8_t { entered, overdue, illegal };

  Kind kind;
  ActorId actor;
  std::string_view actor_type;
  std::string_view actor_name;
  std::string_view from;
  std::string_view to;  // of `overdue`: the phase it is in
  Duration age;         // of the phase that was left, or that lasts too long
};

/// How a system of actors is run. `ActorSystem` throws `std::invalid_argument` for what makes no
/// sense.
struct ActorSystemOptions {
  /// Shown in logs and thread names.
  std::string name = "weir";
  /// Threads that run actors; zero for one per core.
  unsigned threads = 0;
  /// Messages an actor handles before it makes way for others.
  std::uint32_t message_quota = 256;
  /// Room in a mailbox, unless the actor's own options say otherwise.
  std::uint32_t mailbox_capacity = 1024;
  /// How long `ask` waits unless told otherwise.
  Duration ask_timeout = std::chrono::seconds(30);
  /// Messages one actor may set aside.
  std::uint32_t stash_capacity = 1024;
  /// Suspended handlers of one interleaving actor.
  std::uint32_t interleaved_max = 1024;
  /// Threads for blocking calls, started on demand.
  unsigned blocking_threads_max = 64;
  /// How long `stop`, the destructor and `StopOnSignal` wait in all, unless told otherwise.
  Duration stop_timeout = std::chrono::seconds(10);
  /// Starts the generator behind `random()`. Without one it is drawn, so that no two processes draw
  /// the same numbers.
  std::optional<std::uint64_t> seed = {};
  /// Where spans, metrics and logs go; may be shared with other systems, and outlives them. Nothing
  /// is recorded without it. If its logger has a sink or an exporter, the reports below that have
  /// no hook are lines of that log, in the span that caused them, rather than of standard error.
  telemetry::Telemetry* telemetry = nullptr;

  /// Called for every message that was not handled, on whatever thread noticed; must be quick and
  /// must not throw. It may send; it is not called for messages of its own. Without one, a line
  /// goes to standard error, at most one a second for each reason.
  std::function<void(const DeadLetter&)> on_dead_letter = {};
  /// Called for every handler that threw. Without one, a line goes to standard error.
  std::function<void(const ActorFailure&)> on_failure = {};
  /// Called for every phase event. Without one, `overdue` and `illegal` go to standard error.
  std::function<void(const PhaseEvent&)> on_phase = {};
};

}  // namespace weir
