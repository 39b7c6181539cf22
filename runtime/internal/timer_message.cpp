#include <weir/runtime/internal/timer_message.hpp>

#include <algorithm>

#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/measuring.hpp>
#include <weir/runtime/internal/supervise.hpp>

namespace weir::internal {
namespace {

// The message could not be copied, and is gone: its node must not be looked at any more.
void end_without_message(Cell& cell, TimerMessageBase& timer, std::uintptr_t trace) noexcept {
  if (Trail* trail = trail_of(trace)) Trail::release(trail);
  detach_timer(timer);
  timer.operations->destroy(&timer);
  fail(cell, std::current_exception());
}

// The message was admitted when the timer was armed, so it enters a full mailbox too.
void deliver_timer(TimerEntry* entry) noexcept {
  auto* timer = static_cast<TimerMessageBase*>(entry);
  // It leaves its owner's list when it is handled, a little later.
  __builtin_prefetch(timer->next_timer.load(std::memory_order_relaxed), 1);
  __builtin_prefetch(timer->previous_timer.load(std::memory_order_relaxed), 1);
  count_timer(*timer->owner->core, timer->node());
  timer->owner->enqueued.fetch_add(1, std::memory_order_relaxed);
  if (!timer->owner->push(timer->node(), timer->node())) dispose(timer->node());
}

}  // namespace

void arm_timer(TimerMessageBase& timer, Cell& owner, std::int64_t delay_ns) {
  timer.owner = &owner;
  attach_timer(timer, owner, nullptr);
  timer.fire = &deliver_timer;
  if (!this_worker) {
    attach_foreign_trail(owner, timer.node());
  } else if (this_worker->trace != unsampled) {
    attach_trail(*this_worker, owner, timer.node());
  }
  owner.core->arm(timer, saturating_sum(owner.core->now_ns(), delay_ns));
}

void attach_timer(TimerMessageBase& timer, Cell& owner, TimerHandle* handle) noexcept {
  TimerLink& first = owner.extension().timers;
  TimerMessageBase* next = first.load(std::memory_order_relaxed);
  timer.next_timer.store(next, std::memory_order_relaxed);
  if (next) next->previous_timer.store(&timer.next_timer, std::memory_order_relaxed);
  first.store(&timer, std::memory_order_relaxed);
  timer.previous_timer.store(&first, std::memory_order_relaxed);
  timer.handle = handle;
  if (handle) handle->timer = &timer;
}

void detach_timer(TimerMessageBase& timer) noexcept {
  if (timer.handle) timer.handle->timer = nullptr;
  timer.handle = nullptr;
  TimerLink* previous = timer.previous_timer.load(std::memory_order_relaxed);
  if (!previous) return;
  TimerMessageBase* next = timer.next_timer.load(std::memory_order_relaxed);
  previous->store(next, std::memory_order_relaxed);
  if (next) next->previous_timer.store(previous, std::memory_order_relaxed);
  timer.previous_timer.store(nullptr, std::memory_order_relaxed);
}

bool cancel_timer(TimerMessageBase& timer) noexcept {
  detach_timer(timer);
  if (timer.queue->cancel(timer)) {
    free_trail(timer.node());
    timer.operations->destroy(&timer);
    return true;
  }
  const bool is_being_handled = timer.state == TimerMessageBase::State::handling;
  timer.state = TimerMessageBase::State::cancelled;
  return !is_being_handled || timer.repeat != Repeat::never;
}

void cancel_all_timers(Cell& owner) noexcept {
  Extension* extension = owner.extension_if_any();
  if (!extension) return;
  while (TimerMessageBase* timer = extension->timers.load(std::memory_order_relaxed)) {
    cancel_timer(*timer);
  }
}

void dispose_timer(Node* node) noexcept {
  TimerMessageBase& timer = *TimerMessageBase::of(node);
  detach_timer(timer);
  free_trail(node);
  timer.operations->destroy(&timer);
}

// Fixed rate: the next round is due one period after this one was, however late it was handled, so
// the average never drifts. Fixed delay: one period after it was handled.
void rearm_after_handling(Cell& cell, Node* node) noexcept {
  cell.attention &= static_cast<std::uint8_t>(~Cell::rearming);
  TimerMessageBase& timer = *TimerMessageBase::of(node);
  const bool goes_on = timer.state == TimerMessageBase::State::handling &&
                       (cell.attention & (Cell::stopping | Cell::restarting)) == 0;
  if (!goes_on) {
    dispose(node);
    return;
  }
  timer.state = TimerMessageBase::State::armed;
  const std::uintptr_t trace = node->trace;
  std::int64_t period = 0;
  try {
    period = timer.operations->renew(&timer);
  } catch (...) {
    end_without_message(cell, timer, trace);
    return;
  }
  const std::int64_t now = cell.core->now_ns();
  const bool is_fixed_rate = timer.repeat == Repeat::fixed_rate;
  const std::int64_t due = saturating_sum(is_fixed_rate ? timer.due : now, period);
  if (due > now) {
    cell.core->arm(timer, due);
  } else {  // this round is late already: no detour over the clock, which only ticks now and then
    timer.due = due;
    deliver_timer(&timer);
  }
}

}  // namespace weir::internal
