#pragma once

#include <coroutine>
#include <string>

#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/internal/timer_entry.hpp>

namespace weir::internal {

/// A suspended coroutine of an actor, and what it waits for. Lives in the coroutine's frame.
///
/// Everything here happens on activations of `home`; `signal` is the way back in from other
/// threads. Destroying the frame while it waits is allowed and ends the wait.
class Waiter {
 public:
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// The wait ends early with `Errc::cancelled`.
  virtual void cancel() noexcept = 0;
  /// What it waits for, for people.
  virtual std::string describe() const;

 protected:
  Waiter() = default;
  virtual ~Waiter();

  /// Registers with the running actor. Call from `await_suspend`, before anyone can resume.
  void suspend(std::coroutine_handle<> handle);
  /// Continues the coroutine. `this` may be gone afterwards.
  void resume();
  bool is_suspended() const noexcept { return home_ != nullptr; }
  Cell* home() const noexcept { return home_; }

 private:
  friend struct Extension;
  friend struct Cell;
  void forget() noexcept;

  std::coroutine_handle<> handle_;
  Cell* home_ = nullptr;
  Run* run_ = nullptr;
  Waiter* previous_ = nullptr;
  Waiter* next_ = nullptr;
  bool is_cancelled_ = false;
  bool is_shielded_ = false;  // not to be cancelled

  friend struct WaiterList;
};

/// The waiters of one actor.
struct WaiterList {
  Waiter* first = nullptr;
  std::uint32_t changes = 0;

  void add(Waiter& waiter) noexcept;
  void remove(Waiter& waiter) noexcept;
  /// What all of them wait for.
  std::string describe() const;
  /// Cancels every waiter whose run has been marked as cancelled. Never call it from a coroutine:
  /// it may resume others.
  void cancel_marked() noexcept;
};

/// A signal that may have to be taken back: it lives in a coroutine frame that can be destroyed
/// while the signal is on its way. Whoever sends it does so under a lock that the owner takes to
/// withdraw.
struct RevocableSignal : Signal {
  using Signal::Signal;
  bool is_sent = false;
};

/// Removes a sent signal from `home`'s control lane. Call on an activation of `home` only.
void withdraw(Cell& home, RevocableSignal& signal) noexcept;

/// The actor whose handler runs on this thread, or null.
Cell* current_cell() noexcept;

}  // namespace weir::internal
