#pragma once

#include <coroutine>
#include <cstdint>
#include <string>

#include <weir/runtime/error.hpp>
#include <weir/runtime/internal/waiter.hpp>

namespace weir::internal {

/// A coroutine that another coroutine of the same actor wakes.
///
/// Waking never runs it there and then: it continues from the control lane, so that who wakes it
/// can finish its sentence.
class LocalWaiter : public Waiter {
 protected:
  LocalWaiter() noexcept = default;
  ~LocalWaiter() override;

  void wake() noexcept;

  /// Called when it has been woken: false to wait on.
  virtual bool goes_on() noexcept { return true; }

 private:
  static void on_signal(Signal* signal, Cell& home);

  struct WakeSignal : RevocableSignal {
    explicit WakeSignal(LocalWaiter* owner) noexcept
        : RevocableSignal(&LocalWaiter::on_signal), waiter(owner) {}
    LocalWaiter* waiter;
  };

  WakeSignal signal_{this};
};

class WaitQueue;

/// A coroutine in a queue of those that wait for the same thing.
class QueuedWaiter : public LocalWaiter {
 public:
  enum class Outcome : std::uint8_t { waiting, granted, closed, cancelled };

  void cancel() noexcept override;
  std::string describe() const override { return "another task of the actor"; }

 protected:
  QueuedWaiter() noexcept = default;
  ~QueuedWaiter() override;

  /// Waits at the end of `queue`. False if the caller has been cancelled, which is then the
  /// outcome. Throws `std::logic_error` outside an actor and in another actor than those who wait
  /// already.
  bool wait_in(WaitQueue& queue, std::coroutine_handle<> handle);

  Outcome outcome() const noexcept { return outcome_; }
  Error error() const {
    return outcome_ == Outcome::closed ? Error(Errc::closed) : Error(Errc::cancelled);
  }

 private:
  friend class WaitQueue;

  Outcome outcome_ = Outcome::waiting;
  WaitQueue* queue_ = nullptr;
  QueuedWaiter* previous_ = nullptr;
  QueuedWaiter* next_ = nullptr;
};

/// Coroutines of one actor, first come, first served.
class WaitQueue {
 public:
  WaitQueue() noexcept = default;
  WaitQueue(const WaitQueue&) = delete;
  WaitQueue& operator=(const WaitQueue&) = delete;
  /// Whoever still waits finds it closed.
  ~WaitQueue() { wake_all(QueuedWaiter::Outcome::closed); }

  QueuedWaiter* front() const noexcept { return first_; }
  bool is_empty() const noexcept { return first_ == nullptr; }
  void wake_front(QueuedWaiter::Outcome outcome) noexcept;
  void wake_all(QueuedWaiter::Outcome outcome) noexcept;

 private:
  friend class QueuedWaiter;
  void add(QueuedWaiter& waiter) noexcept;
  void remove(QueuedWaiter& waiter) noexcept;

  QueuedWaiter* first_ = nullptr;
  QueuedWaiter* last_ = nullptr;
};

/// The actor whose handler runs. Throws `std::logic_error` that names `operation` if there is none.
Cell& require_actor(const char* operation);

}  // namespace weir::internal
