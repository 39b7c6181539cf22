#pragma once

#include <cstddef>
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

/// Runs a function of a draft where the records are, and waits until what it gave is committed:
/// what it saw may not have been either.
template <class Function>
Task<std::invoke_result_t<Function&, Draft&>> run(CoreRef core, Function function) {
  auto command = std::make_shared<internal::CommandOf<Function>>(std::move(function));
  auto committed = co_await core->run(command);
  if (!committed) co_return committed.error();
  co_return command->take();
}

inline Result<> check_handle(const WorkflowStore& core, const Handle& handle) {
  if (handle.store == core.identity()) return {};
  return Error(Errc::foreign_handle, "the handle of " + to_string(handle.execution));
}

/// A function of a draft that needs a lease.
template <class Function>
auto with_lease(CoreRef core, Handle handle, Function function) {
  return run(
      core,
      [core, handle, function](Draft& draft) -> std::invoke_result_t<const Function&, Draft&> {
        if (auto own = check_handle(*core, handle); !own) return own.error();
        return function(draft);
      });
}

}  // namespace weir::flow::workflow::internal
