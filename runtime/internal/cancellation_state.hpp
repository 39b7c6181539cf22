#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <weir/runtime/internal/pool.hpp>
#include <weir/runtime/internal/spin_lock.hpp>
#include <weir/runtime/internal/waiter.hpp>

namespace weir::internal {

class CancellationState;

/// A coroutine that waits until something is cancelled.
class CancellationWaiter : public Waiter {
 public:
  void cancel() noexcept override;
  std::string describe() const override { return "a cancellation"; }

 protected:
  explicit CancellationWaiter(CancellationState* state) noexcept;
  ~CancellationWaiter() override;

  /// False if the outcome is known at once.
  bool wait(std::coroutine_handle<> handle);
  bool is_over() const noexcept;

  CancellationState* const state_;  // counted; null if nothing will ever be cancelled

 private:
  friend class CancellationState;
  static void on_signal(Signal* signal, Cell& home);

  struct OverSignal : RevocableSignal {
    explicit OverSignal(CancellationWaiter* owner) noexcept
        : RevocableSignal(&CancellationWaiter::on_signal), waiter(owner) {}
    CancellationWaiter* waiter;
  };

  // Guarded by the state's lock while linked.
  CancellationWaiter* previous_ = nullptr;
  CancellationWaiter* next_ = nullptr;
  bool is_linked_ = false;
  OverSignal signal_{this};
};

/// What a source of cancellation, its tokens and those who wait share. Usable from any thread.
class CancellationState : public Pooled {
 public:
  void add_ref() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  bool is_cancelled() const noexcept { return is_cancelled_.load(std::memory_order_acquire); }
  void cancel() noexcept;

 private:
  friend class CancellationWaiter;
  /// False if it is cancelled already.
  bool add(CancellationWaiter& waiter) noexcept;
  /// False if the waiter has been sent its signal.
  bool remove(CancellationWaiter& waiter) noexcept;
  void unlink(CancellationWaiter& waiter) noexcept;

  std::atomic<std::uint32_t> refs_{1};
  std::atomic<bool> is_cancelled_{false};
  SpinLock lock_;
  CancellationWaiter* first_ = nullptr;
};

/// The state of the run that executes on this thread, counted for the caller; null outside of runs.
CancellationState* current_cancellation_state();

}  // namespace weir::internal
