#include <weir/runtime/internal/lifecycle.hpp>

#include <mutex>
#include <stdexcept>

#include <weir/runtime/check.hpp>
#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/children.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/deliver_waiter.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/run.hpp>
#include <weir/runtime/internal/supervise.hpp>
#include <weir/runtime/internal/timer_message.hpp>
#include <weir/runtime/internal/watch.hpp>

#if WEIR_POOL_USES_MALLOC
#include <sanitizer/asan_interface.h>
#endif

namespace weir::internal {
namespace {

bool needs_extension(const SpawnOptions& options) noexcept {
  return !options.name.empty() || options.supervision != Supervision{} ||
         options.overflow == Overflow::drop_oldest;
}

std::uint32_t checked_capacity(const SpawnRequest& request) {
  std::uint32_t capacity = request.options ? request.options->mailbox_capacity : system_default;
  if (capacity == system_default) capacity = request.core.options.mailbox_capacity;
  if (capacity == 0) {
    throw std::invalid_argument(
        "spawn of " + std::string(request.type.name) +
        ": mailbox_capacity is 0, so no message could ever be accepted; use "
        "at least 1, or weir::unbounded");
  }
  if (capacity > mailbox_capacity_max && capacity != unbounded) {
    throw std::invalid_argument("spawn of " + std::string(request.type.name) +
                                ": mailbox_capacity is " + std::to_string(capacity) +
                                ", more than weir::mailbox_capacity_max, which is " +
                                std::to_string(mailbox_capacity_max) + "; use weir::unbounded");
  }
  return capacity;
}

[[noreturn]] void refuse_supervision(const SpawnRequest& request, const std::string& what) {
  throw std::invalid_argument("spawn of " + std::string(request.type.name) + ": supervision." +
                              what);
}

void check_duration(const SpawnRequest& request, const char* field, Duration value) {
  if (value >= Duration::zero()) return;
  refuse_supervision(request, std::string(field) + " is " + std::to_string(value.count()) +
                                  " ns; use zero or more");
}

void check_supervision(const SpawnRequest& request) {
  const Supervision& supervision = request.options->supervision;
  check_duration(request, "backoff", supervision.backoff);
  check_duration(request, "backoff_max", supervision.backoff_max);
  check_duration(request, "window", supervision.window);
  // Written so that it refuses what is no number.
  if (!(supervision.jitter >= 0 && supervision.jitter <= 1)) {
    refuse_supervision(
        request, "jitter is " + std::to_string(supervision.jitter) + "; use a number from 0 to 1");
  }
}

void reset(Cell& cell, const SpawnRequest& request, std::uint32_t capacity) noexcept {
  cell.next.store(0, std::memory_order_relaxed);
  cell.head.store(Cell::busy, std::memory_order_relaxed);
  cell.control.store(Cell::empty, std::memory_order_relaxed);
  cell.enqueued.store(0, std::memory_order_relaxed);
  cell.capacity = capacity;
  cell.has_waiters.store(false, std::memory_order_relaxed);
  cell.overflow = request.options ? request.options->overflow : Overflow::fail;
  cell.is_unusual = request.core.simulation || cell.overflow == Overflow::drop_oldest;
  cell.type = &request.type;
  cell.core = &request.core;
  cell.tail.store(nullptr, std::memory_order_relaxed);
  cell.parent = request.parent ? request.parent : request.core.guardian;
  cell.first_child = cell.previous_sibling = cell.next_sibling = nullptr;
  cell.popped.store(0, std::memory_order_relaxed);
  cell.popped_high.store(0, std::memory_order_relaxed);
  cell.attention = request.core.simulation ? Cell::observed : 0;
  cell.flags = 0;
  cell.extension_pointer.store(nullptr, std::memory_order_relaxed);
  cell.id.store(request.core.new_id(), std::memory_order_relaxed);
  cell.state.store(Cell::State::running, std::memory_order_relaxed);
  cell.object = object_memory(&cell);
}

struct StopSignal : Signal, Pooled {
  StopSignal(StopMode wanted, StopReason why)
      : Signal(&act), mode(wanted), reason(std::move(why)), cause(Cause::here()) {}

