#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/handle.hpp>
#include <weir/flow/workflow/internal/command.hpp>
#include <weir/flow/workflow/internal/schedule.hpp>
#include <weir/flow/workflow/internal/working_set.hpp>
#include <weir/flow/workflow/journal.hpp>
#include <weir/flow/workflow/request.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/departure.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/task.hpp>
#include <weir/runtime/timer.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::internal {

struct EngineCore;

/// The number of the batch with which what was done, and all that was seen, is committed.
using Ticket = std::uint64_t;

struct Begin {
  using Reply = bool;
};
struct Submit {
  using Reply = Ticket;
  std::shared_ptr<Command> command;
};
struct ClaimedAt {
  std::vector<Claimed> claimed;
  Ticket ticket = 0;
};
struct Claim {
  using Reply = ClaimedAt;
  ClaimRequest request;
  /// Until there is something to claim.
  bool waits = false;
};
struct CancelledAt {
  bool is_new = false;
  std::vector<ExecutionId> cancelled;
  Ticket ticket = 0;
};
/// A workflow, and its executions piece by piece.
struct CancelWorkflow {
  using Reply = CancelledAt;
  WorkflowId workflow;
  CancelPolicy policy;
  std::string reason;
};
/// Until one of these has ended.
struct AwaitEnd {
  using Reply = Ticket;
  std::vector<ExecutionId> executions;
};
/// Commits a transaction of a step with the entries that tell of it.
struct CommitStep {
  using Reply = bool;
  Handle handle;
  std::uint32_t end;  // of the journal before
  std::vector<JournalEntry> entries;
  std::shared_ptr<StepCommit> commit;
};
struct LookAtQueue {
  using Reply = QueueSeen;
  std::string lane;
  std::size_t executions_max = 0;
};
struct ListSetAside {
  using Reply = std::vector<SetAside>;
};
/// Writes what has changed.
struct Flush {};
/// Some time has come.
struct Due {};
/// There is something to cancel.
struct Dispatch {};
/// Something may have been kept for long enough.
struct Retire {};
struct Stop {
  using Reply = bool;
};

using EngineRef = ActorRef<Begin, Submit, Claim, CancelWorkflow, AwaitEnd, CommitStep, LookAtQueue,
                           ListSetAside, Flush, Due, Dispatch, Retire, Stop>;

struct EngineActorOptions {
  std::size_t records_max = 100'000;
  std::size_t cancels_max = 256;
  Retention retention = {};
  std::vector<std::string> dispatch_spaces = {};
};

