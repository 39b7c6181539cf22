#pragma once

#include <coroutine>
#include <utility>

#include <weir/runtime/clock.hpp>
#include <weir/runtime/internal/node.hpp>
#include <weir/runtime/internal/reply_waiter.hpp>

namespace weir::internal {

Duration default_ask_timeout(const Cell* target) noexcept;

template <class M>
class AskAwaiter final : public ReplyWaiter {
 public:
  AskAwaiter(Cell* target, Envelope<M>* envelope, Duration timeout) noexcept
      : target_(target), envelope_(envelope), timeout_(timeout) {}
  ~AskAwaiter() override {
    if (envelope_) dispose(envelope_);
  }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) {
    return ask(target_, std::exchange(envelope_, nullptr), timeout_, handle);
  }
  Result<ReplyOf<M>> await_resume() {
    if (!returned_) return std::move(error_);
    return std::move(static_cast<Envelope<M>*>(returned_)->reply);
  }

 private:
  Cell* target_;  // the reference outlives the call
  Envelope<M>* envelope_;
  Duration timeout_;
};

/// A request that has not been sent yet. Await it in the expression that makes it: it borrows the
/// reference.
template <class M>
class [[nodiscard]] Ask {
 public:
  template <class... Args>
  explicit Ask(Cell* target, Args&&... args)
      : target_(target),
        envelope_(new Envelope<M>(std::forward<Args>(args)...)),
        timeout_(default_ask_timeout(target)) {}
  Ask(const Ask&) = delete;
  ~Ask() {
    if (envelope_) dispose(envelope_);
  }

  /// Waits no longer than this for the reply; `forever` for as long as it takes.
  Ask&& within(Duration timeout) && noexcept {
    timeout_ = timeout;
    return std::move(*this);
  }

  AskAwaiter<M> operator co_await() && noexcept {
    return AskAwaiter<M>(target_, std::exchange(envelope_, nullptr), timeout_);
  }

 private:
  Cell* target_;
  Envelope<M>* envelope_;
  Duration timeout_;
};

/// Stands where a message that is no request was asked, so that saying so is the only error.
struct NotARequest {
  NotARequest within(Duration) const noexcept { return {}; }
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept {}
};

template <class M>
struct AskOf {
  using Type = NotARequest;
};
template <Request M>
struct AskOf<M> {
  using Type = Ask<M>;
};

}  // namespace weir::internal
