#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/internal/workflow_store.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::flow::workflow::testing {

/// A store with an engine on it, which can be closed or crashed and opened again, and a clock that
/// tests turn. Each test program has one kind of it, so that the same tests run on all.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Engine& engine() = 0;
  virtual ActorSystem& system() = 0;
  /// By the clock of the store.
  virtual Time time() = 0;
  /// Lets time pass, and everything happen that is due then.
  virtual void pass(Duration time) = 0;
  virtual void run(Task<> task) = 0;
  /// Lets a little time pass, for who waits for something.
  virtual void pass_some() = 0;
  /// The same in one step.
  virtual void leap(Duration time) = 0;
  /// Lets others go on, without time, or with as little as it takes.
  virtual void give_way() = 0;

  virtual void open(EngineOptions options) = 0;
  virtual void reopen(EngineOptions options) = 0;
  /// Of what was not answered, so much survives.
  virtual void crash(std::size_t survivors) = 0;
  /// Whether that is the test's to say; elsewhere it is the server's.
  virtual bool lets_some_survive() const { return false; }
  /// The process is gone without a word, and another one opens what is there; the store stays.
  virtual void vanish() = 0;
  /// The `nth` commit from now fails, and with it all that follow, until it crashes.
  virtual void fail_commit(std::uint64_t nth) = 0;
  /// Whether it has come to that.
  virtual bool has_failed() = 0;

  /// That the engine runs on, for commands that nothing in Weir runs.
  virtual std::shared_ptr<internal::WorkflowStore> core() = 0;
  /// How many rows there are of each kind of record, and of what is found by; none if there are
  /// none. What is of no execution is not counted.
  virtual std::map<std::string, std::size_t> rows() = 0;
};

/// Null if the machine does not have what it needs, which was said loudly then. What is recorded of
/// it goes to `telemetry`, which outlives it.
std::unique_ptr<Backend> make_backend(telemetry::Telemetry* telemetry = nullptr);

}  // namespace weir::flow::workflow::testing
