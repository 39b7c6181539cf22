#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/simulation_options.hpp>

namespace weir {

namespace internal {
class Simulator;
}

/// Why a simulation has stopped running.
enum class RunEnd : std::uint8_t {
  idle,        // no actor has anything to do, and no timer is armed: nothing will ever happen
  satisfied,   // the condition holds
  time_is_up,  // the virtual time that was given has passed
  step_limit,  // as many steps as were allowed: the actors keep each other busy
};

const char* to_string(RunEnd end) noexcept;

/// One system of actors within a simulation: what would be a process of its own.
///
/// Its actors have references to those of other nodes and send to them as to any other.
class SimulatedNode {
 public:
  SimulatedNode(const SimulatedNode&) = delete;
  SimulatedNode& operator=(const SimulatedNode&) = delete;

  const std::string& name() const noexcept { return name_; }
  bool is_up() const noexcept { return system_ != nullptr; }
  /// The system that runs since the last start. Throws `std::logic_error` while the node is down.
  ActorSystem& system() const;

  /// Ends every actor of the node at once. No handler and no `on_stop` runs, only destructors.
  /// Actors of other nodes notice as they would a broken connection: requests end with
  /// `Errc::stopped`, and who monitors is told.
  void crash();
  /// Starts the node again, after a crash if it is up: a new system, on which its boot function
  /// runs. References to the actors of before lead nowhere.
  void restart();

 private:
  friend class Simulation;
  using Boot = std::function<void(ActorSystem&)>;
  SimulatedNode(internal::Simulator& simulator, std::string name, Boot boot);
  void start();

  internal::Simulator& simulator_;
  std::string name_;
  Boot boot_;
  std::unique_ptr<ActorSystem> system_;
  // References to their actors may still be in use.
  std::vector<std::unique_ptr<ActorSystem>> crashed_;
};

/// Runs actors, unchanged, on one thread, in virtual time and in an order that a seed decides.
///
/// The same seed gives the same run, message for message; another seed another of the orders that
/// a real system might choose. Time stands still while actors work and jumps to the next timer when
/// none has anything to do. At every step one of the actors that have something to do is picked
/// and handles one message; it is also interrupted now and then when it has sent one.
///
///     weir::Simulation simulation({.seed = 42});
///     auto account = simulation.system().spawn<Account>();
///     account.send<Deposit>(100);
///     simulation.run_until_idle();
///
/// What the actors do must come from messages, `now()` and `random()`: an actor that reads another
/// clock, draws from another generator or depends on addresses does not repeat. Do not hold a lock
/// that other actors take while sending.
///
/// Confined to one thread; several simulations may live in one process.
class Simulation {
 public:
  explicit Simulation(SimulationOptions options = {});
  /// Ends every actor, as a crash would.
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// The system of the first node, which every simulation has.
  ActorSystem& system() const { return node().system(); }
  SimulatedNode& node() const noexcept { return *nodes_.front(); }
  /// Adds a node. `boot` spawns its actors, now and whenever it restarts.
  SimulatedNode& add_node(std::string name, std::function<void(ActorSystem&)> boot);

  /// Runs a task to its end on the first node, and with it everything else. Throws
  /// `ErrorException` with `Errc::deadlock` and a list of who waits for what if it cannot end.
  template <class T>
  T run(Task<T> task) {
    return system().run(std::move(task));
  }

  /// Runs until nothing is left to do, armed timers included. A periodic timer never ends, so this
  /// gives up when `within` has passed.
  RunEnd run_until_idle(Duration within = std::chrono::hours(1));
  /// Runs everything that happens in the next `time`, and lets all of it pass.
  RunEnd run_for(Duration time);
  /// Runs until `holds()`, which is asked after every step.
  RunEnd run_until(const std::function<bool()>& holds, Duration within = std::chrono::hours(1));
  /// Runs so many steps, to stop at any point of a run.
  RunEnd run_steps(std::uint64_t count);

  TimePoint now() const noexcept;
  std::uint64_t seed() const noexcept;
  /// Steps so far: each lets one actor handle a message, or one timer fire.
  std::uint64_t steps() const noexcept;
  /// Stands for the whole run so far: which actor handled which message when, in which order. The
  /// same in every process built from the same sources.
  std::uint64_t trace_hash() const noexcept;
  /// True if a run has ended at `SimulationOptions::steps_max`.
  bool has_reached_step_limit() const noexcept;
  /// For choices of the test itself. Seeded, and independent of what the actors draw.
  std::uint64_t random() noexcept;

  /// Crashes an actor before it handles another message, as if a handler had thrown.
  template <Message... Ms>
  void crash(const ActorRef<Ms...>& actor) {
    crash(internal::RefAccess::cell(actor));
  }
  /// Lets an actor take `time` before each thing it does. Zero makes it fast again.
  template <Message... Ms>
  void slow_down(const ActorRef<Ms...>& actor, Duration time) {
    slow_down(internal::RefAccess::cell(actor), time);
  }
  /// Leaves no room in a bounded mailbox until `free_mailbox`. What is in it is still handled.
  template <Message... Ms>
  void fill_mailbox(const ActorRef<Ms...>& actor) {
    fill_mailbox(internal::RefAccess::cell(actor));
  }
  template <Message... Ms>
  void free_mailbox(const ActorRef<Ms...>& actor) {
    free_mailbox(internal::RefAccess::cell(actor));
  }

 private:
  friend class SimulatedNode;
  static std::unique_ptr<ActorSystem> make_system(ActorSystemOptions options,
                                                  internal::SimulationHost* host);
  void crash(internal::Cell* actor);
  void slow_down(internal::Cell* actor, Duration time);
  void fill_mailbox(internal::Cell* actor);
  void free_mailbox(internal::Cell* actor);

  std::unique_ptr<internal::Simulator> simulator_;
  std::vector<std::unique_ptr<SimulatedNode>> nodes_;
};

}  // namespace weir
