#pragma once

#include <coroutine>
#include <new>
#include <utility>

#include <weir/runtime/internal/deliver_waiter.hpp>
#include <weir/runtime/send_result.hpp>

namespace weir::internal {

template <class M>
class DeliverAwaiter final {
 public:
  DeliverAwaiter(Cell* receiver, Envelope<M>* envelope) noexcept
      : receiver_(receiver), envelope_(envelope) {}
  DeliverAwaiter(const DeliverAwaiter&) = delete;
  ~DeliverAwaiter() {
    if (waits_) [[unlikely]]
      waiter_.~DeliverWaiter();
    if (envelope_) [[unlikely]]
      dispose(envelope_);
  }

  bool await_ready() noexcept {
    if (!receiver_) return true;
    // A full mailbox would drop it as if it had accepted it: wait in line from the start.
    if (receiver_->overflow == Overflow::drop_newest) [[unlikely]]
      return !receiver_->is_running();
    const SendStatus status = send(receiver_, envelope_);
    if (status == SendStatus::sent) envelope_ = nullptr;
    return status != SendStatus::full;
  }
  bool await_suspend(std::coroutine_handle<> handle) {
    new (&waiter_) DeliverWaiter;
    waits_ = true;
    return waiter_.wait(receiver_, std::exchange(envelope_, nullptr), handle);
  }
  SendResult<M> await_resume() noexcept {
    if (waits_ && waiter_.node) {
      return returned(waiter_.refusal, std::exchange(waiter_.node, nullptr));
    }
    if (envelope_) return returned(Errc::stopped, std::exchange(envelope_, nullptr));
    return {};
  }

 private:
  SendResult<M> returned(Errc reason, Node* message) noexcept {
    if (receiver_ && reason != Errc::cancelled) {
      report_refusal(*receiver_, Envelope<M>::type_of,
                     reason == Errc::stopped ? SendStatus::stopped : SendStatus::full);
    }
    return SendResult<M>(reason, static_cast<Envelope<M>*>(message));
  }

  Cell* receiver_;  // the reference outlives the call; a wait counts its own
  Envelope<M>* envelope_;
  bool waits_ = false;
  // Made when there is no room: that is seldom, and making one is not free.
  union {
    DeliverWaiter waiter_;  // NOLINT(readability-identifier-naming): private, as the union is
  };
};

/// A message that waits for room. Await it in the expression that makes it: it borrows the
/// reference.
template <class M>
class [[nodiscard]] Deliver {
 public:
  template <class... Args>
  explicit Deliver(Cell* receiver, Args&&... args)
      : receiver_(receiver), envelope_(new Envelope<M>(std::forward<Args>(args)...)) {}
  Deliver(const Deliver&) = delete;
  ~Deliver() {
    if (envelope_) dispose(envelope_);
  }

  DeliverAwaiter<M> operator co_await() && noexcept {
    return DeliverAwaiter<M>(receiver_, std::exchange(envelope_, nullptr));
  }

 private:
  Cell* receiver_;
  Envelope<M>* envelope_;
};

}  // namespace weir::internal
