#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/postgres/internal/batch_actor.hpp>
#include <weir/flow/workflow/postgres/internal/ownership.hpp>
#include <weir/runtime/timer.hpp>

namespace weir::flow::workflow::postgres::internal {

struct BeginKeeping {
  using Reply = bool;
};
/// Time to look at everything.
struct Poll {};
/// Something may be due, or will be at a time.
struct Look {
  std::optional<Time> due = {};
};
/// There may be something to cancel.
struct Dispatch {};
/// There are more owners, or fewer.
struct Share {};
/// There is more to remove.
struct Retire {};
/// Does everything that is due, until nothing is: for tests that turn the clock.
struct Settle {
  using Reply = bool;
};
struct ListSetAside {
  using Reply = std::vector<SetAside>;
};
struct StopKeeping {
  using Reply = bool;
};

using KeeperRef =
    ActorRef<BeginKeeping, Poll, Look, Dispatch, Share, Retire, Settle, ListSetAside, StopKeeping>;

/// Does what nobody asks for, in the partitions that this engine owns: what time has made due, and
/// what is left to cancel, and what has been kept for long enough.
///
/// What is due is found by an index, and the next look is when the first thing will be due, or when
/// somebody tells of one. Everything is done by the same commands as elsewhere, which look again
/// whether it is still to be done.
class KeeperActor final : public Actor<BeginKeeping, Poll, Look, Dispatch, Share, Retire, Settle,
                                       ListSetAside, StopKeeping> {
 public:
  KeeperActor(std::shared_ptr<Context> context, BatchRef batches);

  Task<Result<bool>> on(BeginKeeping);
  Task<> on(Poll);
  Task<> on(Look look);
  Task<> on(Dispatch);
  Task<> on(Share);
  Task<> on(Retire);
  Task<Result<bool>> on(Settle);
  std::vector<SetAside> on(ListSetAside) const;
  Task<Result<bool>> on(StopKeeping);

 private:
  /// How much there was to do.
  using Done = Result<std::size_t>;

  Task<Result<>> share();
  Task<Result<>> share_if_due();
  Task<Done> meet_due();
  Task<Done> cancel_some(bool is_patient);
  Task<Done> cancel_groups();
  Task<Done> cancel_workflows(bool is_patient);
  template <class Function>
  Task<typename workflow::internal::CommandOf<Function>::Outcome> call(Partition partition,
                                                                       Function function);
  /// Whoever owns the partition.
  template <class Function>
  Task<typename workflow::internal::CommandOf<Function>::Outcome> call_anywhere(Function function);
  template <class Function>
  Task<typename workflow::internal::CommandOf<Function>::Outcome> submit(std::optional<Owned> owned,
                                                                         Function function);
  Task<> meet(ExecutionId id, bool* has_failed);
  Task<> cancel_siblings(ExecutionId id);
  void note_set_aside(std::string what, const Error& reason);
  // What metrics tell of the present.
  Task<Result<>> count_if_due();
  Task<Result<>> count_present();
  // What has been kept for long enough.
  void retire_if_due();
  Task<Done> retire_some();
  Task<Result<>> add_entries();
  Task<Done> retire_entries(std::vector<EndedKey> keys);
  Task<> retire_entry(EndedKey key, std::size_t* retired);
  /// False if it is there as before.
  Task<Result<bool>> retire_whole(EndedKey key);
  Task<Done> retire_notices(Duration keep);
  void arrange_look(Time due);
  std::vector<std::int64_t> partitions() const;
  std::vector<std::int64_t> dispatched() const;
  std::optional<Time> fixed_time() const;

  const std::shared_ptr<Context> context_;
  const BatchRef batches_;
  Ownership owned_;
  TimePoint shared_at_ = {};
  std::optional<TimePoint> retired_at_;
  std::optional<TimePoint> count_at_;
  std::map<std::string, Error> set_aside_;     // what could not be cancelled
  std::map<WorkflowId, int> unfinished_;       // how often they were seen
  std::map<WorkflowId, ExecutionId> reached_;  // of those that are being cancelled: how far
  std::optional<TimePoint> look_at_;
  Timer poll_;
  Timer look_;
  std::uint64_t polls_ = 0;
  storage::postgres::Bytes last_group_;  // that was looked at; those behind it are next
  bool is_dispatch_due_ = false;
  bool has_entries_ = false;  // of all that has ended
};

/// As the owner of the partition; `stale_lease` if it has another one.
template <class Function>
Task<typename workflow::internal::CommandOf<Function>::Outcome> KeeperActor::call(
    Partition partition, Function function) {
  const auto owned = owned_.epochs.find(partition.number);
  if (owned == owned_.epochs.end()) {
    co_return Error(Errc::stale_lease, to_string(partition) + " has another owner");
  }
  co_return co_await submit(Owned{partition.number, owned->second}, std::move(function));
}

template <class Function>
Task<typename workflow::internal::CommandOf<Function>::Outcome> KeeperActor::call_anywhere(
    Function function) {
  return submit(std::nullopt, std::move(function));
}

template <class Function>
Task<typename workflow::internal::CommandOf<Function>::Outcome> KeeperActor::submit(
    std::optional<Owned> owned, Function function) {
  auto command = std::make_shared<workflow::internal::CommandOf<Function>>(std::move(function));
  auto job = std::make_shared<CommandJob>(context_->random(), command, owned);
  auto done = co_await batches_.ask<Submit>(std::move(job)).within(forever);
  if (!done) co_return done.error();
  co_return command->take();
}

}  // namespace weir::flow::workflow::postgres::internal
