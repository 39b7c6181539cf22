#pragma once

#include <deque>
#include <memory>
#include <vector>

#include <weir/flow/workflow/postgres/internal/batch_run.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/task_scope.hpp>

namespace weir::flow::workflow::postgres::internal {

/// Done when it is committed, or when it will not be.
struct Submit {
  using Reply = bool;
  JobRef job;
};
struct StopBatches {
  using Reply = bool;
};

using BatchRef = ActorRef<Submit, StopBatches>;

/// Who is told what came of a batch.
using OnEffects = std::function<void(const Effects&)>;

/// Collects jobs that come together, and does them in one transaction: the more of them there are,
/// the fewer commits each costs.
class BatchActor final : public Actor<Submit, StopBatches> {
 public:
  /// Jobs come while batches are under way.
  static constexpr bool interleaves = true;

  BatchActor(std::shared_ptr<const Context> context, OnEffects on_effects, Time about_now);

  Task<Result<bool>> on(Submit submit);
  Task<Result<bool>> on(StopBatches);

 private:
  void start();
  Task<> run(std::vector<JobRef> jobs);
  /// Waits a little for those who were told of so many jobs: what they do next can be done together
  /// with what waits already.
  Task<> gather(std::size_t told);
  /// Tries until it is committed, or given up with what it says.
  Task<Result<>> try_all(std::vector<JobRef> jobs);
  /// Whether a batch that was to be committed has been.
  Task<Result<bool>> was_committed(std::string transaction_id);
  void note_done(const BatchRun& batch);

  const std::shared_ptr<const Context> context_;
  const OnEffects on_effects_;
  Time about_now_;  // for looking ahead only
  std::deque<JobRef> queue_;
  std::size_t running_ = 0;
  bool is_stopped_ = false;
  TaskScope scope_;
};

}  // namespace weir::flow::workflow::postgres::internal
