#include <weir/runtime/internal/cell.hpp>

#include <weir/runtime/check.hpp>
#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/prefetch.hpp>
#include <weir/runtime/internal/worker.hpp>

namespace weir::internal {
namespace {

Node* to_node(std::uintptr_t head) noexcept { return reinterpret_cast<Node*>(head); }

bool is_message(std::uintptr_t head) noexcept { return head > Cell::busy + 1; }

// A sender has exchanged the head but not linked its message yet: a matter of a few instructions.
template <class Load>
auto await_link(Load load) noexcept {
  for (unsigned spins = 0;; ++spins) {
    if (auto value = load()) return value;
    if (spins < 1000) {
      relax_cpu();
    } else {
      std::this_thread::yield();
    }
  }
}

void admit_if_waiting(Cell& cell) noexcept {
  if (cell.has_waiters.load(std::memory_order_acquire)) [[unlikely]]
    admit_waiting(cell);
}

// After the message at the front has been handled: makes the next one the front.
enum class Unlinked { more, empty, parked };

Unlinked unlink_last(Cell& cell, Node* node) noexcept {
  admit_if_waiting(cell);
  cell.tail.store(nullptr, std::memory_order_relaxed);
  const bool stays = cell.attention != 0;
  auto expected = reinterpret_cast<std::uintptr_t>(node);
  const std::uintptr_t next_state = stays ? Cell::busy : Cell::idle;
  if (cell.head.compare_exchange_strong(expected, next_state, std::memory_order_acq_rel)) {
    return stays ? Unlinked::empty : Unlinked::parked;
  }
  if (expected == (reinterpret_cast<std::uintptr_t>(node) | Cell::poked) &&
      cell.head.compare_exchange_strong(expected, Cell::busy, std::memory_order_seq_cst)) {
    return Unlinked::empty;
  }
  cell.tail.store(await_link([&] { return node->next_node(); }), std::memory_order_relaxed);
  return Unlinked::more;
}

Unlinked unlink_front(Cell& cell, Node* node) noexcept {
  if (Node* next = node->next_node()) [[likely]] {
    cell.tail.store(next, std::memory_order_relaxed);
    return Unlinked::more;
  }
  return unlink_last(cell, node);
}

// The mailbox looks empty: parks the cell, or finds the message that just came. True if parked.
bool park_if_empty(Cell& cell) noexcept {
  admit_if_waiting(cell);
  if (cell.tail.load(std::memory_order_acquire)) return false;
  std::uintptr_t expected = Cell::busy;
  if (cell.head.compare_exchange_strong(expected, Cell::idle, std::memory_order_acq_rel)) {
    return true;
  }
  if (expected == (Cell::busy | Cell::poked)) {
    cell.head.compare_exchange_strong(expected, Cell::busy, std::memory_order_seq_cst);
    return false;
  }
  await_link([&] { return cell.tail.load(std::memory_order_acquire); });
  return false;
}

bool is_only_recorded(const Node* node, const Worker& worker) noexcept {
  const Trail* trail = trail_of(node->trace);
  return trail && trail->mark == 0 && worker.records_spans;
}

// Apart from the loop over messages, whose registers it would take: a message that is measured, or
// whose trace is recorded, or nobody has decided about.
[[gnu::noinline]] Outcome handle_specially(Cell& cell, Node* node, Worker& worker) noexcept {
  if (is_only_recorded(node, worker)) return handle_recorded(cell, node, worker);
  if (node->trace != undecided) return handle_closely(cell, node, worker);
  return decide_recording(node, worker) ? handle_recorded(cell, node, worker)
                                        : handle_quickly(cell, node);
}

// Most traces are not recorded, and it is decided about many of them at once: their messages are
// handled like any other.
bool is_special(Node* node, Worker& worker) noexcept {
  if (node->trace == unsampled) [[likely]]
    return false;
  const bool passes = node->trace == undecided && worker.roots_to_pass > 0;
  if (!passes || node->has(Node::is_timer)) return true;
  --worker.roots_to_pass;
  node->trace = unsampled;
  return false;
}

// A parked cell must not be touched: the outcomes that need it keep it from parking by `attention`.
[[gnu::always_inline]] inline void finish_node(Cell& cell, Node* node, Outcome outcome) noexcept {
  if (outcome == Outcome::done) [[likely]] {
    dispose_handled(node);
  } else if (outcome == Outcome::replied) {
    send_home(static_cast<RequestNode*>(node));
  } else if (outcome == Outcome::set_aside) {
    keep_aside(cell, node);
  } else if (outcome == Outcome::repeats) {
    rearm_after_handling(cell, node);
  }
}

void count_popped(Cell& cell) noexcept {
  const std::uint32_t count = cell.popped.load(std::memory_order_relaxed) + 1;
  cell.popped.store(count, std::memory_order_release);
  if (count == 0) [[unlikely]] {
    cell.popped_high.store(
        static_cast<std::uint16_t>(cell.popped_high.load(std::memory_order_relaxed) + 1),
        std::memory_order_relaxed);
  }
}

}  // namespace

bool Cell::try_add_ref(std::uint64_t expected_id) noexcept {
  std::uint32_t count = refs.load(std::memory_order_relaxed);
  do {
    if (count == 0) return false;
  } while (!refs.compare_exchange_weak(count, count + 1, std::memory_order_acquire));
  if (id.load(std::memory_order_relaxed) == expected_id) return true;
  release();
  return false;
}

bool Cell::push(Node* first, Node* last) noexcept {
  last->link_to(nullptr, std::memory_order_relaxed);
  std::uintptr_t old =
      head.exchange(reinterpret_cast<std::uintptr_t>(last), std::memory_order_acq_rel);
  if (old == idle) {
    prefetch_to_change(object_memory(this));  // it runs here, soon
    tail.store(first, std::memory_order_relaxed);
    schedule(this);
    return true;
  }
  const std::uintptr_t was_poked = old & poked;
  old &= ~std::uintptr_t{poked};
  if (is_message(old)) [[likely]] {
    to_node(old)->link_to(first, std::memory_order_release);
    if (was_poked) [[unlikely]]
      poke();  // the mark has gone with the head, and the consumer may not have seen it
    return true;
  }
  if (old == busy) {
    tail.store(first, std::memory_order_release);
    if (was_poked) [[unlikely]]
      poke();
    return true;
  }
  // Gone. Whoever replaced the terminated state owns the head until it is restored; messages that
  // others push meanwhile are linked behind ours and refused with it.
  return refuse_after_end(*this, first, last);
}

bool Cell::push_control(Link* link, ControlTag tag) noexcept {
  const std::uintptr_t entry = reinterpret_cast<std::uintptr_t>(link) | tag;
  std::uintptr_t old = control.load(std::memory_order_acquire);
  do {
    if (old == control_terminated) return false;
    link->next.store(old == waiting ? std::uintptr_t{empty} : old, std::memory_order_relaxed);
  } while (!control.compare_exchange_weak(old, entry, std::memory_order_seq_cst,
                                          std::memory_order_acquire));
  if (old == waiting) {
    schedule(this);
  } else {
    poke();
  }
  return true;
}

void Cell::send_signal(Signal* signal) noexcept {
  if (!push_control(signal, signal_tag)) signal->process(signal, *this);
}

void Cell::poke() noexcept {
  std::uintptr_t now = head.load(std::memory_order_seq_cst);
  for (;;) {
    if (now == idle) {
      if (head.compare_exchange_weak(now, busy, std::memory_order_seq_cst)) {
        schedule(this);
        return;
      }
    } else if (now == head_terminated || (now & poked) != 0) {
      return;
    } else if (head.compare_exchange_weak(now, now | poked, std::memory_order_seq_cst)) {
      return;
    }
  }
}

void Cell::return_control(std::uintptr_t entries) noexcept {
  while (entries != Cell::empty) {
    std::uintptr_t newer = Cell::empty;
    if (control.compare_exchange_strong(newer, entries, std::memory_order_seq_cst)) return;
    newer = control.exchange(Cell::empty, std::memory_order_seq_cst);
    Link* oldest = link_of(newer);
    while (const std::uintptr_t next = oldest->next.load(std::memory_order_relaxed)) {
      oldest = link_of(next);
    }
    oldest->next.store(entries, std::memory_order_relaxed);
    entries = newer;
  }
}

void Cell::activate(Worker& worker) noexcept {
  if (has_telemetry && worker.is_observed) {
    activate_for<true>(worker);
  } else {
    activate_for<false>(worker);
  }
}

template <bool IsObserved>
void Cell::activate_for(Worker& worker) noexcept {
  worker.current = this;
  const std::uint32_t admit_every = capacity < 512 ? capacity / 8 + 1 : 64;
  std::uint32_t until_admit = admit_every;
  const std::uint32_t quota_before = worker.quota_left;
  std::uint32_t quota = quota_before;
  for (;;) {
    if (control.load(std::memory_order_acquire) != empty || attention != 0) [[unlikely]] {
      if (!attend(*this, worker)) break;
      if (IsObserved) worker.recorded_end_ns = 0;
    }
    Node* node = tail.load(std::memory_order_acquire);
    if (!node) [[unlikely]] {
      if (park_if_empty(*this)) break;
      continue;
    }
    if (quota-- == 0) [[unlikely]] {
      admit_if_waiting(*this);  // the quota may be less than there is between two looks
      yield_to_others(*this, worker);
      break;
    }
    __builtin_prefetch(reinterpret_cast<void*>(node->next.load(std::memory_order_relaxed)));
    count_popped(*this);
    const Outcome outcome = IsObserved && is_special(node, worker)
                                ? handle_specially(*this, node, worker)
                                : handle_quickly(*this, node);
    end_of_handler(worker);
    if (--until_admit == 0) [[unlikely]] {
      admit_if_waiting(*this);
      until_admit = admit_every;
    }
    const Unlinked unlinked = unlink_front(*this, node);
    // From here on a parked cell may run elsewhere; the node is ours alone.
    finish_node(*this, node, outcome);
    if (unlinked == Unlinked::parked) break;
  }
  worker.current = nullptr;
  // A part that outlives its handler is part of nobody else's.
  if (IsObserved) worker.trace = unsampled;
  // Used up, it has gone once below zero.
  const std::uint32_t handled = quota_before - (quota == UINT32_MAX ? 0 : quota);
  worker.messages.store(worker.messages.load(std::memory_order_relaxed) + handled,
                        std::memory_order_relaxed);
}

template void Cell::activate_for<true>(Worker&) noexcept;
template void Cell::activate_for<false>(Worker&) noexcept;

}  // namespace weir::internal
