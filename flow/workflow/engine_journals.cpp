#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/engine_call.hpp>
#include <weir/flow/workflow/internal/journal_commands.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/flow/workflow/internal/undo_commands.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow {

using internal::check_handle;
using internal::CoreRef;
using internal::Draft;
using internal::run;
using internal::with_lease;

Task<Result<>> Engine::append_journal(Handle handle, std::uint32_t end,
                                      std::vector<JournalEntry> entries) const {
  return with_lease(core_, handle, [handle, end, entries = std::move(entries)](Draft& draft) {
    return internal::append_journal(draft, handle, end, entries);
  });
}

Task<Result<>> Engine::append_journal(Handle handle, std::uint32_t end,
                                      std::vector<JournalEntry> entries,
                                      std::vector<NewExecution> begun) const {
  return with_lease(core_, handle,
                    [handle, end, entries = std::move(entries),
                     begun = std::move(begun)](Draft& draft) -> Result<> {
                      auto added = internal::append_journal(draft, handle, end, entries);
                      if (!added) return added;
                      for (const NewExecution& request : begun) {
                        auto made = internal::create(draft, request);
                        if (!made) return made.error();
                      }
                      return {};
                    });
}

Task<Result<>> Engine::append_journal(Handle handle, std::uint32_t end,
                                      std::vector<JournalEntry> entries,
                                      std::shared_ptr<StepCommit> commit) const {
  const CoreRef core = core_;
  WEIR_CO_TRY_VOID(check_handle(core->identity(), handle));
  co_return co_await core->commit_journal(handle, end, std::move(entries), std::move(commit));
}

Task<Result<JournalHead>> Engine::restart_journal(Handle handle, std::string input) const {
  return with_lease(core_, handle, [handle, input = std::move(input)](Draft& draft) {
    return internal::restart_journal(draft, handle, input);
  });
}

Task<Result<std::optional<ExecutionId>>> Engine::undo_of(ExecutionId id) const {
  return run(core_, [id](Draft& draft) -> Result<std::optional<ExecutionId>> {
    const Execution* execution = draft.find<Execution>(id);
    if (execution == nullptr) return internal::no_such(id);
    const ExecutionId undo = internal::undo_id(id, *execution);
    if (draft.find<Execution>(undo) == nullptr) return std::optional<ExecutionId>();
    return std::optional(undo);
  });
}

Task<Result<Journal>> Engine::journal(ExecutionId id) const {
  return run(core_, [id](Draft& draft) { return internal::read_journal(draft, id); });
}

Task<Result<>> Engine::wait_for_end(std::vector<ExecutionId> executions) const {
  const CoreRef core = core_;
  if (executions.empty()) co_return Error(Errc::invalid_argument, "the end of no execution");
  co_return co_await core->wait_for_end(std::move(executions));
}

Time Engine::time() const { return core_->time(); }
ActorSystem& Engine::system() const { return core_->system(); }
storage::Store* Engine::store() const { return core_->embedded(); }

}  // namespace weir::flow::workflow
