#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <weir/runtime/actor_id.hpp>
#include <weir/runtime/actor_system_options.hpp>
#include <weir/runtime/clock.hpp>

namespace weir {

/// What goes wrong by itself. Chances lie between 0 (never) and 1 (always); the seed decides when.
struct SimulationFaults {
  /// Chance that an actor crashes instead of handling a message, as if its handler had thrown: the
  /// message is lost, a request is answered with `Errc::failed`, and the supervision is applied.
  double actor_crash = 0;
  /// Chance that a bounded mailbox refuses a message as if it were full.
  double refused_send = 0;
  /// Chance that a timer or deadline is late, by up to `late_timer_max`.
  double late_timer = 0;
  Duration late_timer_max = std::chrono::milliseconds(10);
  /// Every actor takes up to so long before it handles its next message.
  Duration message_time_max = {};

  /// Limits crashes and refused messages to the actors for which it returns true.
  std::function<bool(std::string_view actor_type, std::string_view actor_name)> applies_to = {};
};

/// One step of a simulation, as it begins. Views are valid during the call that passes it.
struct SimulatedStep {
  TimePoint time;
  ActorId actor;
  std::string_view node;
  std::string_view actor_type;
  std::string_view actor_name;
  /// The message about to be handled. Empty if the actor only goes on: with a reply that came, its
  /// start, its end.
  std::string_view message;
  /// How many actors are in the middle of sending, interrupted for this step.
  unsigned interrupted = 0;
};

/// How a simulation is run.
struct SimulationOptions {
  /// Decides the order of everything, and `random()`.
  std::uint64_t seed = 1;
  /// Of every node. Failures and dead letters are not printed unless these options have hooks.
  ActorSystemOptions system = {};
  /// Chance that other actors run between a message being sent and its sender going on, as they do
  /// when the sender shares the machine with other threads.
  double preemption = 0.2;
  /// Timers due at the same time fire in any order, as those of a real system may.
  bool reorders_timers = true;
  /// A call on the blocking pool takes up to so long.
  Duration blocking_time_max = std::chrono::milliseconds(1);
  /// A run that has not ended after so many steps is one that never would.
  std::uint64_t steps_max = 10'000'000;
  SimulationFaults faults = {};
  /// Called at every step. Without one, the environment variable `WEIR_TRACE` makes a simulation
  /// print its steps to standard error.
  std::function<void(const SimulatedStep&)> on_step = {};
};

}  // namespace weir
