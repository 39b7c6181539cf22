#pragma once

#include <coroutine>
#include <exception>
#include <optional>
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
  template <class Value>
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
/// and passes its value or exception on. Destroying a task that has not finished destroys its frame
/// and ends whatever it waits for.
template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = internal::TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;
  using value_type = T;

  Task() noexcept = default;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    Task moved(std::move(other));
    std::swap(handle_, moved.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

  /// Gives the coroutine away. The caller destroys it.
  Handle release() noexcept { return std::exchange(handle_, {}); }

  auto operator co_await() && noexcept {
    struct Awaiter {
      Handle handle;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) const noexcept {
        handle.promise().continuation = caller;
        return handle;
      }
      T await_resume() const { return handle.promise().take(); }
    };
    return Awaiter{handle_};
  }

 private:
  friend promise_type;
  explicit Task(Handle handle) noexcept : handle_(handle) {}

  Handle handle_;
};

template <class T>
Task<T> internal::TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

inline Task<void> internal::TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

}  // namespace weir
