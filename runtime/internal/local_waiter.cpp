#include <weir/runtime/internal/local_waiter.hpp>

#include <stdexcept>
#include <string>

#include <weir/runtime/internal/run.hpp>

namespace weir::internal {

Cell& require_actor(const char* operation) {
  Cell* cell = current_cell();
  if (!cell) {
    throw std::logic_error(std::string("weir: ") + operation +
                           " outside an actor or a task of the system; see ActorSystem::run");
  }
  return *cell;
}

LocalWaiter::~LocalWaiter() {
  if (signal_.is_sent) withdraw(*home(), signal_);
}

void LocalWaiter::wake() noexcept {
  signal_.is_sent = true;
  home()->send_signal(&signal_);
}

void LocalWaiter::on_signal(Signal* signal, Cell&) {
  auto* sent = static_cast<WakeSignal*>(static_cast<RevocableSignal*>(signal));
  sent->is_sent = false;
  if (sent->waiter->goes_on()) sent->waiter->resume();
}

QueuedWaiter::~QueuedWaiter() {
  if (queue_) queue_->remove(*this);
}

bool QueuedWaiter::wait_in(WaitQueue& queue, std::coroutine_handle<> handle) {
  const Cell& actor = require_actor("a wait");
  if (queue.front() && queue.front()->home() != &actor) {
    throw std::logic_error("weir: gates, mutexes, semaphores and channels belong to one actor");
  }
  if (is_current_run_cancelled()) {
    outcome_ = Outcome::cancelled;
    return false;
  }
  suspend(handle);
  queue.add(*this);
  return true;
}

void QueuedWaiter::cancel() noexcept {
  if (!queue_) return;  // decided already
  queue_->remove(*this);
  outcome_ = Outcome::cancelled;
  resume();
}

void WaitQueue::add(QueuedWaiter& waiter) noexcept {
  waiter.queue_ = this;
  waiter.previous_ = last_;
  waiter.next_ = nullptr;
  (last_ ? last_->next_ : first_) = &waiter;
  last_ = &waiter;
}

void WaitQueue::remove(QueuedWaiter& waiter) noexcept {
  (waiter.previous_ ? waiter.previous_->next_ : first_) = waiter.next_;
  (waiter.next_ ? waiter.next_->previous_ : last_) = waiter.previous_;
  waiter.queue_ = nullptr;
}

void WaitQueue::wake_front(QueuedWaiter::Outcome outcome) noexcept {
  QueuedWaiter& waiter = *first_;
  remove(waiter);
  waiter.outcome_ = outcome;
  waiter.wake();
}

void WaitQueue::wake_all(QueuedWaiter::Outcome outcome) noexcept {
  while (first_) wake_front(outcome);
}

}  // namespace weir::internal
