#include <algorithm>

#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/prefetch.hpp>
#include <weir/runtime/internal/worker.hpp>

namespace weir::internal {
namespace {

// Room that was taken may have been all that kept those in line out, and the receiver may have
// looked meanwhile and gone to sleep. Both accesses are sequentially consistent, as is the fence in
// `admit_waiting`: either this sees who waits, or whoever looks at the room sees it free.
void give_back(Cell& target, std::uint32_t room) noexcept {
  target.enqueued.fetch_sub(room, std::memory_order_seq_cst);
  if (target.has_waiters.load(std::memory_order_seq_cst)) admit_waiting(target);
}

// Reserves room for `wanted` messages, or for as many as there is room for.
std::uint32_t reserve(Cell& target, std::uint32_t wanted) noexcept {
  const std::uint32_t used = target.enqueued.fetch_add(wanted, std::memory_order_relaxed);
  if (target.capacity == unbounded) return wanted;
  const std::int32_t excess = target.excess(used + wanted);
  if (excess <= 0) [[likely]]
    return wanted;
  const std::uint32_t refused = std::min(static_cast<std::uint32_t>(excess), wanted);
  give_back(target, refused);
  return wanted - refused;
}

SendStatus refuse_full(Cell& target, Node* node) noexcept {
  if (target.overflow == Overflow::drop_newest) {
    refuse(target, node, DeadLetterReason::dropped_newest);
    return SendStatus::sent;
  }
  return SendStatus::full;
}

void append(Outbox& outbox, Node* node) noexcept {
  if (outbox.last) {
    outbox.last->link_to(node, std::memory_order_relaxed);
  } else {
    outbox.first = node;
  }
  outbox.last = node;
  ++outbox.count;
}

void publish(Worker& worker, Outbox& outbox) noexcept {
  if (has_telemetry && outbox.trail) [[unlikely]]
    close_trail(worker, outbox);
  if (outbox.count == 0) return;
  Node* first = std::exchange(outbox.first, nullptr);
  Node* last = std::exchange(outbox.last, nullptr);
  outbox.count = 0;
  if (outbox.target->push(first, last)) return;
  // The actor ended since the room was reserved. Whoever is told may send, and so use the outbox.
  Cell& target = *outbox.target;
  target.add_ref();
  for (Node* node = first; node;) {
    Node* next = node == last ? nullptr : node->next_node();
    refuse(target, node, DeadLetterReason::actor_stopped);
    node = next;
  }
  target.release();
}

// In a long burst the receiver must not wait in this worker's slot while another worker sleeps.
void release_slot_if_others_sleep(Worker& worker) noexcept {
  if (worker.core.sleepers.load(std::memory_order_relaxed) == 0) return;
  if (Cell* cell = worker.slot.exchange(nullptr, std::memory_order_acq_rel)) {
    worker.push_queue(cell);
    worker.core.wake_if_needed();
  }
}

std::uint32_t& credit_now(Worker& worker) noexcept {
  const bool is_recorded = has_telemetry && worker.trace != unsampled;
  return is_recorded ? worker.outbox.recorded_credit : worker.outbox.credit;
}

// A further message to the receiver of the last one: takes room for several at once, twice as much
// each time.
SendStatus send_in_burst(Cell* target, Node* node, Worker& worker, std::uint32_t& credit) noexcept {
  Outbox& outbox = worker.outbox;
  if (credit == 0) {
    std::uint32_t wanted = std::min(outbox.chunk, std::max(target->capacity / 8, 1u));
    // The next message that is measured does not pass by unseen.
    if (worker.measures) wanted = std::min(wanted, worker.sampler.to_pass() + 1);
    credit = reserve(*target, wanted);
    if (credit == 0) return refuse_full(*target, node);
    if (worker.measures) worker.sampler.pass(credit - 1);
    outbox.chunk = std::min(outbox.chunk * 2, Outbox::burst);
    if (!outbox.holds_target) {
      target->add_ref();
      outbox.holds_target = true;
    }
  }
  --credit;
  append(outbox, node);
  if (outbox.count >= Outbox::burst || target->head.load(std::memory_order_relaxed) == Cell::idle) {
    publish_burst(worker);
  }
  return SendStatus::sent;
}

void count_measured(Worker& worker, const Cell& target, Node* node) noexcept {
  if (worker.outbox.target == &target && credit_now(worker) > 0) return;  // counted with others
  if (worker.sampler.to_pass() > 0) {
    worker.sampler.pass(1);
  } else {
    count_chosen(worker, node);
  }
}

// Published at once: whoever runs next sees it, and somebody may run before the sender goes on.
SendStatus send_simulated(Cell& target, Node* node) noexcept {
  SimulationHost& simulation = *target.core->simulation;
  if (simulation.refuses(target)) return refuse_full(target, node);
  if (target.overflow == Overflow::drop_oldest) {
    if (!push_ring(target, node)) return SendStatus::stopped;
  } else {
    if (reserve(target, 1) == 0) return refuse_full(target, node);
    if (!target.push(node, node)) return SendStatus::stopped;
  }
  simulation.after_send();
  return SendStatus::sent;
}

[[gnu::noinline]] SendStatus send_unusually(Cell& target, Node* node) noexcept {
  if (target.core->simulation) return send_simulated(target, node);
  return push_ring(target, node) ? SendStatus::sent : SendStatus::stopped;
}

SendStatus send_alone(Cell& target, Node* node) noexcept {
  if (reserve(target, 1) == 0) return refuse_full(target, node);
  return target.push(node, node) ? SendStatus::sent : SendStatus::stopped;
}

[[gnu::noinline]] SendStatus send_to_another(Cell* target, Node* node, Worker& worker) noexcept {
  end_of_handler(worker);
  worker.outbox.target = target;
  worker.outbox.chunk = 2;
  return send_alone(*target, node);
}

// Whatever is done is a call at the end, here and below, with the parameters where they are:
// nobody has registers to save for it.
[[gnu::always_inline]] inline SendStatus send_within(Cell* target, Node* node, Worker& worker,
                                                     std::uint32_t& credit) noexcept {
  if (!target->is_running()) return SendStatus::stopped;
  if (target->is_unusual) [[unlikely]]
    return send_unusually(*target, node);
  if (!worker.current) [[unlikely]]
    return send_alone(*target, node);
  if (worker.outbox.target != target) return send_to_another(target, node, worker);
  return send_in_burst(target, node, worker, credit);
}

void observe(Worker& worker, Cell& target, Node* node) noexcept {
  if (worker.trace != unsampled) attach_sent_trail(worker, target, node);
  if (worker.measures && target.is_running()) count_measured(worker, target, node);
}

[[gnu::noinline]] SendStatus send_observed(Cell* target, Node* node, Worker& worker) noexcept {
  observe(worker, *target, node);
  return send_within(target, node, worker, credit_now(worker));
}

// To another system: what is not recorded here may begin a trace there.
void attach_outside(const Worker& worker, const Cell& target, Node* node) noexcept {
  const bool begins = !worker.records_spans && target.core->records_spans();
  if (begins && node->trace == unsampled) node->trace = undecided;
}

[[gnu::noinline]] SendStatus send_from_elsewhere(Cell* target, Node* node,
                                                 Worker* worker) noexcept {
  if (has_telemetry && worker) observe(*worker, *target, node);
  if (!target->is_running()) return SendStatus::stopped;
  if (!worker) {
    attach_foreign_trail(*target, node);
    count_foreign(*target, node);
  } else if (has_telemetry) {
    attach_outside(*worker, *target, node);
  }
  if (target->is_unusual) return send_unusually(*target, node);
  if (worker && worker->current) end_of_handler(*worker);
  return send_alone(*target, node);
}

}  // namespace

void publish_burst(Worker& worker) noexcept {
  publish(worker, worker.outbox);
  release_slot_if_others_sleep(worker);
}

void flush_outbox(Worker& worker) noexcept {
  // Again if somebody who was told of a message that could not be delivered has sent others.
  while (worker.outbox.holds_target) {
    Outbox outbox = std::exchange(worker.outbox, {});
    publish(worker, outbox);
    if (const std::uint32_t credit = outbox.credit + outbox.recorded_credit; credit > 0) {
      if (worker.measures) worker.sampler.take_back(credit);
      give_back(*outbox.target, credit);
    }
    outbox.target->release();
  }
}

SendStatus send_slowly(Cell* target, Node* node) noexcept {
  prefetch_to_change(target);
  Worker* worker = this_worker;
  if (!worker || &worker->core != target->core) [[unlikely]]
    return send_from_elsewhere(target, node, worker);
  if (has_telemetry && (worker->measures || worker->trace != unsampled)) [[unlikely]]
    return send_observed(target, node, *worker);
  return send_within(target, node, *worker, worker->outbox.credit);
}

}  // namespace weir::internal