  static void act(Signal* signal, Cell& cell) {
    std::unique_ptr<StopSignal> self(static_cast<StopSignal*>(signal));
    if (cell.state.load(std::memory_order_relaxed) != Cell::State::terminated) {
      if (cell.type->stop) keep_cause(cell, std::move(self->cause));
      begin_stop(cell, self->mode, std::move(self->reason));
    }
  }

  StopMode mode;
  StopReason reason;
  Cause cause;
};

// Stops the actor after everything before it in the mailbox, or fails it.
struct TurnMarker {
  StopReason reason;
  Cause cause;
  bool fails = false;
};

// From here on senders are refused, though the actor may come to its stop later. True if this call
// did it.
bool leave_running(Cell& cell) noexcept {
  auto expected = Cell::State::running;
  return cell.state.compare_exchange_strong(expected, Cell::State::stopping,
                                            std::memory_order_seq_cst);
}

bool push_behind_all(Cell& cell, Node* node) noexcept {
  if (cell.overflow == Overflow::drop_oldest) return push_ring(cell, node);
  cell.enqueued.fetch_add(1, std::memory_order_relaxed);
  return cell.push(node, node);
}

void stop_children(Cell& cell, StopMode mode, StopReason::Kind kind) noexcept {
  std::unique_lock<SpinLock> hold(cell.core->tree_lock, std::defer_lock);
  if ((cell.flags & Cell::guarding) != 0) hold.lock();
  for (Cell* child = cell.first_child; child; child = child->next_sibling) {
    // The signal first: whoever sees that it is not running knows that it handles nothing more.
    child->send_signal(new StopSignal(mode, StopReason{kind, {}}));
    leave_running(*child);
  }
}

// False if the system has ended.
bool enter_tree(Cell& cell) noexcept {
  Cell& parent = *cell.parent;
  Core& core = *cell.core;
  bool is_late = false;
  if (&parent == core.guardian) {  // whose children join on any thread
    std::scoped_lock hold(core.tree_lock);
    if (core.is_closed) return false;
    is_late = core.is_stopping.load(std::memory_order_relaxed);
    link_child(parent, &cell);
  } else {
    is_late = (parent.attention & Cell::stopping) != 0;
    link_child(parent, &cell);
  }
  if (is_late) [[unlikely]] {
    leave_running(cell);
    cell.send_signal(new StopSignal(StopMode::graceful, {StopReason::Kind::parent_stopped, {}}));
  }
  return true;
}

// A handler that spawns many short-lived actors does not come to its control lane meanwhile.
void reap_now_and_then(const SpawnRequest& request) noexcept {
  constexpr std::uint64_t spawns_between = 64;
  Worker* worker = this_worker;
  if (worker && request.parent && worker->current == request.parent &&
      worker->next_id % spawns_between == 0) {
    reap_children(*request.parent);
  }
}

}  // namespace

Cell* prepare_cell(const SpawnRequest& request) {
  const std::uint32_t capacity = checked_capacity(request);
  if (request.options) check_supervision(request);
  reap_now_and_then(request);
  auto* cell = static_cast<Cell*>(static_cast<Link*>(pool_take(request.type.pool_class)));
  reset(*cell, request, capacity);
  if (request.options && needs_extension(*request.options)) {
    Extension& extension = cell->extension();
    extension.name = std::move(request.options->name);
    extension.supervision = request.options->supervision;
    if (request.options->overflow == Overflow::drop_oldest) cell->attention |= Cell::ring_mailbox;
  }
  if (!request.type.object_inside) [[unlikely]] {
    cell->object =
        ::operator new(request.type.object_bytes, std::align_val_t{request.type.object_alignment});
  }
  open_object(*cell);
  cell->refs.store(1, std::memory_order_release);
  if (cell->parent && !enter_tree(*cell)) [[unlikely]] {
    cell->state.store(Cell::State::terminated, std::memory_order_relaxed);
    cell->head.store(Cell::head_terminated, std::memory_order_relaxed);
    cell->control.store(Cell::control_terminated, std::memory_order_relaxed);
    cell->release();
    return nullptr;
  }
  return cell;
}

void open_object([[maybe_unused]] Cell& cell) noexcept {
#if WEIR_POOL_USES_MALLOC
  ASAN_UNPOISON_MEMORY_REGION(cell.object, cell.type->object_bytes);
#endif
}

void destroy_object(Cell& cell) noexcept {
  if ((cell.flags & Cell::constructed) == 0) return;
  cell.flags &= static_cast<std::uint8_t>(~Cell::constructed);
  cell.type->destroy(cell.object);
#if WEIR_POOL_USES_MALLOC
  ASAN_POISON_MEMORY_REGION(cell.object, cell.type->object_bytes);
#endif
}

void discard_cell(Cell* cell) noexcept {
  // The constructor may have spawned children, armed timers or given its reference away.
  begin_stop(*cell, StopMode::kill, {StopReason::Kind::failed, "the constructor threw"});
  schedule(cell);
}

void adopt(Cell* cell) noexcept {
  cell->flags |= Cell::constructed;
  if (cell->type->start) {
    keep_cause(*cell);
    cell->attention |= Cell::starting;
    cell->flags |= Cell::fresh;
    schedule_fresh(cell);
    return;
  }
  // The constructor may have stopped its actor or sent messages to it, and the parent may be
  // stopping.
  std::uintptr_t expected = Cell::busy;
  const bool stops = (cell->attention & Cell::stopping) != 0;
  if (stops ||
      !cell->head.compare_exchange_strong(expected, Cell::idle, std::memory_order_acq_rel)) {
    schedule(cell);
  }
}

void request_stop(Cell& cell, StopMode mode, StopReason reason) noexcept {
  if (mode == StopMode::drain) {
    if (!cell.is_running()) return;
    auto* marker = new Envelope<TurnMarker>(TurnMarker{std::move(reason), Cause::here()});
    if (this_worker) end_of_handler(*this_worker);  // what the caller has sent to it comes first
    if (!push_behind_all(cell, marker)) dispose(marker);
    return;
  }
  if (!leave_running(cell)) return;
  cell.send_signal(new StopSignal(mode, std::move(reason)));
}

void request_kill(Cell& cell, StopReason reason) noexcept {
  leave_running(cell);
  cell.send_signal(new StopSignal(StopMode::kill, std::move(reason)));
}

Node* make_failing_marker(std::string message, Cause cause) {
  return new Envelope<TurnMarker>(
      TurnMarker{{StopReason::Kind::failed, std::move(message)}, std::move(cause), /*fails=*/true});
}

Outcome handle_turn_marker(void*, Node* node, Cell& cell) {
  TurnMarker& marker = static_cast<Envelope<TurnMarker>*>(node)->message();
  const WithinCause within(*this_worker, marker.cause);
  if (marker.fails) {
    fail_with(cell, std::move(marker.reason.message));
  } else {
    begin_stop(cell, StopMode::graceful, std::move(marker.reason));
  }
  return Outcome::done;
}

void begin_stop(Cell& cell, StopMode mode, StopReason reason) noexcept {
  if (mode == StopMode::kill) {
    destroy_runs(cell, Error(Errc::stopped, "killed"));
    // Also of an actor that was stopping in good order until now.
    if (reason.kind == StopReason::Kind::killed) cell.flags |= Cell::stop_hook_ran;
  }
  const bool is_stopping = (cell.attention & Cell::stopping) != 0;
  if (!is_stopping) {
    if ((cell.flags & Cell::guarding) != 0) {
      std::scoped_lock hold(cell.core->tree_lock);
      cell.core->is_stopping.store(true);
    }
    cell.attention |= Cell::stopping;
    cell.attention &= static_cast<std::uint8_t>(~Cell::restarting);
    cell.state.store(Cell::State::stopping, std::memory_order_release);
    if (reason.kind != StopReason::Kind::normal || !reason.message.empty() ||
        cell.extension_if_any()) {
      cell.extension().stop_reason = std::move(reason);
    }
    if (cell.type->stop) keep_cause(cell);
    cancel_background(cell);
  }
  if (is_stopping && mode != StopMode::kill) return;
  const bool is_system = cell.extension_if_any() &&
                         cell.extension().stop_reason.kind == StopReason::Kind::system_stopped;
  if (cell.first_child || (cell.flags & Cell::guarding) != 0) {
    stop_children(cell, mode,
                  is_system ? StopReason::Kind::system_stopped : StopReason::Kind::parent_stopped);
  }
}

}  // namespace weir::internal
