#pragma once

#include <coroutine>
#include <cstddef>
#include <deque>
#include <optional>
#include <stdexcept>
#include <utility>

#include <weir/runtime/internal/local_waiter.hpp>
#include <weir/runtime/result.hpp>

namespace weir {

/// What became of a value pushed into a channel: accepted, or handed back with the reason.
template <class T>
class [[nodiscard]] PushResult {
 public:
  PushResult() noexcept = default;
  PushResult(Errc reason, T value) : reason_(reason), returned_(std::move(value)) {}

  explicit operator bool() const noexcept { return !returned_.has_value(); }
  /// `closed`, `cancelled`, or `full` from `try_push`. Only if not accepted.
  Errc reason() const noexcept { return reason_; }
  Error error() const { return Error(reason_); }
  /// The value itself. Only if not accepted.
  T& value() noexcept { return *returned_; }

 private:
  Errc reason_{};
  std::optional<T> returned_;
};

/// A bounded queue between tasks of one actor: who pushes waits for room, who pops for values.
///
/// Confined to its actor. First in, first out, for values and for those who wait. No value is lost:
/// one that was accepted is popped by somebody, however often others give up waiting, and after
/// `close` until none is left; one that was not is handed back.
template <class T>
class Channel {
 public:
  class Push;
  class Pop;

  /// Throws `std::invalid_argument` for a capacity of zero.
  explicit Channel(std::size_t capacity) : capacity_(capacity) {
    if (capacity == 0) {
      throw std::invalid_argument("weir: a channel with a capacity of 0 never has room");
    }
  }

  /// `co_await channel.push(value)`: waits for room. Gives a `PushResult<T>`: `closed`,
  /// `cancelled`.
  [[nodiscard]] Push push(T value) { return Push(*this, std::move(value)); }
  /// `co_await channel.pop()`: waits for a value. Gives a `Result<T>`: `closed` when nothing is
  /// left and nothing will come, `cancelled`.
  [[nodiscard]] Pop pop() noexcept { return Pop(*this); }

  PushResult<T> try_push(T value) {
    if (is_closed_) return {Errc::closed, std::move(value)};
    if (!has_room()) return {Errc::full, std::move(value)};
    add(std::move(value));
    return {};
  }
  std::optional<T> try_pop() {
    if (!has_unclaimed()) return std::nullopt;
    return take();
  }

  /// Accepts no more values. Those who wait for room get theirs back; those who wait for values
  /// get `closed`.
  void close() noexcept {
    is_closed_ = true;
    pushers_.wake_all(Outcome::closed);
    offer();
  }

  bool is_closed() const noexcept { return is_closed_; }
  std::size_t size() const noexcept { return values_.size(); }
  std::size_t capacity() const noexcept { return capacity_; }

 private:
  using Outcome = internal::QueuedWaiter::Outcome;

  bool has_room() const noexcept { return values_.size() < capacity_ && pushers_.is_empty(); }
  bool has_unclaimed() const noexcept { return values_.size() > claimed_; }
  bool is_finished() const noexcept { return is_closed_ && values_.empty(); }

  void add(T value) {
    values_.push_back(std::move(value));
    offer();
  }
  // Lets those who wait claim what is there. They take it when they run: who goes away before that
  // leaves it to the next.
  void offer() noexcept {
    while (has_unclaimed() && !poppers_.is_empty()) {
      ++claimed_;
      poppers_.wake_front(Outcome::granted);
    }
    if (is_finished()) poppers_.wake_all(Outcome::closed);
  }
  T take() {
    T value = std::move(values_.front());
    values_.pop_front();
    admit();
    return value;
  }
  // There is room: the value of who waited longest comes in.
  void admit() {
    while (values_.size() < capacity_ && !pushers_.is_empty()) {
      auto& pusher = *static_cast<Push*>(pushers_.front());
      values_.push_back(std::move(pusher.value_));
      pushers_.wake_front(Outcome::granted);
    }
    offer();
  }

  const std::size_t capacity_;
  std::deque<T> values_;
  std::size_t claimed_ = 0;  // values at the front that belong to poppers that have been woken
  bool is_closed_ = false;
  internal::WaitQueue pushers_;
  internal::WaitQueue poppers_;
};

template <class T>
class Channel<T>::Push final : public internal::QueuedWaiter {
 public:
  bool await_ready() {
    is_closed_ = channel_.is_closed_;
    if (is_closed_) return true;
    is_added_ = channel_.has_room();
    if (is_added_) channel_.add(std::move(value_));
    return is_added_;
  }
  bool await_suspend(std::coroutine_handle<> handle) { return wait_in(channel_.pushers_, handle); }
  PushResult<T> await_resume() {
    if (is_added_ || outcome() == Outcome::granted) return {};
    const bool is_closed = is_closed_ || outcome() == Outcome::closed;
    return {is_closed ? Errc::closed : Errc::cancelled, std::move(value_)};
  }

 private:
  friend class Channel;
  Push(Channel& channel, T value) : channel_(channel), value_(std::move(value)) {}

  Channel& channel_;
  T value_;
  bool is_closed_ = false;
  bool is_added_ = false;
};

template <class T>
class Channel<T>::Pop final : public internal::QueuedWaiter {
 public:
  ~Pop() override {
    if (outcome() != Outcome::granted || !is_suspended()) return;
    --channel_.claimed_;  // nobody came to take it
    channel_.offer();
  }

  bool await_ready() const noexcept { return channel_.has_unclaimed() || channel_.is_finished(); }
  bool await_suspend(std::coroutine_handle<> handle) { return wait_in(channel_.poppers_, handle); }
  Result<T> await_resume() {
    if (outcome() == Outcome::cancelled || outcome() == Outcome::closed) return error();
    if (outcome() == Outcome::granted) --channel_.claimed_;
    if (channel_.is_finished()) return Error(Errc::closed);
    return channel_.take();
  }

 private:
  friend class Channel;
  explicit Pop(Channel& channel) noexcept : channel_(channel) {}

  Channel& channel_;
};

}  // namespace weir
