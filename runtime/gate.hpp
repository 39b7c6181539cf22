#pragma once

#include <coroutine>
#include <cstddef>
#include <utility>

#include <weir/runtime/internal/local_waiter.hpp>
#include <weir/runtime/result.hpp>

namespace weir {

/// Lets work in until it is closed; closing waits for the work that is inside.
///
/// Confined to its actor. Outlives its passes.
class Gate {
 public:
  class Pass;
  class Close;

  /// A pass that says the caller is inside for as long as it lives; `closed` after `close`.
  Result<Pass> enter();

  /// `co_await gate.close()`: lets nobody in any more and waits until nobody is inside. Gives a
  /// `Result<>`: `cancelled` if the caller was, and then the gate stays closed.
  [[nodiscard]] Close close() noexcept;

  bool is_closed() const noexcept { return is_closed_; }
  /// How many passes there are.
  std::size_t inside() const noexcept { return inside_; }

 private:
  void leave() noexcept {
    if (--inside_ == 0) queue_.wake_all(internal::QueuedWaiter::Outcome::granted);
  }

  std::size_t inside_ = 0;
  bool is_closed_ = false;
  internal::WaitQueue queue_;
};

class [[nodiscard]] Gate::Pass {
 public:
  Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
  Pass& operator=(Pass&& other) noexcept {
    Pass moved(std::move(other));
    std::swap(gate_, moved.gate_);
    return *this;
  }
  ~Pass() {
    if (gate_) gate_->leave();
  }

 private:
  friend class Gate;
  explicit Pass(Gate& gate) noexcept : gate_(&gate) { ++gate.inside_; }

  Gate* gate_;
};

class Gate::Close final : public internal::QueuedWaiter {
 public:
  bool await_ready() const noexcept {
    gate_.is_closed_ = true;
    return gate_.inside_ == 0;
  }
  bool await_suspend(std::coroutine_handle<> handle) { return wait_in(gate_.queue_, handle); }
  Result<> await_resume() const {
    if (outcome() == Outcome::cancelled || outcome() == Outcome::closed) return error();
    return {};
  }

 private:
  friend class Gate;
  explicit Close(Gate& gate) noexcept : gate_(gate) {}

  Gate& gate_;
};

inline Result<Gate::Pass> Gate::enter() {
  if (is_closed_) return Error(Errc::closed);
  return Pass(*this);
}

inline Gate::Close Gate::close() noexcept { return Close(*this); }

}  // namespace weir
