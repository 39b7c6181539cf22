#include <weir/flow/workflow/internal/workflow_store.hpp>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::internal {
namespace {

constexpr Duration look_again = std::chrono::milliseconds(250);

Task<Result<bool>> has_any_ended(WorkflowStore* store, std::vector<ExecutionId> executions) {
  auto look = [executions = std::move(executions)](Draft& draft) -> Result<bool> {
    return has_any_ended(draft, executions);
  };
  auto command = std::make_shared<CommandOf<decltype(look)>>(std::move(look));
  WEIR_CO_TRY_VOID(co_await store->run(command));
  co_return command->take();
}

template <class T>
Task<Result<T>> not_here(const char* what) {
  co_return Error(Errc::unavailable, std::string(what) + ": not by this store");
}

}  // namespace

Error notices_removed(std::uint64_t from, std::uint64_t first) {
  return {Errc::overtaken, "notices from " + std::to_string(from) + " on: those before " +
                               std::to_string(first) + " were removed"};
}

Task<Result<>> WorkflowStore::wait_for_end(std::vector<ExecutionId> executions) {
  for (;;) {
    WEIR_CO_TRY(has_ended, co_await has_any_ended(this, executions));
    if (has_ended) co_return {};
    WEIR_CO_TRY_VOID(co_await sleep_for(look_again));
  }
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the same as those that keep it
Task<Result<>> WorkflowStore::commit_journal(Handle, std::uint32_t, std::vector<JournalEntry>,
                                             std::shared_ptr<StepCommit>) {
  co_return Error(weir::Errc::unsupported, "a step with a transaction needs an embedded store");
}

Time WorkflowStore::time() const {
  return std::chrono::floor<Time::duration>(std::chrono::system_clock::now());
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
