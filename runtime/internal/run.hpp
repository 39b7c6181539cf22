#pragma once

#include <coroutine>
#include <exception>

#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/internal/pool.hpp>

namespace weir::internal {

class ActiveSpan;
class CancellationState;
class ScopeState;
struct TimerMessageBase;

/// The outermost owner of a task: told once when the task has finished.
struct TaskRoot {
  explicit TaskRoot(void (*callback)(TaskRoot*) noexcept) noexcept : on_finished(callback) {}
  void (*on_finished)(TaskRoot*) noexcept;
};

/// A handler that is a coroutine, from its first suspension to its end; or a task of a scope.
struct Run : TaskRoot, Pooled {
  Run(Cell& owner, std::coroutine_handle<> coroutine) noexcept;
  ~Run();

  Cell& cell;
  std::coroutine_handle<> handle;
  RequestNode* request = nullptr;     // to be answered, if any
  TimerMessageBase* timer = nullptr;  // to be armed again when done
  // Takes the result out of the finished coroutine: the reply goes into the request. Returns the
  // exception if there was one.
  std::exception_ptr (*collect)(Run&) = nullptr;
  Run* previous = nullptr;
  Run* next = nullptr;
  Run* parent = nullptr;                      // of a scope's task: it is cancelled with this one
  ScopeState* scope = nullptr;                // that waits for it
  CancellationState* cancellation = nullptr;  // counted; made when somebody asks for it
  ActiveSpan* span = nullptr;                 // of the handler, if it is recorded
  std::uintptr_t trace = 0;                   // of what it does at the moment
  std::uintptr_t mark = 0;                    // of its beginning, if that is measured
  std::uint8_t blocks = 0;                    // attention bits that end with this run
  std::uint8_t shields = 0;                   // while there are any, no wait is cancelled
  bool is_finished = false;
  bool is_cancelled = false;
  bool has_children = false;
};

/// Starts a coroutine handler of the message in `node`, if any, and takes the run over. Unless it
/// finishes at once it belongs to the cell from then on, and `attention` gets the bits in `blocks`
/// until it has finished. Throws what the handler threw.
Outcome start_run(Run* owned, Node* node, std::uint8_t blocks);

/// Starts a task of a scope beside the handler that runs. The run belongs to its cell.
void start_child(Run* run) noexcept;

/// After a coroutine of a run was resumed: completes the handler if it has finished.
void complete_if_finished(Run* finished) noexcept;

/// Takes a run that will not be finished away, with its coroutine.
void destroy_run(Cell& cell, Run* run) noexcept;

/// Marks a run and those below it as cancelled; what they wait for goes on until
/// `WaiterList::cancel_marked`.
void mark_cancelled(Run& run) noexcept;
/// Cancels what marked runs wait for, soon, from the control lane.
void cancel_marked_later(Cell& cell) noexcept;
/// Cancels tasks that no handler waits for: their actor begins to stop.
void cancel_background(Cell& cell) noexcept;

/// True if what runs on this thread has been cancelled, so that it should not begin to wait.
bool is_current_run_cancelled() noexcept;

/// True if `cell` handles no message before what runs on this thread has finished, or the handler
/// whose task that is.
bool is_held_up_by_current_run(const Cell& cell) noexcept;

}  // namespace weir::internal
