#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>

#include <weir/flow/workflow/worker.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/departure.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/timer.hpp>

namespace weir::flow::workflow::internal {

struct StartWork {};
/// Time to renew leases.
struct Beat {};
struct StopWork {
  using Reply = bool;
};
struct ReportWork {
  using Reply = WorkerReport;
};
struct AskRun {
  using Reply = std::string;
  ExecutionId execution;
  std::string name;
  std::string argument;
};

/// The one who claims, and runs handlers as tasks of its own.
class WorkerActor final : public Actor<StartWork, Beat, StopWork, ReportWork, AskRun> {
 public:
  static constexpr bool interleaves = true;
  /// Coroutines that wait for others count too, however many they are.
  static constexpr std::uint32_t interleaved_max = unbounded;

  WorkerActor(std::shared_ptr<const Engine> engine, std::shared_ptr<const Handlers> handlers,
              WorkerOptions options, std::shared_ptr<SequenceBarrier> gone);

  void on(StartWork);
  void on(Beat);
  Task<Result<bool>> on(StopWork);
  WorkerReport on(ReportWork) const;
  Task<Result<std::string>> on(AskRun question);

 private:
  /// An execution that runs here.
  struct Running {
    Handle handle;
    WorkflowRun* run = nullptr;         // of a durable coroutine
    SequenceBarrier* let_go = nullptr;  // of a handler: 1 when it has ended, or is to be let go
    bool is_lost = false;
    std::optional<std::string> failure = {};  // of the attempt: why
  };
  using Place = std::list<Running>::iterator;

  Task<> claim_all();
  Task<Result<>> wait_for_room();
  Task<> treat(Claimed claimed);
  Task<> run_plain(const Handlers::Plain* handler, Claimed claimed, Place place);
  Task<> run_durable(const WorkflowRun::Function* function, Claimed claimed, Place place);
  Task<bool> part_from(const WorkflowRun* run, Parting parting, Place place);
  /// Of a coroutine whose execution others have ended.
  Task<> run_undo(Claimed claimed, Place place);
  Task<> undo(const WorkflowRun::Function* function, Handle handle, ExecutionInfo undone,
              Place place);
  Task<> leave_to_others(Handle handle);
  Task<> fail_to_read(Place place, Error error);
  Task<Result<>> fail(Place place, Failure failure);
  Task<> give_up_if_unfit(Place place, Error error);
  Task<> renew(Handle handle);
  void lose(Running& running);
  void count_wait(bool waits);
  void note(const Result<>& told, std::uint64_t& count);
  RunOptions run_options(std::int32_t priority, std::string space);

  const Departure departure_;
  const std::shared_ptr<const Engine> engine_;
  const std::shared_ptr<const Handlers> handlers_;
  const WorkerOptions options_;

  std::list<Running> running_;
  std::size_t active_ = 0;  // of those, that do not wait
  SequenceBarrier room_;
  bool is_stopping_ = false;
  CancellationSource stopping_;
  std::optional<SequenceBarrier> done_;
  Timer beat_;
  bool beats_ = false;
  WorkerReport report_;
  // After what their tasks use.
  TaskScope work_;
  TaskScope claiming_;
};

}  // namespace weir::flow::workflow::internal
