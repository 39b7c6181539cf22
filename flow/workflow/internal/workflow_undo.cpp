#include <algorithm>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/workflow_run.hpp>
#include <weir/runtime/error.hpp>

// Undoing what a coroutine did that does not complete.
namespace weir::flow::workflow::internal {

void WorkflowRun::index_undone() {
  const Journal& own = options_.undoing->journal;
  end_ = own.head.end;
  for (const JournalEntry& entry : own.entries) undone_[entry.number] = &entry;
}

const JournalEntry* WorkflowRun::recorded(std::uint32_t number) const {
  const JournalEntry* entry = number <= recorded_.size() ? recorded_[number - 1] : nullptr;
  if (entry != nullptr || !is_undoing_) return entry;
  const auto found = undone_.find(number);
  return found != undone_.end() ? found->second : nullptr;
}

void WorkflowRun::stop_if_undoing() const {
  if (!options_.undoing || is_undoing_) return;
  throw ErrorException(Error(weir::Errc::cancelled, to_string(id()) + " was ended by others"));
}

Task<> WorkflowRun::cancel_children() {
  // What was not begun yet need not be, unless it is let run.
  std::erase_if(children_, [&](const NewChild& child) {
    return std::ranges::find(own_children_, *child.request.id) != own_children_.end();
  });
  co_await flush_children();
  for (const ExecutionId& child : own_children_) {
    auto cancelled = co_await engine_->cancel(child, "its parent did not complete");
    if (!cancelled && cancelled.error() != Errc::not_found) co_await refuse(cancelled.error());
  }
}

Task<> WorkflowRun::undo() {
  is_undoing_ = true;
  if (!options_.is_query) co_await cancel_children();
  auto undo = std::exchange(undo_, {});
  for (auto step = undo.rbegin(); step != undo.rend(); ++step) {
    try {
      co_await (*step)();
    } catch (const ErrorException& exception) {
      has_failed_to_undo_ = true;
      error_ = Error(error_.code(), error_.detail() + "; then " + exception.error().detail());
    }
  }
}

}  // namespace weir::flow::workflow::internal
