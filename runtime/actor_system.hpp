#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/runtime/actor.hpp>
#include <weir/runtime/actor_info.hpp>
#include <weir/runtime/actor_system_options.hpp>
#include <weir/runtime/internal/task_actor.hpp>
#include <weir/runtime/task.hpp>

namespace weir {

/// How a system stops: first it waits up to `drain` until no actor has anything to do, then every
/// actor refuses new messages and stops; who has not stopped after `timeout` in all is reported and
/// killed. Without a `timeout`, that of the system's options.
struct StopOptions {
  Duration drain = std::chrono::seconds(1);
  std::optional<Duration> timeout = {};
};

/// What was still there when the time to stop was over.
struct StopReport {
  std::vector<ActorInfo> did_not_stop;

  bool is_clean() const noexcept { return did_not_stop.empty(); }
};

/// A tree of actors and the threads that run them.
///
/// Embed one in a process, spawn actors, and stop it, or let the destructor do that. Usable from
/// any thread.
class ActorSystem {
 public:
  explicit ActorSystem(ActorSystemOptions options = {});
  /// Stops with the options' `stop_timeout`, if nobody has.
  ~ActorSystem();
  ActorSystem(const ActorSystem&) = delete;
  ActorSystem& operator=(const ActorSystem&) = delete;

  /// Starts an actor at the top of the tree. Throws what its constructor throws, and
  /// `std::invalid_argument` for options that make no sense. In a system that is stopping the actor
  /// stops at once; in one that has stopped there is none, and the reference is empty.
  template <class A, class... Args>
  RefOf<A> spawn(Args&&... args) {
    return internal::spawn<A>(*core_, nullptr, nullptr, std::forward<Args>(args)...);
  }
  template <class A, class... Args>
  RefOf<A> spawn(SpawnOptions options, Args&&... args) {
    return internal::spawn<A>(*core_, nullptr, &options, std::forward<Args>(args)...);
  }

  /// Runs a task on the system and waits for it on this thread. Returns its value or throws its
  /// exception; throws `ErrorException` with `Errc::stopped` if the system stops first. Not for use
  /// inside actors.
  template <class T>
  T run(Task<T> task) {
    internal::TaskOutcome<T> outcome;
    internal::forbid_inside_actors();
    const auto actor =
        spawn<internal::TaskActor<T>>(SpawnOptions{.name = "task"}, std::move(task), &outcome);
    if (actor) {
      internal::finish_if_simulated(*internal::RefAccess::cell(actor), outcome);
    } else {
      outcome.finish(internal::stopped_before_finished());
    }
    return outcome.wait();
  }

  /// Stops every actor. Safe to call more than once and on several threads; later calls report what
  /// the first one found. Not for use inside actors.
  StopReport stop(StopOptions options = {});
  bool is_stopping() const noexcept;

  /// The actors alive at some moment during the call.
  std::vector<ActorInfo> actors() const;
  DeadLetterCounts dead_letters() const noexcept;

  TimePoint now() const noexcept;
  /// From the system's generator; the same for the same seed under simulation.
  std::uint64_t random() noexcept;
  const ActorSystemOptions& options() const noexcept;
  unsigned threads() const noexcept;

  internal::Core& core() noexcept { return *core_; }

 private:
  friend class Simulation;
  ActorSystem(ActorSystemOptions options, internal::SimulationHost* host);

  // Owned. No std::unique_ptr: <memory> would bring streams into every file that has an actor.
  internal::Core* const core_;
  std::mutex stop_mutex_;
  std::optional<StopReport> stop_report_;  // guarded by `stop_mutex_`
};

}  // namespace weir
