#include <weir/runtime/internal/scope_state.hpp>

#include <stdexcept>
#include <string>
#include <utility>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/spawn.hpp>

namespace weir::internal {
namespace {

std::exception_ptr collect_task(Run& run) {
  auto handle = std::coroutine_handle<TaskPromise<void>>::from_address(run.handle.address());
  std::exchange(run.scope, nullptr)->task_ended(handle.promise().exception);
  return nullptr;
}

// A scope outside of handlers: a member of an actor that is being constructed.
bool is_in_handler() noexcept {
  return !cell_under_construction() && this_worker && this_worker->current_run;
}

}  // namespace

ScopeState::ScopeState() noexcept : follows_run_(is_in_handler()) {}

ScopeState::~ScopeState() {
  while (running_ > 0) {
    Run* run = home_->extension().runs;
    while (run->scope != this) run = run->next;
    destroy_run(*home_, run);
  }
  if (failure_) {
    home_->core->report_failure(*home_, "a task that nobody joined: " + describe(failure_));
  }
}

void ScopeState::start(Task<> task) {
  // What runs here is not the actor that is being made, but the one that spawns it.
  if (const Cell* unfinished = cell_under_construction()) {
    throw std::logic_error("weir: TaskScope::spawn in the constructor of " +
                           std::string(unfinished->type->name) +
                           ": begin tasks of an actor in on_start()");
  }
  Cell& actor = require_actor("TaskScope::spawn");
  if (home_ && home_ != &actor) {
    throw std::logic_error("weir: a TaskScope belongs to one actor");
  }
  if (!task) throw std::logic_error("weir: TaskScope::spawn of an empty task");
  home_ = &actor;
  auto handle = task.release();
  Run* run = new Run(actor, handle);
  handle.promise().root = run;
  run->collect = &collect_task;
  run->scope = this;
  if (Run* current = this_worker->current_run; current && follows_run_) {
    run->parent = current;
    run->is_cancelled = current->is_cancelled;
    current->has_children = true;
  }
  ++running_;
  start_child(run);
}

void ScopeState::cancel_all() noexcept {
  if (running_ == 0) return;
  bool is_any = false;
  for (Run* run = home_->extension().runs; run; run = run->next) {
    if (run->scope != this || run->is_cancelled) continue;
    mark_cancelled(*run);
    is_any = true;
  }
  if (is_any) cancel_marked_later(*home_);
}

void ScopeState::task_ended(std::exception_ptr failure) noexcept {
  if (failure && !failure_) failure_ = std::move(failure);
  if (--running_ == 0 && joiner_ && !std::exchange(joiner_->is_woken_, true)) joiner_->wake();
}

JoinAwaiter::~JoinAwaiter() {
  if (scope_.joiner_ == this) scope_.joiner_ = nullptr;
}

void JoinAwaiter::await_suspend(std::coroutine_handle<> handle) {
  if (scope_.home_ != current_cell()) {
    throw std::logic_error("weir: a TaskScope belongs to one actor");
  }
  if (scope_.joiner_) throw std::logic_error("weir: a TaskScope is joined by one coroutine");
  suspend(handle);
  scope_.joiner_ = this;
  if (is_current_run_cancelled()) cancel();
}

void JoinAwaiter::cancel() noexcept {
  is_cancelled_ = true;
  scope_.cancel_all();
}

// Woken when the last task ended; another may have been started since by somebody else.
bool JoinAwaiter::goes_on() noexcept {
  if (scope_.running_ == 0) return true;
  is_woken_ = false;
  if (is_cancelled_) scope_.cancel_all();
  return false;
}

void JoinAwaiter::await_resume() {
  if (scope_.joiner_ == this) scope_.joiner_ = nullptr;
  if (std::exception_ptr failure = std::exchange(scope_.failure_, nullptr)) {
    std::rethrow_exception(failure);
  }
}

}  // namespace weir::internal
