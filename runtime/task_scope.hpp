#pragma once

#include <cstddef>
#include <utility>

#include <weir/runtime/internal/scope_state.hpp>
#include <weir/runtime/task.hpp>

namespace weir {

/// Runs tasks side by side within one actor, and waits for them.
///
/// The tasks interleave where they wait; they never run at the same time, so they share the actor's
/// state without locks. Confined to its actor. A scope inside a handler is cancelled with the
/// handler; a scope that is a member of the actor runs tasks in the background, which the actor
/// cancels when it begins to stop and waits for before it ends.
///
/// Join it before it goes out of scope. If it must go early, because of an exception or because the
/// actor is killed, it destroys the tasks that have not finished: declare it after everything that
/// they use.
class TaskScope {
 public:
  /// Starts `task`, which runs until it waits for the first time; its failure surfaces at `join`.
  /// Throws `std::logic_error` outside an actor, and in the constructor of one: use `on_start`.
  void spawn(Task<> task) { state_.start(std::move(task)); }

  /// `co_await scope.join()`: waits until no task is left; rethrows the first failure. If the
  /// caller is cancelled meanwhile the tasks are, and it still waits for their end.
  [[nodiscard]] internal::JoinAwaiter join() noexcept { return internal::JoinAwaiter(state_); }

  /// Ends what the tasks wait for with `Errc::cancelled`. They end when they have dealt with that.
  void cancel_all() noexcept { state_.cancel_all(); }

  /// How many tasks have not finished.
  std::size_t running() const noexcept { return state_.running(); }

 private:
  internal::ScopeState state_;
};

}  // namespace weir
