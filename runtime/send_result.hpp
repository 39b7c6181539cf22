#pragma once

#include <utility>

#include <weir/runtime/internal/node.hpp>
#include <weir/runtime/internal/worker.hpp>

namespace weir {

/// What became of a message: delivered, or handed back with the reason.
template <class M>
class SendResult {
 public:
  SendResult() noexcept = default;
  SendResult(Errc reason, internal::Envelope<M>* returned) noexcept
      : reason_(reason), returned_(returned) {}
  SendResult(SendResult&& other) noexcept
      : reason_(other.reason_), returned_(std::exchange(other.returned_, nullptr)) {}
  SendResult& operator=(SendResult&& other) noexcept {
    std::swap(reason_, other.reason_);
    std::swap(returned_, other.returned_);
    return *this;
  }
  ~SendResult() {
    if (returned_) [[unlikely]]
      internal::dispose(returned_);
  }

  /// True if the message was accepted.
  explicit operator bool() const noexcept { return returned_ == nullptr; }

  /// `full` or `stopped`; of `deliver` also `cancelled`, `deadlock` (to the actor itself, which
  /// would never make room) or `unsupported` (outside an actor). Only if not accepted.
  Errc reason() const noexcept { return reason_; }
  Error error() const { return Error(reason_, std::string(type_name<M>())); }

  /// The message itself, to be sent elsewhere or again. Only if not accepted.
  M& message() noexcept { return returned_->message(); }

 private:
  Errc reason_{};
  internal::Envelope<M>* returned_ = nullptr;
};

namespace internal {

void report_refusal(Cell& target, const MessageType& type, SendStatus status) noexcept;

template <class M, class... Args>
SendResult<M> send_message(Cell* target, Args&&... args) {
  auto* envelope = new Envelope<M>(std::forward<Args>(args)...);
  if (!target) [[unlikely]]
    return SendResult<M>(Errc::stopped, envelope);
  const SendStatus status = send(target, envelope);
  if (status == SendStatus::sent) [[likely]]
    return {};
  report_refusal(*target, Envelope<M>::type_of, status);
  return SendResult<M>(status == SendStatus::full ? Errc::full : Errc::stopped, envelope);
}

void stop_actor(Cell* cell, int how) noexcept;

struct RefAccess;

}  // namespace internal
}  // namespace weir
