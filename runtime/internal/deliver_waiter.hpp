#pragma once

#include <weir/runtime/internal/waiter.hpp>

namespace weir::internal {

/// A sender that waits for room in a mailbox. Lives in the sender's coroutine frame; linked into
/// the receiver's extension, whose `room_lock` guards it.
struct DeliverWaiter : public Waiter {
  enum class Progress : std::uint8_t { waiting, admitted, refused };

  ~DeliverWaiter() override;

  /// Waits for room for `message`. False if the outcome is known at once.
  bool wait(Cell* target, Node* message, std::coroutine_handle<> coroutine);
  void cancel() noexcept override;
  std::string describe() const override;

  Cell* target = nullptr;  // counted while waiting
  Node* node = nullptr;    // the message, until it has been admitted
  Progress progress = Progress::waiting;
  Errc refusal = Errc::stopped;  // why the message was not admitted
  DeliverWaiter* previous_waiting = nullptr;
  DeliverWaiter* next_waiting = nullptr;

 private:
  friend void admit_waiting(Cell& cell) noexcept;
  friend void refuse_waiting(Cell& cell) noexcept;

  struct AdmittedSignal : RevocableSignal {
    explicit AdmittedSignal(DeliverWaiter* owner) noexcept
        : RevocableSignal(&on_signal), waiter(owner) {}
    DeliverWaiter* waiter;
  };
  static void on_signal(Signal* signal, Cell& home);

  bool refuse(Errc reason) noexcept;

  /// Takes this waiter out of the queue, or its signal back. Ends the wait.
  void leave() noexcept;

  AdmittedSignal signal_{this};
};

/// The actor ends: nobody will make room any more.
void refuse_waiting(Cell& cell) noexcept;

}  // namespace weir::internal
