#include <weir/runtime/internal/cancellation_state.hpp>

#include <mutex>

#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/internal/local_waiter.hpp>
#include <weir/runtime/internal/run.hpp>
#include <weir/runtime/internal/worker.hpp>

namespace weir::internal {

CancellationWaiter::CancellationWaiter(CancellationState* state) noexcept : state_(state) {
  if (state_) state_->add_ref();
}

CancellationWaiter::~CancellationWaiter() {
  if (is_suspended() && state_ && !state_->remove(*this) && signal_.is_sent) {
    withdraw(*home(), signal_);
  }
  if (state_) state_->release();
}

bool CancellationWaiter::is_over() const noexcept { return state_ && state_->is_cancelled(); }

bool CancellationWaiter::wait(std::coroutine_handle<> handle) {
  require_actor("a wait for cancellation");
  if (is_current_run_cancelled()) return false;
  suspend(handle);
  return !state_ || state_->add(*this);
}

void CancellationWaiter::cancel() noexcept {
  if (state_ && !state_->remove(*this)) return;  // the signal is on its way
  resume();
}

void CancellationWaiter::on_signal(Signal* signal, Cell&) {
  auto* sent = static_cast<OverSignal*>(static_cast<RevocableSignal*>(signal));
  sent->is_sent = false;
  sent->waiter->resume();
}

void CancellationState::cancel() noexcept {
  const std::scoped_lock hold(lock_);
  if (is_cancelled_.exchange(true, std::memory_order_acq_rel)) return;
  while (CancellationWaiter* waiter = first_) {
    unlink(*waiter);
    waiter->signal_.is_sent = true;
    waiter->home()->send_signal(&waiter->signal_);
  }
}

bool CancellationState::add(CancellationWaiter& waiter) noexcept {
  const std::scoped_lock hold(lock_);
  if (is_cancelled_.load(std::memory_order_relaxed)) return false;
  waiter.previous_ = nullptr;
  waiter.next_ = first_;
  if (first_) first_->previous_ = &waiter;
  first_ = &waiter;
  waiter.is_linked_ = true;
  return true;
}

bool CancellationState::remove(CancellationWaiter& waiter) noexcept {
  const std::scoped_lock hold(lock_);
  if (!waiter.is_linked_) return false;
  unlink(waiter);
  return true;
}

void CancellationState::unlink(CancellationWaiter& waiter) noexcept {
  (waiter.previous_ ? waiter.previous_->next_ : first_) = waiter.next_;
  if (waiter.next_) waiter.next_->previous_ = waiter.previous_;
  waiter.is_linked_ = false;
}

CancellationState* current_cancellation_state() {
  Run* run = this_worker ? this_worker->current_run : nullptr;
  if (!run) return nullptr;
  if (!run->cancellation) {
    run->cancellation = new CancellationState;
    if (run->is_cancelled) run->cancellation->cancel();
  }
  run->cancellation->add_ref();
  return run->cancellation;
}

}  // namespace weir::internal

namespace weir {

CancellationShield::CancellationShield() noexcept
    : run_(internal::this_worker ? internal::this_worker->current_run : nullptr) {
  if (run_) ++run_->shields;
}

CancellationShield::~CancellationShield() {
  if (run_) --run_->shields;
}

}  // namespace weir
