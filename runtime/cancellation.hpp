#pragma once

#include <coroutine>
#include <utility>

#include <weir/runtime/internal/cancellation_state.hpp>
#include <weir/runtime/result.hpp>

namespace weir {

/// Tells whether something has been cancelled, and lets coroutines wait for that.
///
/// Cheap to copy and usable from any thread, so it can travel in messages and into blocking calls.
/// A token that belongs to nothing is never cancelled.
class CancellationToken {
 public:
  class Cancelled;

  CancellationToken() noexcept = default;
  CancellationToken(const CancellationToken& other) noexcept : state_(other.state_) {
    if (state_) state_->add_ref();
  }
  CancellationToken(CancellationToken&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)) {}
  CancellationToken& operator=(CancellationToken other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~CancellationToken() {
    if (state_) state_->release();
  }

  bool is_cancelled() const noexcept { return state_ && state_->is_cancelled(); }

  /// `co_await token.cancelled()`: waits until it is. Gives a `Result<>`: an error, `cancelled`,
  /// only if the coroutine that waits was itself cancelled first.
  [[nodiscard]] Cancelled cancelled() const noexcept;

 private:
  friend class CancellationSource;
  friend CancellationToken current_cancellation();
  // Takes over a reference that has been counted.
  explicit CancellationToken(internal::CancellationState* counted) noexcept : state_(counted) {}

  internal::CancellationState* state_ = nullptr;
};

class CancellationToken::Cancelled final : public internal::CancellationWaiter {
 public:
  bool await_ready() const noexcept { return is_over(); }
  bool await_suspend(std::coroutine_handle<> handle) { return wait(handle); }
  Result<> await_resume() const {
    if (!is_over()) return Error(Errc::cancelled);
    return {};
  }

 private:
  friend class CancellationToken;
  using CancellationWaiter::CancellationWaiter;
};

inline CancellationToken::Cancelled CancellationToken::cancelled() const noexcept {
  return Cancelled(state_);
}

/// Cancels whatever watches its tokens. Usable from any thread; letting it go cancels nothing.
class CancellationSource {
 public:
  CancellationSource() : token_(new internal::CancellationState) {}

  CancellationToken token() const noexcept { return token_; }
  /// Repeating it does nothing.
  void cancel() noexcept { token_.state_->cancel(); }
  bool is_cancelled() const noexcept { return token_.is_cancelled(); }

 private:
  CancellationToken token_;
};

/// The cancellation of the handler or scope's task that runs: of a request when its caller has
/// given up, of a scope's task when its scope says so. Outside of coroutines it never comes, since
/// a plain function cannot be interrupted.
///
/// A cancelled handler is not stopped: what it waits for ends with `Errc::cancelled`, and so does
/// what it begins to wait for afterwards, its own requests among them.
inline CancellationToken current_cancellation() {
  return CancellationToken(internal::current_cancellation_state());
}

/// While it lives, what the coroutine that made it waits for is not cancelled: for the requests
/// that clean up after a cancellation. Confined to that coroutine.
class [[nodiscard]] CancellationShield {
 public:
  CancellationShield() noexcept;
  ~CancellationShield();
  CancellationShield(const CancellationShield&) = delete;
  CancellationShield& operator=(const CancellationShield&) = delete;

 private:
  internal::Run* run_;
};

}  // namespace weir
