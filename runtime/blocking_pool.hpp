#pragma once

#include <coroutine>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <weir/runtime/internal/blocking_waiter.hpp>
#include <weir/runtime/internal/pool.hpp>
#include <weir/runtime/result.hpp>

namespace weir {

namespace internal {

template <class T>
struct ResultOf {
  using Type = Result<T>;
};
template <class T>
struct ResultOf<Result<T>> {
  using Type = Result<T>;
};

/// A blocking call and what came of it.
template <class F>
struct BlockingFunction final : BlockingCall, Pooled {
  using Value = std::invoke_result_t<F>;
  using Outcome = typename ResultOf<Value>::Type;

  BlockingFunction(Cell& actor, F&& call)
      : BlockingCall(actor, &run, &end), function(std::move(call)) {}

  static void run(BlockingCall* call) noexcept {
    auto* self = static_cast<BlockingFunction*>(call);
    try {
      if constexpr (std::is_void_v<Value>) {
        std::invoke(std::move(self->function));
        self->outcome.emplace();
      } else {
        self->outcome.emplace(std::invoke(std::move(self->function)));
      }
    } catch (...) {
      self->exception = std::current_exception();
    }
  }
  static void end(BlockingCall* call) noexcept { delete static_cast<BlockingFunction*>(call); }

  F function;
  std::optional<Outcome> outcome;
  std::exception_ptr exception;
};

template <class F>
class BlockingAwaiter final : public BlockingWaiter {
 public:
  using Function = BlockingFunction<F>;

  explicit BlockingAwaiter(F&& function) : function_(std::move(function)) {}

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) {
    return wait(new Function(require_actor("on_blocking_pool"), std::move(function_)), handle);
  }
  typename Function::Outcome await_resume() {
    if (error_.code()) return std::move(error_);
    auto& done = *static_cast<Function*>(call_);
    if (done.exception) std::rethrow_exception(done.exception);
    return std::move(*done.outcome);
  }

 private:
  F function_;
};

}  // namespace internal

/// `co_await on_blocking_pool(function)`: calls `function()` on a thread that may block, and goes
/// on in the actor. Gives a `Result` of what it returns (which may be a `Result` already), rethrows
/// what it throws, or gives the reason why it was not called: `cancelled`, or `stopped` when the
/// system is.
///
/// Once begun, a call cannot be interrupted: a cancelled caller waits for it. Only when the actor
/// is killed does nobody wait, and the call may outlive both its caller and the actor: let
/// `function` own what it uses, and not capture references or `this`.
///
/// The threads are bounded by `ActorSystemOptions::blocking_threads_max`; calls beyond that wait
/// their turn.
template <class F>
[[nodiscard]] auto on_blocking_pool(F function) {
  static_assert(std::is_invocable_v<F>, "weir: on_blocking_pool needs something to call with ()");
  return internal::BlockingAwaiter<F>(std::move(function));
}

/// Has `function()` called on a thread that may block, and does not wait for it: what comes of the
/// call is for `function` to tell. It is destroyed without having been called if the system stops
/// first, or has no threads for it; so its destructor can tell that. It owns what it uses, and
/// does not throw.
template <class F>
void begin_on_blocking_pool(F function) {
  static_assert(std::is_nothrow_invocable_r_v<void, F>,
                "weir: begin_on_blocking_pool needs something to call with () that does not throw");
  internal::Cell& actor = internal::require_actor("begin_on_blocking_pool");
  auto* call = new internal::BlockingFunction<F>(actor, std::move(function));
  if (!call->submit()) call->destroy(call);
}

}  // namespace weir
