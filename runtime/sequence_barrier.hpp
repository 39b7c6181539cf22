#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <mutex>
#include <string>

#include <weir/runtime/internal/waiter.hpp>
#include <weir/runtime/result.hpp>

namespace weir {

/// A number that only grows, and that coroutines of any actor can wait for.
///
/// Usable from any thread. Outlives those who wait.
class SequenceBarrier {
 public:
  class Wait;

  explicit SequenceBarrier(std::uint64_t published = 0) noexcept : published_(published) {}
  ~SequenceBarrier();
  SequenceBarrier(const SequenceBarrier&) = delete;
  SequenceBarrier& operator=(const SequenceBarrier&) = delete;

  std::uint64_t published() const noexcept { return published_.load(std::memory_order_acquire); }
  /// Lets those go on who wait for `sequence` or less. A smaller one than before does nothing.
  void publish(std::uint64_t sequence) noexcept;

  /// Nothing more will be published: whoever waits, now or later, for what has not been gets
  /// `reason`. Only the first call counts.
  void close(const Error& reason) noexcept;

  /// `co_await barrier.wait_until(7)`: gives what has been published, 7 or more, as a
  /// `Result<std::uint64_t>`; the reason of `close`, or `cancelled`.
  [[nodiscard]] Wait wait_until(std::uint64_t sequence) noexcept;

 private:
  bool add(Wait& wait) noexcept;
  bool remove(Wait& wait) noexcept;
  void unlink(Wait& wait) noexcept;
  void wake(Wait& wait) noexcept;
  Error reason() noexcept;

  std::atomic<std::uint64_t> published_;
  // Held while others are woken, who may need it at once: too long to spin for it.
  std::mutex lock_;
  // Guarded by `lock_`.
  Wait* first_ = nullptr;
  bool is_closed_ = false;
  Error reason_;
};

class SequenceBarrier::Wait final : public internal::Waiter {
 public:
  ~Wait() override;

  void cancel() noexcept override;
  std::string describe() const override { return "sequence " + std::to_string(sequence_); }

  bool await_ready() const noexcept { return barrier_.published() >= sequence_; }
  bool await_suspend(std::coroutine_handle<> handle);
  Result<std::uint64_t> await_resume();

 private:
  friend class SequenceBarrier;
  Wait(SequenceBarrier& barrier, std::uint64_t sequence) noexcept
      : barrier_(barrier), sequence_(sequence) {}
  static void on_signal(internal::Signal* signal, internal::Cell& home);

  struct PassedSignal : internal::RevocableSignal {
    explicit PassedSignal(Wait* owner) noexcept : RevocableSignal(&Wait::on_signal), wait(owner) {}
    Wait* wait;
  };

  SequenceBarrier& barrier_;
  const std::uint64_t sequence_;
  bool is_cancelled_ = false;
  // Guarded by the barrier's lock while linked.
  Wait* previous_ = nullptr;
  Wait* next_ = nullptr;
  bool is_linked_ = false;
  PassedSignal signal_{this};
};

inline SequenceBarrier::Wait SequenceBarrier::wait_until(std::uint64_t sequence) noexcept {
  return Wait(*this, sequence);
}

}  // namespace weir
