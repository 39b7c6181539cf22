#include <weir/runtime/check.hpp>
#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/children.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/reply_waiter.hpp>
#include <weir/runtime/internal/sleep_waiter.hpp>
#include <weir/runtime/internal/supervise.hpp>
#include <weir/runtime/internal/timer_message.hpp>
#include <weir/runtime/internal/worker.hpp>

namespace weir::internal {
namespace {

Outcome refuse_in_turn(RequestNode* request, Error error) noexcept {
  request->type().refuse(request, std::move(error));
  return Outcome::replied;
}

// The parent hears of it if it wants to, and fails with a child that escalates.
void tell_parent(Cell& cell, Cell& child) {
  Extension* extension = child.extension_if_any();
  if (cell.type->child_stopped) {
    ChildStopped message{{child.id.load(std::memory_order_relaxed)}, {}, {}};
    if (extension) {
      message.name = extension->name;
      message.reason = extension->stop_reason;
    }
    cell.type->child_stopped(cell, std::move(message));
  }
  if (extension && extension->escalates) {
    const WithinCause within(*this_worker, extension->failed_in);
    fail_with(cell, "child failed: " + extension->stop_reason.message);
  }
}

void child_ended(Cell& cell, Cell* child) noexcept {
  unlink_child(cell, child);
  const bool lives = (cell.attention & (Cell::stopping | Cell::restarting)) == 0;
  if (lives) tell_parent(cell, *child);
  child->release();
}

void process_entry(Cell& cell, std::uintptr_t entry) noexcept {
  Link* link = link_of(entry);
  switch (entry & Cell::tag_mask) {
    case Cell::reply_tag:
      receive_reply(cell, static_cast<RequestNode*>(static_cast<Node*>(link)));
      break;
    case Cell::child_tag: {
      const OutsideOfTraces outside(*this_worker);
      child_ended(cell, static_cast<Cell*>(link));
      break;
    }
    case Cell::signal_tag: {
      const OutsideOfTraces outside(*this_worker);
      auto* signal = static_cast<Signal*>(link);
      signal->process(signal, cell);
      break;
    }
    default: fail_check("unknown entry in a control lane");
  }
}

// Messages set aside go back to the front of the mailbox, in their old order.
void bring_back_stash(Cell& cell) noexcept {
  cell.flags &= static_cast<std::uint8_t>(~Cell::wants_unstash);
  Extension& extension = cell.extension();
  Node* first = std::exchange(extension.stash_first, nullptr);
  Node* last = std::exchange(extension.stash_last, nullptr);
  cell.enqueued.fetch_add(std::exchange(extension.stash_size, 0), std::memory_order_relaxed);
  cell.attention &= static_cast<std::uint8_t>(~Cell::stashing);
  if (!first) return;
  if (cell.tail.load(std::memory_order_acquire) == nullptr) {
    std::uintptr_t expected = cell.head.load(std::memory_order_relaxed);
    while ((expected & ~std::uintptr_t{Cell::poked}) == Cell::busy) {
      last->link_to(nullptr, std::memory_order_relaxed);
      const std::uintptr_t is_poked = expected & Cell::poked;
      if (cell.head.compare_exchange_weak(expected,
                                          reinterpret_cast<std::uintptr_t>(last) | is_poked,
                                          std::memory_order_acq_rel)) {
        cell.tail.store(first, std::memory_order_relaxed);
        return;
      }
    }
    while (!cell.tail.load(std::memory_order_acquire)) relax_cpu();
  }
  last->link_to(cell.tail.load(std::memory_order_relaxed), std::memory_order_relaxed);
  cell.tail.store(first, std::memory_order_relaxed);
}

// drop_oldest: the next message leaves the ring for the mailbox proper.
void feed_from_ring(Cell& cell) noexcept {
  if (cell.tail.load(std::memory_order_acquire)) return;
  Extension& extension = cell.extension();
  extension.room_lock.lock();
  Node* node = extension.ring_first;
  if (node) {
    extension.ring_first = node->next_node();
    if (!extension.ring_first) extension.ring_last = nullptr;
    --extension.ring_size;
  }
  extension.room_lock.unlock();
  if (node) check(cell.push(node, node), "a running actor accepts its own messages");
}

// A timer's message is lost like any other, but a periodic timer goes on.
void refuse_set_aside(Cell& cell, Node* node) noexcept {
  if (!node->has(Node::is_timer)) {
    refuse(cell, node, DeadLetterReason::stash_full);
    return;
  }
  cell.core->report_dead_letter(DeadLetterReason::stash_full, cell, node->type());
  TimerMessageBase& timer = *TimerMessageBase::of(node);
  if (timer.repeat == Repeat::never) {
    dispose(node);
    return;
  }
  timer.state = TimerMessageBase::State::handling;
  rearm_after_handling(cell, node);
}

}  // namespace

std::string_view MessageType::find_name() const noexcept {
  const std::string_view found = type_in(signature);
  const auto begin = static_cast<std::size_t>(found.data() - signature);
  if (begin <= 0xffff && found.size() <= 0xffff) {
    name_place.store(static_cast<std::uint32_t>(begin << 16 | found.size()),
                     std::memory_order_relaxed);
  }
  return found;
}

Outcome skip_abandoned(Cell& cell, RequestNode* request) noexcept {
  cell.core->report_dead_letter(DeadLetterReason::abandoned, cell, request->type());
  request->type_and_flags |= Node::unhandled;
  return refuse_in_turn(request, Errc::cancelled);
}

// The handler threw: the caller gets an error, the supervisor the exception.
Outcome handle_exception(Cell& cell, Node* node) noexcept {
  const std::exception_ptr exception = std::current_exception();
  Outcome outcome = Outcome::done;
  if (node->type().is_request && !node->has(Node::has_reply)) {
    outcome =
        refuse_in_turn(static_cast<RequestNode*>(node), Error(Errc::failed, describe(exception)));
  } else if (node->type().is_request) {
    outcome = Outcome::replied;
  }
  fail(cell, exception);
  return outcome;
}

Outcome handle_timer(Cell& cell, Node* node) noexcept {
  TimerMessageBase& timer = *TimerMessageBase::of(node);
  if (timer.state == TimerMessageBase::State::cancelled) return Outcome::done;
  if (timer.repeat == Repeat::never) {
    TimerHandle* handle = timer.handle;
    detach_timer(timer);
    const Outcome outcome = invoke(cell, node);
    if (outcome == Outcome::set_aside) attach_timer(timer, cell, handle);
    return outcome;
  }
  timer.state = TimerMessageBase::State::handling;
  cell.attention |= Cell::rearming;
  this_worker->suspended_run = nullptr;
  const Outcome outcome = invoke(cell, node);
  if (outcome == Outcome::set_aside) {
    timer.state = TimerMessageBase::State::armed;
    cell.attention &= static_cast<std::uint8_t>(~Cell::rearming);
    return outcome;
  }
  Run* run = this_worker->suspended_run;
  if (run && timer.repeat == Repeat::fixed_delay) {
    run->timer = &timer;  // armed again when the handler ends
    return Outcome::suspended;
  }
  return Outcome::repeats;
}

void keep_aside(Cell& cell, Node* node) noexcept {
  Extension& extension = cell.extension();
  cell.attention |= Cell::stashing;
  extension.set_aside.fetch_add(1, std::memory_order_release);
  if (extension.stash_size >= cell.core->options.stash_capacity) {
    refuse_set_aside(cell, node);
    return;
  }
  node->link_to(nullptr, std::memory_order_relaxed);
  if (extension.stash_last) {
    extension.stash_last->link_to(node, std::memory_order_relaxed);
  } else {
    extension.stash_first = node;
  }
  extension.stash_last = node;
  ++extension.stash_size;
}

void drain_control(Cell& cell, Worker& worker) noexcept {
  std::uintptr_t stack = cell.control.exchange(Cell::empty, std::memory_order_seq_cst);
  if (stack == Cell::waiting) stack = Cell::empty;
  std::uintptr_t oldest_first = 0;
  while (stack != Cell::empty) {
    const std::uintptr_t next = link_of(stack)->next.load(std::memory_order_relaxed);
    link_of(stack)->next.store(oldest_first, std::memory_order_relaxed);
    oldest_first = std::exchange(stack, next);
  }
  worker.inbox = oldest_first;
  while (worker.inbox != 0) {
    const std::uintptr_t entry = worker.inbox;
    worker.inbox = link_of(entry)->next.load(std::memory_order_relaxed);
    process_entry(cell, entry);
    end_of_handler(worker);
  }
}

bool attend(Cell& cell, Worker& worker) noexcept {
  for (;;) {
    if (cell.control.load(std::memory_order_acquire) != Cell::empty) {
      // Coroutines of one actor that wake each other without end must not keep others out.
      if (worker.quota_left == 0) {
        yield_to_others(cell, worker);
        return false;
      }
      --worker.quota_left;
      drain_control(cell, worker);
    }
    if ((cell.flags & Cell::fresh) != 0) {
      const OutsideOfTraces outside(worker);
      start_actor(cell);
      continue;  // a stop that came meanwhile overtakes the first message
    }
    end_of_handler(worker);
    if ((cell.attention & (Cell::stopping | Cell::restarting)) != 0 &&
        advance_lifecycle(cell, worker)) {
      return false;
    }
    const bool yields = (cell.flags & Cell::yielding) != 0;
    if ((cell.attention & Cell::blocking) == 0 && !yields) break;
    if (cell.has_waiters.load(std::memory_order_acquire)) admit_waiting(cell);
    if (yields) {
      wake_yielded(cell);
      yield_to_others(cell, worker);
      return false;
    }
    std::uintptr_t expected = Cell::empty;
    if (cell.control.compare_exchange_strong(expected, Cell::waiting, std::memory_order_seq_cst)) {
      return false;
    }
  }
  if ((cell.flags & Cell::wants_unstash) != 0) bring_back_stash(cell);
  if ((cell.attention & Cell::ring_mailbox) != 0) feed_from_ring(cell);
  if ((cell.attention & Cell::observed) != 0) cell.core->simulation->before_message(cell);
  return true;
}

void yield_to_others(Cell& cell, Worker& worker) noexcept {
  Core& core = *cell.core;
  if (core.simulation) {
    core.simulation->schedule(core, &cell);
    return;
  }
  worker.push_queue(&cell);
  // The cell is anybody's now.
  core.wake_if_needed();
}

}  // namespace weir::internal
