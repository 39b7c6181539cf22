#pragma once

#include <coroutine>
#include <exception>
#include <memory>

#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/internal/pool.hpp>

namespace weir::internal {

struct TimerMessageBase;

/// The outermost owner of a task: told once when the task has finished.
struct TaskRoot {
  explicit TaskRoot(void (*callback)(TaskRoot*) noexcept) noexcept : on_finished(callback) {}
  void (*on_finished)(TaskRoot*) noexcept;
};

/// A handler that is a coroutine, from its first suspension to its end.
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
  std::uint8_t blocks = 0;  // attention bits that end with this run
  bool is_finished = false;
  bool is_cancelled = false;
};

/// Starts a coroutine handler of the message in `node`, if any. Unless it finishes at once the run
/// belongs to the cell from then on, and `attention` gets the bits in `blocks` until it has
/// finished. Throws what the handler threw.
Outcome start_run(std::unique_ptr<Run> run, Node* node, std::uint8_t blocks);

/// After a coroutine of `run` was resumed: completes the handler if it has finished.
void complete_if_finished(Run* run) noexcept;

}  // namespace weir::internal
