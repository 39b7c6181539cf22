#include <weir/runtime/sequence_barrier.hpp>

#include <mutex>

#include <weir/runtime/check.hpp>
#include <weir/runtime/internal/local_waiter.hpp>
#include <weir/runtime/internal/run.hpp>

namespace weir {

SequenceBarrier::~SequenceBarrier() { check(!first_, "a sequence barrier outlives its waiters"); }

void SequenceBarrier::publish(std::uint64_t sequence) noexcept {
  const std::scoped_lock hold(lock_);
  if (sequence <= published_.load(std::memory_order_relaxed)) return;
  published_.store(sequence, std::memory_order_release);
  for (Wait* wait = first_; wait;) {
    Wait* const next = wait->next_;
    if (wait->sequence_ <= sequence) wake(*wait);
    wait = next;
  }
}

void SequenceBarrier::close(const Error& reason) noexcept {
  const std::scoped_lock hold(lock_);
  if (is_closed_) return;
  is_closed_ = true;
  reason_ = reason;
  while (first_) wake(*first_);
}

void SequenceBarrier::wake(Wait& wait) noexcept {
  unlink(wait);
  wait.signal_.is_sent = true;
  wait.home()->send_signal(&wait.signal_);
}

bool SequenceBarrier::add(Wait& wait) noexcept {
  const std::scoped_lock hold(lock_);
  if (is_closed_ || published_.load(std::memory_order_relaxed) >= wait.sequence_) return false;
  wait.previous_ = nullptr;
  wait.next_ = first_;
  if (first_) first_->previous_ = &wait;
  first_ = &wait;
  wait.is_linked_ = true;
  return true;
}

bool SequenceBarrier::remove(Wait& wait) noexcept {
  const std::scoped_lock hold(lock_);
  if (!wait.is_linked_) return false;
  unlink(wait);
  return true;
}

void SequenceBarrier::unlink(Wait& wait) noexcept {
  (wait.previous_ ? wait.previous_->next_ : first_) = wait.next_;
  if (wait.next_) wait.next_->previous_ = wait.previous_;
  wait.is_linked_ = false;
}

Error SequenceBarrier::reason() noexcept {
  const std::scoped_lock hold(lock_);
  return reason_;
}

SequenceBarrier::Wait::~Wait() {
  if (is_suspended() && !barrier_.remove(*this) && signal_.is_sent) {
    internal::withdraw(*home(), signal_);
  }
}

bool SequenceBarrier::Wait::await_suspend(std::coroutine_handle<> handle) {
  internal::require_actor("a wait for a sequence");
  is_cancelled_ = internal::is_current_run_cancelled();
  if (is_cancelled_) return false;
  suspend(handle);
  return barrier_.add(*this);
}

void SequenceBarrier::Wait::cancel() noexcept {
  if (!barrier_.remove(*this)) return;  // the signal is on its way
  is_cancelled_ = true;
  resume();
}

void SequenceBarrier::Wait::on_signal(internal::Signal* signal, internal::Cell&) {
  auto* sent = static_cast<PassedSignal*>(static_cast<internal::RevocableSignal*>(signal));
  sent->is_sent = false;
  sent->wait->resume();
}

Result<std::uint64_t> SequenceBarrier::Wait::await_resume() {
  const std::uint64_t published = barrier_.published();
  if (published >= sequence_) return published;
  if (is_cancelled_) return Error(Errc::cancelled);
  return barrier_.reason();
}

}  // namespace weir
