#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <weir/runtime/clock.hpp>
#include <weir/runtime/internal/timer_message.hpp>

namespace weir {

/// When a repeated timer is due again.
enum class Every : std::uint8_t {
  fixed_rate,   // one period after it was due: no drift, late rounds are caught up one by one
  fixed_delay,  // one period after its handler has finished
};

/// A scheduled message. Letting the handle go does not cancel it. Confined to its actor.
class Timer : private internal::TimerHandle {
 public:
  Timer() noexcept = default;
  Timer(Timer&& other) noexcept { take(other); }
  Timer& operator=(Timer&& other) noexcept {
    if (this != &other) {
      let_go();
      take(other);
    }
    return *this;
  }
  ~Timer() { let_go(); }

  /// True if this was in time: the message will not be handled, or not again.
  bool cancel() noexcept { return timer && internal::cancel_timer(*timer); }
  /// False once the message is being handled for the last time, or cancelled.
  bool is_pending() const noexcept { return timer != nullptr; }

 private:
  friend class ActorBase;
  explicit Timer(internal::TimerMessageBase& armed) noexcept {
    timer = &armed;
    armed.handle = this;
  }
  void take(Timer& other) noexcept {
    timer = std::exchange(other.timer, nullptr);
    if (timer) timer->handle = this;
  }
  void let_go() noexcept {
    if (timer) timer->handle = nullptr;
    timer = nullptr;
  }
};

namespace internal {

/// A timer and its message in one piece of memory.
template <class M>
struct TimerMessage : TimerMessageBase, Pooled {
  template <class... Args>
  explicit TimerMessage(Args&&... args) : envelope(std::forward<Args>(args)...) {
    static_assert(sizeof(TimerMessageBase) % alignof(Envelope<M>) == 0,
                  "the message stands right behind its timer");
    envelope.type_and_flags |= Node::is_timer;
    operations = &once;
  }

  static constexpr TimerOperations once{
      [](TimerMessageBase* self) noexcept { delete static_cast<TimerMessage*>(self); }, nullptr};

  Envelope<M> envelope;
};

/// Keeps the message, to send it again and again.
template <class M>
struct RepeatedMessage final : TimerMessage<M> {
  template <class... Args>
  explicit RepeatedMessage(Every mode, Duration every, Args&&... args)
      : TimerMessage<M>(args...), original{std::forward<Args>(args)...}, period(every.count()) {
    this->repeat = mode == Every::fixed_rate ? Repeat::fixed_rate : Repeat::fixed_delay;
    this->operations = &again;
  }

  static std::int64_t renew(TimerMessageBase* self) {
    auto* repeated = static_cast<RepeatedMessage*>(self);
    const std::uintptr_t trace = repeated->envelope.trace;
    repeated->envelope.~Envelope();
    self->operations = &without_message;
    ::new (&repeated->envelope) Envelope<M>(repeated->original);
    self->operations = &again;
    repeated->envelope.trace = trace;
    repeated->envelope.type_and_flags |= Node::is_timer;
    return repeated->period;
  }
  static constexpr TimerOperations again{
      [](TimerMessageBase* self) noexcept { delete static_cast<RepeatedMessage*>(self); }, &renew};

  static void free_rest(TimerMessageBase* self) noexcept {
    static_assert(std::is_trivially_destructible_v<TimerMessageBase>);
    auto* repeated = static_cast<RepeatedMessage*>(self);
    repeated->original.~M();
    Pooled::operator delete(repeated, sizeof(RepeatedMessage));
  }
  static constexpr TimerOperations without_message{&free_rest, nullptr};

  M original;
  std::int64_t period;
};

}  // namespace internal
}  // namespace weir
