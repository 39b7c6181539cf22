#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/internal/command.hpp>
#include <weir/flow/workflow/internal/engine_figures.hpp>
#include <weir/runtime/actor_system.hpp>

namespace weir::flow::workflow::internal {

struct WaitingSeen {
  ExecutionId id;
  Time since;
};

/// What a store knows of a lane.
struct QueueSeen {
  /// Of executions that have not ended.
  StateCounts counts;
  /// Those that could be claimed, in that order.
  std::vector<WaitingSeen> waiting;
};

/// `overtaken`: those from `from` on are asked for, and the first that is there is `first`.
Error notices_removed(std::uint64_t from, std::uint64_t first);

/// Where workflows are kept, and who runs commands on them: all that an engine needs of a store.
///
/// What may happen to workflows is in the commands, once for all stores. A store finds the records
/// that a command asks for, keeps what it made of them, and knows what can be claimed, what is due
/// and what is left to cancel. Usable from any actor.
class WorkflowStore {
 public:
  virtual ~WorkflowStore() = default;

  virtual ActorSystem& system() const = 0;
  /// Tells this store from all others, for ever.
  virtual std::uint64_t identity() const = 0;

  /// Runs a command, and returns when what it did and what it saw is committed.
  virtual Task<Result<>> run(std::shared_ptr<Command> command) = 0;
  /// Claims what there is; with `waits`, at least one. The request is valid.
  virtual Task<Result<std::vector<Claimed>>> claim(ClaimRequest request, bool waits) = 0;
  /// A workflow, and its executions piece by piece.
  virtual Task<Result<CancelResult>> cancel(WorkflowId workflow, CancelPolicy policy,
                                            std::string reason) = 0;
  virtual Task<Result<std::vector<SetAside>>> set_aside() = 0;

  // Lists, of what is committed, in order and after one of them.
  virtual Task<Result<std::vector<ExecutionId>>> members(WorkflowId workflow,
                                                         std::optional<ExecutionId> after,
                                                         std::size_t members_max) = 0;
  virtual Task<Result<std::vector<WorkflowId>>> workflows(Partition partition,
                                                          std::optional<WorkflowId> after,
                                                          std::size_t workflows_max) = 0;
  virtual Task<Result<std::vector<std::pair<std::uint64_t, Notice>>>> notices(
      std::uint64_t from, std::size_t notices_max) = 0;
  /// Of the first that has not been removed.
  virtual Task<Result<std::uint64_t>> first_notice() = 0;

  /// Where what is done in the background is to be done by this engine.
  virtual std::vector<Partition> own_partitions() const = 0;
  virtual EngineFigures& figures() const = 0;

  // What durable coroutines need. A store that knows better says so.
  /// Until one of these has ended.
  virtual Task<Result<>> wait_for_end(std::vector<ExecutionId> executions) = 0;
  /// Adds to a journal in the commit of a transaction of the store that it is in.
  virtual Task<Result<>> commit_journal(Handle handle, std::uint32_t end,
                                        std::vector<JournalEntry> entries,
                                        std::shared_ptr<StepCommit> commit);
  /// By which everything is due.
  virtual Time time() const = 0;
  /// None if it is elsewhere.
  virtual storage::Store* embedded() const { return nullptr; }

  /// Notices tell of every change from now on, if it can do that.
  virtual void tell_changes() {}

  // What not every store can do: `unavailable` if it cannot.
  virtual Task<Result<QueueSeen>> queue(std::string lane, std::size_t executions_max);
  virtual Task<Result<EngineReport>> report();
  /// In order of their ids, after one of them, as far as they are committed; with `is_of_live`
  /// only those that have not ended.
  virtual Task<Result<std::vector<std::pair<ExecutionId, Execution>>>> executions(
      bool is_of_live, std::optional<ExecutionId> after, std::size_t executions_max);

  /// Finishes what was begun and refuses what comes later. Repeating it does nothing.
  virtual Task<Result<>> close() = 0;
  virtual bool is_closed() const = 0;
  /// The same without waiting, for who cannot.
  virtual void abandon() noexcept = 0;
};

}  // namespace weir::flow::workflow::internal
