#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/workflow/internal/engine_metrics.hpp>
#include <weir/flow/workflow/internal/workflow_store.hpp>
#include <weir/flow/workflow/postgres/internal/batch_actor.hpp>
#include <weir/flow/workflow/postgres/internal/keeper_actor.hpp>
#include <weir/storage/postgres/listener.hpp>

namespace weir::flow::workflow::postgres::internal {

/// Workflows in a database that several processes share.
///
///     call ──job──> batch_actor ──> one transaction for those that came together
///     listener ──> gates: who waits for work ──> keeper_actor: what is due or left to cancel
class PostgresStore final : public workflow::internal::WorkflowStore {
 public:
  /// `clock` instead of the database's: for tests.
  static Task<Result<std::shared_ptr<PostgresStore>>> open(ActorSystem* system, Options options,
                                                           std::function<Time()> clock = {});

  explicit PostgresStore(std::shared_ptr<Context> context) noexcept
      : context_(std::move(context)) {}

  ActorSystem& system() const override { return context_->pool.system(); }
  std::uint64_t identity() const override { return context_->identity; }
  Task<Result<>> run(std::shared_ptr<Command> command) override;
  Task<Result<std::vector<Claimed>>> claim(ClaimRequest request, bool waits) override;
  Task<Result<CancelResult>> cancel(WorkflowId workflow, CancelPolicy policy,
                                    std::string reason) override;
  Task<Result<std::vector<SetAside>>> set_aside() override;
  Task<Result<std::vector<ExecutionId>>> members(WorkflowId workflow,
                                                 std::optional<ExecutionId> after,
                                                 std::size_t members_max) override;
  Task<Result<std::vector<WorkflowId>>> workflows(Partition partition,
                                                  std::optional<WorkflowId> after,
                                                  std::size_t workflows_max) override;
  Task<Result<std::vector<std::pair<std::uint64_t, Notice>>>> notices(
      std::uint64_t from, std::size_t notices_max) override;
  Task<Result<std::uint64_t>> first_notice() override;
  Task<Result<EngineReport>> report() override;
  std::vector<Partition> own_partitions() const override { return context_->own_partitions.get(); }
  workflow::internal::EngineFigures& figures() const override { return *context_->figures; }
  Task<Result<std::vector<std::pair<ExecutionId, Execution>>>> executions(
      bool is_of_live, std::optional<ExecutionId> after, std::size_t executions_max) override;
  Task<Result<workflow::internal::QueueSeen>> queue(std::string lane,
                                                    std::size_t executions_max) override;
  Task<Result<>> wait_for_end(std::vector<ExecutionId> executions) override;
  /// That of the database, by which everything is due.
  Time time() const override {
    return context_->clock ? context_->clock() : context_->database_clock.at(system().now());
  }
  Task<Result<>> close() override;
  bool is_closed() const override { return is_closed_.load(); }
  void abandon() noexcept override;

  /// Does everything that is due, until nothing is: for tests that turn the clock.
  Task<Result<>> settle();

 private:
  Task<Result<>> begin();

  const std::shared_ptr<Context> context_;
  std::atomic<bool> is_closed_ = false;
  BatchRef batches_;
  KeeperRef keeper_;
  std::optional<storage::postgres::Listener> listener_;
  std::unique_ptr<workflow::internal::EngineMetrics> metrics_;  // null without telemetry
};

}  // namespace weir::flow::workflow::postgres::internal
