#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/workflow/internal/engine_core.hpp>
#include <weir/flow/workflow/internal/workflow_store.hpp>

namespace weir::flow::workflow::internal {

/// Workflows in a store of this process, which one actor writes: `EngineActor`.
class EmbeddedStore final : public WorkflowStore {
 public:
  /// `already_exists` if there is another one on this store.
  static Task<Result<std::shared_ptr<WorkflowStore>>> open(storage::Store* store,
                                                           EngineOptions options);

  explicit EmbeddedStore(std::shared_ptr<EngineCore> core) noexcept : core_(std::move(core)) {}

  ActorSystem& system() const override { return core_->records.store().system(); }
  std::uint64_t identity() const override { return core_->records.identity(); }
  Task<Result<>> run(std::shared_ptr<Command> command) override;
  Task<Result<std::vector<Claimed>>> claim(ClaimRequest request, bool waits) override;
  Task<Result<CancelResult>> cancel(WorkflowId workflow, CancelPolicy policy,
                                    std::string reason) override;
  Task<Result<std::vector<SetAside>>> set_aside() override;
  Task<Result<EngineReport>> report() override;
  Task<Result<std::vector<std::pair<ExecutionId, Execution>>>> executions(
      bool is_of_live, std::optional<ExecutionId> after, std::size_t executions_max) override;
  Task<Result<QueueSeen>> queue(std::string lane, std::size_t executions_max) override;
  Task<Result<std::vector<ExecutionId>>> members(WorkflowId workflow,
                                                 std::optional<ExecutionId> after,
                                                 std::size_t members_max) override;
  Task<Result<std::vector<WorkflowId>>> workflows(Partition partition,
                                                  std::optional<WorkflowId> after,
                                                  std::size_t workflows_max) override;
  Task<Result<std::vector<std::pair<std::uint64_t, Notice>>>> notices(
      std::uint64_t from, std::size_t notices_max) override;
  Task<Result<std::uint64_t>> first_notice() override { return core_->records.first_notice(); }
  std::vector<Partition> own_partitions() const override;
  EngineFigures& figures() const override { return *core_->figures; }
  Task<Result<>> wait_for_end(std::vector<ExecutionId> executions) override;
  Task<Result<>> commit_journal(Handle handle, std::uint32_t end, std::vector<JournalEntry> entries,
                                std::shared_ptr<StepCommit> commit) override;
  Time time() const override { return core_->records.store().time(); }
  void tell_changes() override { core_->tells_changes = true; }
  storage::Store* embedded() const override { return &core_->records.store(); }
  Task<Result<>> close() override;
  bool is_closed() const override { return core_->gone->published() > 0; }
  void abandon() noexcept override { core_->actor.stop(); }

 private:
  const std::shared_ptr<EngineCore> core_;
};

}  // namespace weir::flow::workflow::internal
