#include <utility>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/engine_actor.hpp>
#include <weir/flow/workflow/internal/engine_core.hpp>
#include <weir/flow/workflow/internal/journal_commands.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/runtime/try.hpp>

// What an engine does for durable coroutines.
namespace weir::flow::workflow::internal {
namespace {

/// Tells what adding to a journal would come to, and does not do it.
class JournalProbe final : public Command {
 public:
  explicit JournalProbe(const CommitStep& step) noexcept : step_(step) {}

  bool run(Draft& draft) override {
    added_ = append_journal(draft, step_.handle, step_.end, step_.entries);
    if (const auto* head = draft.find<JournalHead>(step_.handle.execution)) head_ = *head;
    return false;
  }
  const Result<>& added() const noexcept { return added_; }
  /// As it would be then.
  const JournalHead& head() const noexcept { return head_; }

 private:
  const CommitStep& step_;
  Result<> added_;
  JournalHead head_;
};

}  // namespace

Task<Result<>> EngineActor::wait_until_free(ExecutionId id) {
  for (;;) {
    if (const auto held = held_.find(id); held != held_.end()) {
      const std::shared_ptr<SequenceBarrier> freed = held->second;
      WEIR_CO_TRY_VOID(co_await freed->wait_until(1));
      continue;
    }
    // The commit to come must not overtake one that has the same records.
    const Slot<JournalHead>* head = records_.find<JournalHead>(id);
    if (head == nullptr || !head->is_changed) co_return {};
    WEIR_CO_TRY_VOID(co_await core_->committed.wait_until(batch_));
  }
}

Task<Result<bool>> EngineActor::on(CommitStep step) {
  const ExecutionId id = step.handle.execution;
  JournalProbe probe(step);
  do {
    WEIR_CO_TRY_VOID(co_await wait_until_free(id));
    WEIR_CO_TRY_VOID(co_await run(&probe));
  } while (held_.contains(id));
  if (!probe.added()) co_return probe.added().error();
  const auto freed = std::make_shared<SequenceBarrier>();
  held_.emplace(id, freed);
  core_->records.write_journal(step.commit->transaction(), id, probe.head(), step.entries);
  auto version = co_await step.commit->commit();
  if (version) records_.note_stored<JournalHead>(id, probe.head());
  held_.erase(id);
  freed->publish(1);
  if (!version) co_return version.error();
  co_return true;
}

std::shared_ptr<SequenceBarrier> EngineActor::hold_on(const Draft& draft) const {
  std::shared_ptr<SequenceBarrier> freed;
  if (held_.empty()) return freed;
  const auto look = [&](const ExecutionId& id, const auto&) {
    if (const auto held = held_.find(id); held != held_.end()) freed = held->second;
  };
  draft.each_change<Execution>(look);
  draft.each_change<JournalHead>(look);
  return freed;
}

Task<Result<Ticket>> EngineActor::on(AwaitEnd wait) {
  for (;;) {
    auto has_ended =
        co_await call([&wait](Draft& draft) { return has_any_ended(draft, wait.executions); });
    if (!has_ended) co_return has_ended.error();
    if (*has_ended) co_return ticket();
    SequenceBarrier woken;
    for (const ExecutionId& id : wait.executions) end_waiters_.emplace(id, &woken);
    const auto went_on = co_await woken.wait_until(1);
    for (const ExecutionId& id : wait.executions) forget_end_waiter(id, &woken);
    if (!went_on) co_return went_on.error();
  }
}

void EngineActor::forget_end_waiter(const ExecutionId& id, const SequenceBarrier* woken) {
  auto [waiter, last] = end_waiters_.equal_range(id);
  while (waiter != last) {
    waiter = waiter->second == woken ? end_waiters_.erase(waiter) : std::next(waiter);
  }
}

void EngineActor::tell_end(const ExecutionId& id) {
  const auto [first, last] = end_waiters_.equal_range(id);
  for (auto waiter = first; waiter != last; ++waiter) waiter->second->publish(1);
}

}  // namespace weir::flow::workflow::internal
