#include <weir/flow/workflow/internal/embedded_store.hpp>

#include <weir/flow/workflow/errc.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/registry.hpp>
#include <weir/runtime/try.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::flow::workflow::internal {
namespace {

using CoreRef = std::shared_ptr<EngineCore>;

std::string name_of(const EngineCore& core) {
  return "workflow engine " + std::to_string(core.records.identity());
}

Task<Result<>> run_on(CoreRef core, std::shared_ptr<Command> command) {
  WEIR_CO_TRY(ticket, co_await core->actor.ask<Submit>(std::move(command)).within(forever));
  WEIR_CO_TRY_VOID(co_await core->committed.wait_until(ticket));
  co_return {};
}

Task<Result<std::vector<Claimed>>> claim_on(CoreRef core, ClaimRequest request, bool waits) {
  WEIR_CO_TRY(reply, co_await core->actor.ask<Claim>(std::move(request), waits).within(forever));
  WEIR_CO_TRY_VOID(co_await core->committed.wait_until(reply.ticket));
  co_return std::move(reply.claimed);
}

Task<Result<CancelResult>> cancel_on(CoreRef core, CancelWorkflow cancel) {
  WEIR_CO_TRY(reply, co_await core->actor.ask<CancelWorkflow>(std::move(cancel)).within(forever));
  WEIR_CO_TRY_VOID(co_await core->committed.wait_until(reply.ticket));
  co_return CancelResult{reply.is_new, std::move(reply.cancelled)};
}

Task<Result<std::vector<SetAside>>> set_aside_on(CoreRef core) {
  co_return co_await core->actor.ask<ListSetAside>().within(forever);
}

Task<Result<QueueSeen>> queue_on(CoreRef core, LookAtQueue look) {
  co_return co_await core->actor.ask<LookAtQueue>(std::move(look)).within(forever);
}

Task<Result<EngineReport>> report_on(CoreRef core) { co_return core->figures->read(); }

Task<Result<>> close_on(CoreRef core) {
  auto stopped = co_await core->actor.ask<Stop>().within(forever);
  static_cast<void>(co_await core->gone->wait_until(1));
  if (!stopped) co_return stopped.error();
  co_return {};
}

Task<Result<>> wait_on(CoreRef core, AwaitEnd wait) {
  WEIR_CO_TRY(ticket, co_await core->actor.ask<AwaitEnd>(std::move(wait)).within(forever));
  WEIR_CO_TRY_VOID(co_await core->committed.wait_until(ticket));
  co_return {};
}

Task<Result<>> commit_on(CoreRef core, CommitStep step) {
  // As with any commit, the outcome of one that was begun is waited for.
  const CancellationShield shield;
  WEIR_CO_TRY_VOID(co_await core->actor.ask<CommitStep>(std::move(step)).within(forever));
  co_return {};
}

}  // namespace

Task<Result<std::shared_ptr<WorkflowStore>>> EmbeddedStore::open(storage::Store* store,
                                                                 EngineOptions options) {
  WEIR_CO_TRY(records, co_await RecordStore::open(store->share()));
  auto core = std::make_shared<EngineCore>(std::move(records));
  if (auto* telemetry = store->system().options().telemetry) {
    core->metrics = std::make_unique<EngineMetrics>(core->figures, telemetry->meter());
  }
  SpawnOptions spawning{.name = "workflow engine", .mailbox_capacity = unbounded};
  core->actor = store->system().spawn<EngineActor>(
      std::move(spawning), core,
      EngineActorOptions{options.records_max, options.cancels_max, options.retention,
                         options.dispatch_spaces});
  // Two that keep records in memory would overwrite each other's.
  Registry registry(store->system());
  if (auto added = registry.add(name_of(*core), core->actor); !added) {
    static_cast<void>(co_await close_on(core));
    co_return Error(Errc::already_exists, "an engine is open on this store");
  }
  if (auto begun = co_await core->actor.ask<Begin>().within(forever); !begun) {
    const Error error = begun.error();
    static_cast<void>(co_await close_on(core));
    co_return error;
  }
  co_return std::shared_ptr<WorkflowStore>(std::make_shared<EmbeddedStore>(core));
}

Task<Result<>> EmbeddedStore::run(std::shared_ptr<Command> command) {
  return run_on(core_, std::move(command));
}

Task<Result<std::vector<Claimed>>> EmbeddedStore::claim(ClaimRequest request, bool waits) {
  return claim_on(core_, std::move(request), waits);
}

Task<Result<CancelResult>> EmbeddedStore::cancel(WorkflowId workflow, CancelPolicy policy,
                                                 std::string reason) {
  return cancel_on(core_, {workflow, policy, std::move(reason)});
}

Task<Result<std::vector<SetAside>>> EmbeddedStore::set_aside() { return set_aside_on(core_); }

Task<Result<QueueSeen>> EmbeddedStore::queue(std::string lane, std::size_t executions_max) {
  return queue_on(core_, {std::move(lane), executions_max});
}

Task<Result<EngineReport>> EmbeddedStore::report() { return report_on(core_); }

Task<Result<std::vector<std::pair<ExecutionId, Execution>>>> EmbeddedStore::executions(
    bool is_of_live, std::optional<ExecutionId> after, std::size_t executions_max) {
  return core_->records.executions(is_of_live, after, executions_max);
}

Task<Result<std::vector<ExecutionId>>> EmbeddedStore::members(WorkflowId workflow,
                                                              std::optional<ExecutionId> after,
                                                              std::size_t members_max) {
  return core_->records.members(workflow, after, members_max);
}

Task<Result<std::vector<WorkflowId>>> EmbeddedStore::workflows(Partition partition,
                                                               std::optional<WorkflowId> after,
                                                               std::size_t workflows_max) {
  return core_->records.workflows(partition, after, workflows_max);
}

Task<Result<std::vector<std::pair<std::uint64_t, Notice>>>> EmbeddedStore::notices(
    std::uint64_t from, std::size_t notices_max) {
  return core_->records.notices(from, notices_max);
}

std::vector<Partition> EmbeddedStore::own_partitions() const {
  std::vector<Partition> all(partitions_max);
  for (std::uint16_t number = 0; number < partitions_max; ++number) all[number].number = number;
  return all;
}

Task<Result<>> EmbeddedStore::wait_for_end(std::vector<ExecutionId> executions) {
  return wait_on(core_, {std::move(executions)});
}

Task<Result<>> EmbeddedStore::commit_journal(Handle handle, std::uint32_t end,
                                             std::vector<JournalEntry> entries,
                                             std::shared_ptr<StepCommit> commit) {
  return commit_on(core_, {handle, end, std::move(entries), std::move(commit)});
}

Task<Result<>> EmbeddedStore::close() { return close_on(core_); }

}  // namespace weir::flow::workflow::internal
