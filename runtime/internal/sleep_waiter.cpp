#include <weir/runtime/internal/sleep_waiter.hpp>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>

namespace weir::internal {

YieldAwaiter::~YieldAwaiter() {
  if (signal_.is_sent) withdraw(*home(), signal_);
  if (!is_listed_) return;
  YieldAwaiter** at = &home()->extension().yielded;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
}

void YieldAwaiter::give_way(std::coroutine_handle<> handle) {
  require_actor("yield");
  suspend(handle);
  send();
}

void YieldAwaiter::send() noexcept {
  signal_.is_sent = true;
  home()->send_signal(&signal_);
}

void YieldAwaiter::on_signal(Signal* signal, Cell& home) {
  auto* sent = static_cast<TurnSignal*>(static_cast<RevocableSignal*>(signal));
  sent->is_sent = false;
  YieldAwaiter* self = sent->waiter;
  if (self->has_made_way_) {
    self->resume();
    return;
  }
  YieldAwaiter** at = &home.extension().yielded;
  while (*at) at = &(*at)->next_;
  *at = self;
  self->is_listed_ = true;
  home.flags |= Cell::yielding;
}

void wake_yielded(Cell& cell) noexcept {
  cell.flags &= static_cast<std::uint8_t>(~Cell::yielding);
  Extension& extension = cell.extension();
  while (YieldAwaiter* waiter = extension.yielded) {
    extension.yielded = waiter->next_;
    waiter->is_listed_ = false;
    waiter->has_made_way_ = true;
    waiter->send();
  }
}

SleepAwaiter::~SleepAwaiter() {
  if (is_suspended()) end_timer();
}

bool SleepAwaiter::await_suspend(std::coroutine_handle<> handle) {
  Core& core = *require_actor("sleep").core;
  if (is_current_run_cancelled()) {
    // A loop that sleeps between its rounds and does not look at the result must not turn into one
    // that never lets others run.
    is_cancelled_ = true;
    yield_.give_way(handle);
    return true;
  }
  const std::int64_t now = core.now_ns();
  const std::int64_t due = is_duration_ ? saturating_sum(now, time_.count()) : time_.count();
  if (due <= now) return false;
  suspend(handle);
  fire = &SleepAwaiter::on_due;
  core.arm(*this, due);
  return true;
}

// With the timer queue's lock held, which `end_timer` takes as well.
void SleepAwaiter::on_due(TimerEntry* entry) noexcept {
  auto* self = static_cast<SleepAwaiter*>(entry);
  self->signal_.is_sent = true;
  self->home()->send_signal(&self->signal_);
}

void SleepAwaiter::on_signal(Signal* signal, Cell&) {
  auto* sent = static_cast<DueSignal*>(static_cast<RevocableSignal*>(signal));
  sent->is_sent = false;
  sent->waiter->resume();
}

// True if the timer had not fired yet.
bool SleepAwaiter::end_timer() noexcept {
  if (!TimerEntry::queue) return false;
  if (TimerEntry::queue->cancel(*this)) return true;
  if (signal_.is_sent) withdraw(*home(), signal_);
  return false;
}

void SleepAwaiter::cancel() noexcept {
  if (!TimerEntry::queue) return;
  is_cancelled_ = end_timer();
  resume();
}

}  // namespace weir::internal
