#pragma once

#include <coroutine>
#include <string>

#include <weir/runtime/clock.hpp>
#include <weir/runtime/internal/local_waiter.hpp>
#include <weir/runtime/internal/timer_entry.hpp>
#include <weir/runtime/result.hpp>

namespace weir::internal {

/// Makes way for other actors. In two steps: the first signal makes the activation look, which then
/// queues the actor again behind the others and sends the second one.
class YieldAwaiter final : public Waiter {
 public:
  YieldAwaiter() noexcept = default;
  ~YieldAwaiter() override;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) { give_way(handle); }
  void await_resume() const noexcept {}

  void give_way(std::coroutine_handle<> handle);
  void cancel() noexcept override {}
  std::string describe() const override { return "its turn"; }

 private:
  friend void wake_yielded(Cell& cell) noexcept;
  static void on_signal(Signal* signal, Cell& home);

  struct TurnSignal : RevocableSignal {
    explicit TurnSignal(YieldAwaiter* owner) noexcept
        : RevocableSignal(&YieldAwaiter::on_signal), waiter(owner) {}
    YieldAwaiter* waiter;
  };

  void send() noexcept;

  TurnSignal signal_{this};
  YieldAwaiter* next_ = nullptr;
  bool is_listed_ = false;
  bool has_made_way_ = false;
};

/// Others run now: those who made way go on when the actor's turn comes.
void wake_yielded(Cell& cell) noexcept;

class SleepAwaiter final : public Waiter, private TimerEntry {
 public:
  explicit SleepAwaiter(Duration duration) noexcept : time_(duration), is_duration_(true) {}
  explicit SleepAwaiter(TimePoint time) noexcept
      : time_(time.time_since_epoch()), is_duration_(false) {}
  ~SleepAwaiter() override;

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle);
  Result<> await_resume() const {
    if (is_cancelled_) return Error(Errc::cancelled);
    return {};
  }

  void cancel() noexcept override;
  std::string describe() const override { return "a point in time"; }

 private:
  static void on_due(TimerEntry* entry) noexcept;
  static void on_signal(Signal* signal, Cell& home);
  bool end_timer() noexcept;

  struct DueSignal : RevocableSignal {
    explicit DueSignal(SleepAwaiter* owner) noexcept
        : RevocableSignal(&SleepAwaiter::on_signal), waiter(owner) {}
    SleepAwaiter* waiter;
  };

  const Duration time_;
  const bool is_duration_;
  bool is_cancelled_ = false;
  DueSignal signal_{this};
  YieldAwaiter yield_;  // takes the place of the timer in a run that has been cancelled
};

}  // namespace weir::internal
