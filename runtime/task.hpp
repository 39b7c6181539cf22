#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include <weir/runtime/internal/pool.hpp>
#include <weir/runtime/internal/run.hpp>

namespace weir {

template <class T>
class Task;

namespace internal {

class TaskPromiseBase : public Pooled {
 public:
  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> handle) const noexcept {
      TaskPromiseBase& promise = handle.promise();
      if (promise.continuation) return promise.continuation;
      if (promise.root) promise.root->on_finished(promise.root);
      return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { exception = std::current_exception(); }

  std::coroutine_handle<> continuation;
  TaskRoot* root = nullptr;
  std::exception_ptr exception;
};

template <class T>
class TaskPromise final : public TaskPromiseBase {
 public:
  Task<T> get_return_object() noexcept;
  template <class Value = T>
    requires std::convertible_to<Value&&, T>
  void return_value(Value&& value) {
    result.emplace(std::forward<Value>(value));
  }
  T take() {
    if (exception) std::rethrow_exception(exception);
    return std::move(*result);
  }

  std::optional<T> result;
};

template <>
class TaskPromise<void> final : public TaskPromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() {
    if (exception) std::rethrow_exception(exception);
  }
};

}  // namespace internal

/// A computation that may wait: the return type of coroutines.
///
/// It starts when awaited (or when handed to an actor system), runs on the actor that awaits it,
/// and passes its value or exception on. It has one owner at a time: first whoever holds the task,
/// then the coroutine that awaits it. When the owner goes, so does a task that has not finished,
/// and with it whatever it waits for.
template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = internal::TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;
  using value_type = T;
  class Awaiter;

  Task() noexcept = default;
  Task(Task&& other) noexcept : handle_(other.release()) {}
  Task& operator=(Task&& other) noexcept {
    Task moved(std::move(other));
    std::swap(handle_, moved.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  /// False if there is nothing to run: default constructed, moved from or awaited.
  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

  /// Gives the coroutine away. The caller destroys it.
  Handle release() noexcept { return std::exchange(handle_, {}); }

  /// Runs the task and gives its value or throws its exception. `std::logic_error` if it is empty.
  Awaiter operator co_await() && noexcept { return Awaiter(std::move(*this)); }

 private:
  friend promise_type;
  explicit Task(Handle handle) noexcept : handle_(handle) {}

  Handle handle_;
};

/// Owns the coroutine while it runs: who destroys the frame that waits destroys this one too.
template <class T>
class Task<T>::Awaiter {
 public:
  explicit Awaiter(Task task) noexcept : task_(std::move(task)) {}

  bool await_ready() const noexcept { return !task_; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) const noexcept {
    task_.handle_.promise().continuation = caller;
    return task_.handle_;
  }
  T await_resume() const {
    if (!task_) throw std::logic_error("weir: co_await of a task that is empty or was awaited");
    return task_.handle_.promise().take();
  }

 private:
  Task task_;
};

template <class T>
Task<T> internal::TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

inline Task<void> internal::TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

}  // namespace weir
