#include <mutex>

#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/children.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/deliver_waiter.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/supervise.hpp>
#include <weir/runtime/internal/timer_message.hpp>
#include <weir/runtime/internal/watch.hpp>

// The end of an actor that has nothing left to finish.
namespace weir::internal {
namespace {

void cancel_backoff(Cell& cell) noexcept {
  Extension* extension = cell.extension_if_any();
  if (extension && extension->backoff_timer.queue) {
    extension->backoff_timer.queue->cancel(extension->backoff_timer);
  }
}

// Refuses everything queued until nothing more comes.
void close_mailbox(Cell& cell) noexcept {
  for (;;) {
    Node* node = cell.tail.load(std::memory_order_acquire);
    if (!node) {
      std::uintptr_t now = cell.head.load(std::memory_order_relaxed);
      while ((now & ~std::uintptr_t{Cell::poked}) == Cell::busy) {
        if (cell.head.compare_exchange_weak(now, Cell::head_terminated,
                                            std::memory_order_acq_rel)) {
          return;
        }
      }
      while (!(node = cell.tail.load(std::memory_order_acquire))) relax_cpu();
    }
    Node* next = node->next_node();
    if (next) {
      cell.tail.store(next, std::memory_order_relaxed);
    } else {
      cell.tail.store(nullptr, std::memory_order_relaxed);
      const auto plain = reinterpret_cast<std::uintptr_t>(node);
      std::uintptr_t now = plain;
      bool emptied = false;
      while (!emptied && (now & ~std::uintptr_t{Cell::poked}) == plain) {
        emptied = cell.head.compare_exchange_weak(now, Cell::busy, std::memory_order_acq_rel);
      }
      if (!emptied) {
        while (!(next = node->next_node())) relax_cpu();
        cell.tail.store(next, std::memory_order_relaxed);
      }
    }
    refuse(cell, node, DeadLetterReason::actor_stopped);
  }
}

void refuse_chain(Cell& cell, Node* node) noexcept {
  while (node) {
    Node* next = node->next_node();
    refuse(cell, node, DeadLetterReason::actor_stopped);
    node = next;
  }
}

void close_side_queues(Cell& cell) noexcept {
  Extension* extension = cell.extension_if_any();
  if (!extension) return;
  refuse_chain(cell, std::exchange(extension->stash_first, nullptr));
  extension->room_lock.lock();
  Node* ring = std::exchange(extension->ring_first, nullptr);
  extension->ring_last = nullptr;
  extension->room_lock.unlock();
  refuse_chain(cell, ring);
  refuse_waiting(cell);
}

bool close_empty_control(Cell& cell) noexcept {
  std::uintptr_t expected = Cell::empty;
  return cell.control.compare_exchange_strong(expected, Cell::control_terminated,
                                              std::memory_order_acq_rel);
}

// From here on whoever brings a request home settles it there and then; the last one lets go of the
// cell on behalf of them all.
void close_control(Cell& cell, Worker& worker) noexcept {
  if (!cell.extension_if_any() && close_empty_control(cell)) return;
  bool holds = false;
  for (;;) {
    drain_control(cell, worker);
    Extension* extension = cell.extension_if_any();
    const bool is_awaited = extension && extension->outstanding.load(std::memory_order_relaxed) > 0;
    if (is_awaited && !holds) {
      cell.add_ref();
      holds = true;
    }
    if (close_empty_control(cell)) {
      if (holds && !is_awaited) cell.release();
      return;
    }
  }
}

// The guardian has ended.
void end_system(Core& core) noexcept {
  std::scoped_lock hold(core.stop_mutex);
  core.is_stopped = true;
  core.stop_changed.notify_all();
}

// What an actor has in its extension ends in order; most have none.
void terminate(Cell& cell, Worker& worker) noexcept {
  if (cell.extension_if_any()) {
    cancel_all_timers(cell);
    cancel_backoff(cell);
    forget_phase(cell);
  }
  destroy_object(cell);
  cell.state.store(Cell::State::terminated, std::memory_order_release);
  if (cell.extension_if_any()) close_side_queues(cell);
  close_mailbox(cell);
  if (cell.extension_if_any()) notify_watchers(cell);
  close_control(cell, worker);
  end_of_handler(worker);
  if (cell.parent) {
    leave_parent(cell);
  } else {
    end_system(*cell.core);
  }
}

void run_stop_hook(Cell& cell) noexcept {
  if ((cell.flags & Cell::stop_hook_ran) != 0) return;
  cell.flags |= Cell::stop_hook_ran;
  if (!cell.type->stop || (cell.flags & Cell::constructed) == 0) return;
  if (cell.extension().stop_reason.kind == StopReason::Kind::killed) return;
  const HookSpan span(cell, "stop", take_cause(cell));
  try {
    cell.type->stop(cell.object, cell);
  } catch (...) {
    const std::string what = describe(std::current_exception());
    record_exception(*cell.core, what);
    cell.core->report_failure(cell, "on_stop: " + what);
  }
}

bool has_unfinished(Cell& cell) noexcept {
  const Extension* extension = cell.extension_if_any();
  if (extension && extension->runs) return true;
  if ((cell.flags & Cell::guarding) == 0) return cell.first_child != nullptr;
  // With the last child gone the tree is closed: nobody may join who would not be waited for.
  std::scoped_lock hold(cell.core->tree_lock);
  cell.core->is_closed = cell.first_child == nullptr;
  return !cell.core->is_closed;
}

}  // namespace

bool advance_stop(Cell& cell, Worker& worker) noexcept {
  if (has_unfinished(cell)) return false;
  run_stop_hook(cell);
  end_of_handler(worker);
  if (has_unfinished(cell)) return false;  // the hook waits, or spawned children
  terminate(cell, worker);
  return true;
}

}  // namespace weir::internal