/// The one who changes workflows: runs commands on records in memory, one after the other, and
/// writes what came together as one commit.
///
///     Submit ──run──> working set ──Flush──> one transaction ──> committed
///
/// A command that needs a record that is not in memory waits until it was read; others go on
/// meanwhile. After a write has failed nothing more is done: what is on disk is not known then.
class EngineActor final
    : public Actor<Begin, Submit, Claim, CancelWorkflow, AwaitEnd, CommitStep, LookAtQueue,
                   ListSetAside, Flush, Due, Dispatch, Retire, Stop> {
 public:
  /// Commands come while others read, and while batches are written.
  static constexpr bool interleaves = true;
  /// Who waits for an end waits for a command that is yet to come, however many they are.
  static constexpr std::uint32_t interleaved_max = unbounded;

  EngineActor(std::shared_ptr<EngineCore> core, EngineActorOptions options);

  Task<Result<bool>> on(Begin);
  Task<Result<Ticket>> on(Submit submit);
  Task<Result<ClaimedAt>> on(Claim claim);
  Task<Result<CancelledAt>> on(CancelWorkflow cancel);
  Task<Result<Ticket>> on(AwaitEnd wait);
  Task<Result<bool>> on(CommitStep step);
  QueueSeen on(LookAtQueue look) const;
  std::vector<SetAside> on(ListSetAside) const;
  Task<> on(Flush);
  Task<> on(Due);
  Task<> on(Dispatch);
  Task<> on(Retire);
  Task<Result<bool>> on(Stop);

 private:
  /// What a command takes from outside, however often it runs.
  struct Chance {
    Time now;
    std::uint64_t seed;
  };

  // Running commands.
  Task<Result<>> run(Command* command);
  /// What keeps a command from being run.
  struct Obstacle {
    std::unique_ptr<Missing> missing = {};
    std::shared_ptr<SequenceBarrier> held = {};  // published when it is gone
  };
  /// Whether there was none.
  bool try_run(Command& command, const Chance& chance, Obstacle& obstacle);
  /// Makes it true; of what it changed only the keys are left.
  void absorb(Draft& draft);
  void count(const Draft& draft);
  void publish_figures();
  Ticket ticket() const;
  Time time() const;
  template <class Function>
  Task<typename CommandOf<Function>::Outcome> call(Function function);

  // Claiming.
  Task<Result<>> claim_ready(const ClaimRequest* request, std::vector<Claimed>* claimed);
  Task<> give_back(std::vector<Claimed> claimed);
  /// The next one may not be claimed. False if nobody may in this lane.
  Task<Result<bool>> pass_over(ExecutionId next, const ClaimRequest* request);
  Task<Result<>> wait_for_ready(const ClaimRequest* request);
  void wake(const std::string& lane, std::size_t waiters_max);
  void wake_if_open(const std::string& lane);
  void follow_limit(const std::string& key);

  // Durable coroutines.
  /// Until nobody is committing something of this execution.
  Task<Result<>> wait_until_free(ExecutionId id);
  /// Of an execution that it changes and that must not change now.
  std::shared_ptr<SequenceBarrier> hold_on(const Draft& draft) const;
  void tell_end(const ExecutionId& id);
  void forget_end_waiter(const ExecutionId& id, const SequenceBarrier* woken);

  // What time does.
  void arrange_due();
  Task<Result<>> meet(ExecutionId id);

  // Cancelling in pieces.
  void dispatch_later(const WorkflowId& workflow);
  Task<Result<>> cancel_members(WorkflowId workflow, std::vector<ExecutionId>* cancelled);
  Task<Result<>> cancel_rest(WorkflowId workflow);
  Task<Result<>> cancel_siblings(ExecutionId downstream);
  void note_set_aside(std::string what, const Error& reason);
  /// So that it holds up nobody. False if it is the engine as a whole that cannot go on.
  bool set_aside(const ExecutionId& id, const Error& reason);

  // Removing what has been kept for long enough.
  using NextDue = Result<std::optional<Time>>;
  void follow_ended(const Draft& draft);
  void arrange_retire(Time due);
  Task<NextDue> retire_all();
  Task<Result<>> add_ended_entries();
  Task<NextDue> retire_space(std::string space, Duration keep);
  Task<> retire_entry(EndedKey key);
  Task<Result<>> retire_whole(EndedKey key);
  Task<NextDue> retire_notices(Duration keep);

  /// Somebody who waits until there may be something to claim.
  struct Waiter {
    const ClaimRequest* request;
    SequenceBarrier woken;
  };

  // Writing.
  Span begin_commit();
  void arrange_flush();
  void fail(const Error& cause);
  void turn_away(const Error& reason);

  const Departure departure_;
  const std::shared_ptr<EngineCore> core_;
  const EngineActorOptions options_;

  WorkingSet records_;
  Schedule schedule_;
  std::map<std::string, std::list<Waiter*>> waiters_;  // by lane, who came first
  /// Executions that must not change while a step of theirs is being committed.
  std::map<ExecutionId, std::shared_ptr<SequenceBarrier>> held_;
  /// Who waits for the end of an execution.
  std::unordered_multimap<ExecutionId, SequenceBarrier*> end_waiters_;
  std::deque<ExecutionId> groups_;          // that have siblings to cancel
  std::deque<WorkflowId> workflows_;        // that have executions to cancel
  std::set<WorkflowId> cancelling_;         // whose executions are being cancelled
  std::map<std::string, Error> set_aside_;  // what could not be cancelled
  Ticket batch_ = 1;                        // that is being collected
  std::uint64_t next_notice_ = 1;
  std::optional<Time> timer_due_;
  Timer timer_;
  std::optional<Time> retire_at_;
  Timer retire_timer_;
  bool is_retiring_ = false;
  bool has_ended_entries_ = false;  // of all that has ended
  bool is_flush_due_ = false;
  bool is_dispatch_due_ = false;
  bool is_stopped_ = false;
  std::optional<Error> failure_;
};

template <class Function>
Task<typename CommandOf<Function>::Outcome> EngineActor::call(Function function) {
  CommandOf<Function> command(std::move(function));
  WEIR_CO_TRY_VOID(co_await run(&command));
  co_return command.take();
}

}  // namespace weir::flow::workflow::internal
