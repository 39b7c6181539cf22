#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <string>

#include <weir/runtime/internal/local_waiter.hpp>
#include <weir/runtime/task.hpp>

namespace weir::internal {

class JoinAwaiter;

/// The tasks of a scope, seen from their runs. Touched only by the actor that the scope belongs to.
class ScopeState {
 public:
  ScopeState() noexcept;
  ~ScopeState();
  ScopeState(const ScopeState&) = delete;
  ScopeState& operator=(const ScopeState&) = delete;

  void start(Task<> task);
  void cancel_all() noexcept;
  std::size_t running() const noexcept { return running_; }

  /// One task fewer; `failure` if it threw.
  void task_ended(std::exception_ptr failure) noexcept;

 private:
  friend class JoinAwaiter;

  Cell* home_ = nullptr;
  // True if the scope belongs to a handler and not to the actor itself: then its tasks are
  // cancelled with the handler.
  bool follows_run_;
  std::uint32_t running_ = 0;
  std::exception_ptr failure_;
  JoinAwaiter* joiner_ = nullptr;
};

class JoinAwaiter final : public LocalWaiter {
 public:
  explicit JoinAwaiter(ScopeState& scope) noexcept : scope_(scope) {}
  ~JoinAwaiter() override;

  bool await_ready() const noexcept { return scope_.running_ == 0; }
  void await_suspend(std::coroutine_handle<> handle);
  void await_resume();

  void cancel() noexcept override;
  std::string describe() const override { return "the tasks of a scope"; }

 private:
  friend class ScopeState;
  bool goes_on() noexcept override;

  ScopeState& scope_;
  bool is_woken_ = false;
  bool is_cancelled_ = false;
};

}  // namespace weir::internal
