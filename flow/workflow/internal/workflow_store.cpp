#include <weir/flow/workflow/internal/workflow_store.hpp>

#include <weir/flow/workflow/errc.hpp>

namespace weir::flow::workflow::internal {
namespace {

template <class T>
Task<Result<T>> not_here(const char* what) {
  co_return Error(Errc::unavailable, std::string(what) + ": not by this store");
}

}  // namespace

Error notices_removed(std::uint64_t from, std::uint64_t first) {
  return {Errc::overtaken, "notices from " + std::to_string(from) + " on: those before " +
                               std::to_string(first) + " were removed"};
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the same as those that keep it
Task<Result<>> WorkflowStore::commit_journal(Handle, std::uint32_t, std::vector<JournalEntry>,
                                             std::shared_ptr<StepCommit>) {
  co_return Error(weir::Errc::unsupported, "a step with a transaction needs an embedded store");
}

Task<Result<QueueSeen>> WorkflowStore::queue(std::string /*lane*/, std::size_t /*executions_max*/) {
  return not_here<QueueSeen>("queue");
}

Task<Result<EngineReport>> WorkflowStore::report() { return not_here<EngineReport>("report"); }

Task<Result<std::vector<std::pair<ExecutionId, Execution>>>> WorkflowStore::executions(
    bool /*is_of_live*/, std::optional<ExecutionId> /*after*/, std::size_t /*executions_max*/) {
  return not_here<std::vector<std::pair<ExecutionId, Execution>>>("list of executions");
}

}  // namespace weir::flow::workflow::internal
