#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/workflow_store.hpp>

namespace weir::flow::workflow::internal {

using CoreRef = std::shared_ptr<WorkflowStore>;

/// Entries of a page, at most.
inline constexpr std::size_t page_max = 1000;

struct NothingNoted {};

/// What a function needs of who calls it notes in their handler; as long as this lives it is
/// called.
template <class Function>
auto note_caller(Function& function) {
  if constexpr (requires { function.note_caller(); }) {
    return function.note_caller();
  } else {
    return NothingNoted();
  }
}

template <class Function>
Task<typename CommandOf<Function>::Outcome> run_command(
    CoreRef core, std::shared_ptr<CommandOf<Function>> command) {
  [[maybe_unused]] const auto call = note_caller(command->function());
  auto committed = co_await core->run(command);
  if (!committed) co_return committed.error();
  co_return command->take();
}

/// Runs a function of a draft where the records are, and waits until what it gave is committed:
/// what it saw may not have been either.
template <class Function>
Task<typename CommandOf<Function>::Outcome> run(CoreRef core, Function function) {
  // Made before there is a coroutine, whose frame would only hand the function on.
  auto command = std::make_shared<CommandOf<Function>>(std::move(function));
  return run_command(std::move(core), std::move(command));
}

/// Whether it is of the store that is known by this number.
inline Result<> check_handle(std::uint64_t identity, const Handle& handle) {
  if (handle.store == identity) return {};
  return Error(Errc::foreign_handle, "the handle of " + to_string(handle.execution));
}

/// A function of a draft that needs a lease.
template <class Function>
auto with_lease(CoreRef core, Handle handle, Function function) {
  auto fenced = [identity = core->identity(), handle, function = std::move(function)](
                    Draft& draft) -> std::invoke_result_t<const Function&, Draft&> {
    if (auto own = check_handle(identity, handle); !own) return own.error();
    return function(draft);
  };
  return run(std::move(core), std::move(fenced));
}

}  // namespace weir::flow::workflow::internal
