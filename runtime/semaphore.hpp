#pragma once

#include <coroutine>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <weir/runtime/internal/local_waiter.hpp>
#include <weir/runtime/result.hpp>

namespace weir {

/// Limits how many tasks of one actor do something at once.
///
/// Confined to its actor. First come, first served: who wants many permits is not overtaken by
/// those who want few. Outlives its permits.
class Semaphore {
 public:
  class Permit;
  class Acquire;

  explicit Semaphore(std::size_t permits) noexcept : total_(permits), available_(permits) {}

  /// `co_await semaphore.acquire()`: waits for `count` permits. Gives a `Result<Permit>`:
  /// `cancelled`, or `invalid_argument` for none or more than there are.
  [[nodiscard]] Acquire acquire(std::size_t count = 1) noexcept;

  /// Nothing if there are too few, or if others wait.
  std::optional<Permit> try_acquire(std::size_t count = 1) noexcept;

  std::size_t available() const noexcept { return available_; }

 private:
  bool take(std::size_t count) noexcept;
  void give_back(std::size_t count) noexcept;

  const std::size_t total_;
  std::size_t available_;
  internal::WaitQueue queue_;
};

/// The right to go on; gives it back when it ends.
class [[nodiscard]] Semaphore::Permit {
 public:
  Permit() noexcept = default;
  Permit(Permit&& other) noexcept
      : semaphore_(std::exchange(other.semaphore_, nullptr)), count_(other.count_) {}
  Permit& operator=(Permit&& other) noexcept {
    Permit moved(std::move(other));
    std::swap(semaphore_, moved.semaphore_);
    std::swap(count_, moved.count_);
    return *this;
  }
  ~Permit() { release(); }

  /// Gives it back early.
  void release() noexcept {
    if (semaphore_) std::exchange(semaphore_, nullptr)->give_back(count_);
  }
  explicit operator bool() const noexcept { return semaphore_ != nullptr; }

 private:
  friend class Semaphore;
  Permit(Semaphore& semaphore, std::size_t count) noexcept
      : semaphore_(&semaphore), count_(count) {}

  Semaphore* semaphore_ = nullptr;
  std::size_t count_ = 0;
};

class Semaphore::Acquire final : public internal::QueuedWaiter {
 public:
  ~Acquire() override {
    // Granted, but nobody came to take it.
    if (outcome() == Outcome::granted && is_suspended()) semaphore_.give_back(count_);
  }

  bool await_ready() noexcept {
    is_valid_ = count_ > 0 && count_ <= semaphore_.total_;
    is_taken_ = is_valid_ && semaphore_.take(count_);
    return is_taken_ || !is_valid_;
  }
  bool await_suspend(std::coroutine_handle<> handle) { return wait_in(semaphore_.queue_, handle); }
  Result<Permit> await_resume() {
    if (!is_valid_) {
      return Error(Errc::invalid_argument,
                   std::to_string(count_) + " permits of " + std::to_string(semaphore_.total_));
    }
    if (is_taken_ || outcome() == Outcome::granted) return Permit(semaphore_, count_);
    return error();
  }

 private:
  friend class Semaphore;
  Acquire(Semaphore& semaphore, std::size_t count) noexcept
      : semaphore_(semaphore), count_(count) {}

  Semaphore& semaphore_;
  const std::size_t count_;
  bool is_valid_ = false;
  bool is_taken_ = false;
};

inline Semaphore::Acquire Semaphore::acquire(std::size_t count) noexcept {
  return Acquire(*this, count);
}

inline std::optional<Semaphore::Permit> Semaphore::try_acquire(std::size_t count) noexcept {
  if (!take(count)) return std::nullopt;
  return Permit(*this, count);
}

inline bool Semaphore::take(std::size_t count) noexcept {
  if (!queue_.is_empty() || available_ < count) return false;
  available_ -= count;
  return true;
}

inline void Semaphore::give_back(std::size_t count) noexcept {
  available_ += count;
  while (auto* first = static_cast<Acquire*>(queue_.front())) {
    if (available_ < first->count_) return;
    available_ -= first->count_;
    queue_.wake_front(internal::QueuedWaiter::Outcome::granted);
  }
}

}  // namespace weir
