#include <mutex>

#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/deliver_waiter.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/worker.hpp>

namespace weir::internal {
namespace {

// How many senders one batch of freed room lets in: each goes on sending, so a few fill it.
constexpr std::uint32_t room_per_sender = 128;

void enqueue(const Cell& cell, Extension& extension, DeliverWaiter& waiter) noexcept {
  if (!extension.first_waiting) {
    extension.waiting_since = cell.popped.load(std::memory_order_relaxed);
  }
  waiter.previous_waiting = extension.last_waiting;
  waiter.next_waiting = nullptr;
  (extension.last_waiting ? extension.last_waiting->next_waiting : extension.first_waiting) =
      &waiter;
  extension.last_waiting = &waiter;
}

void dequeue(Extension& extension, DeliverWaiter& waiter) noexcept {
  (waiter.previous_waiting ? waiter.previous_waiting->next_waiting : extension.first_waiting) =
      waiter.next_waiting;
  (waiter.next_waiting ? waiter.next_waiting->previous_waiting : extension.last_waiting) =
      waiter.previous_waiting;
}

bool reserve_one(Cell& cell) noexcept {
  const std::uint32_t used = cell.enqueued.fetch_add(1, std::memory_order_relaxed);
  if (cell.has_room(used + 1)) return true;
  cell.enqueued.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

// Half of the room at a time, so that senders work in batches. But those who do not wait take room
// as soon as there is some: if they have kept the mailbox full for so long, any room will do.
bool may_admit(const Cell& cell, const Extension& extension, std::uint32_t used) noexcept {
  if (used <= cell.capacity / 2) return true;
  const std::uint32_t popped = cell.popped.load(std::memory_order_relaxed);
  return popped - extension.waiting_since >= cell.capacity;
}

// Makes the receiver look at those who wait at least once after each joined.
struct WaitingSignal : Signal, Pooled {
  WaitingSignal() noexcept : Signal(&act) {}
  static void act(Signal* signal, Cell& cell) {
    delete static_cast<WaitingSignal*>(signal);
    if (cell.is_running()) {
      admit_waiting(cell);
    } else {
      refuse_waiting(cell);
    }
  }
};

// Among the messages, but not one: it waits for its turn to stop the actor.
bool is_marker(const Node& node) noexcept {
  return node.type().index.load(std::memory_order_relaxed) == 0;
}

// With everything before it gone, a marker's turn has come.
void drop_oldest(Cell& cell, Node* node) noexcept {
  if (!is_marker(*node)) {
    refuse(cell, node, DeadLetterReason::dropped_oldest);
    return;
  }
  cell.enqueued.fetch_add(1, std::memory_order_relaxed);
  if (!cell.push(node, node)) dispose(node);
}

}  // namespace

DeliverWaiter::~DeliverWaiter() {
  if (is_suspended()) leave();
  if (node) dispose(node);
  if (target) target->release();
}

bool DeliverWaiter::wait(Cell* receiver, Node* message, std::coroutine_handle<> coroutine) {
  node = message;
  if (this_worker && this_worker->trace != unsampled && node->trace == unsampled) {
    attach_trail(*this_worker, *receiver, node);  // of one that was not sent at all yet
  }
  if (!current_cell()) return refuse(Errc::unsupported);
  if (is_current_run_cancelled()) return refuse(Errc::cancelled);
  end_of_handler(*this_worker);
  if (is_held_up_by_current_run(*receiver)) {  // and would never make room
    if (!reserve_one(*receiver)) return refuse(Errc::deadlock);
    if (receiver->push(node, node)) node = nullptr;
    return false;
  }
  target = receiver;
  target->add_ref();
  Extension& extension = target->extension();
  {
    std::scoped_lock hold(extension.room_lock);
    target->has_waiters.store(true, std::memory_order_relaxed);
    suspend(coroutine);
    enqueue(*target, extension, *this);
  }
  // The receiver may have made room, or ended, before it could see us.
  target->send_signal(new WaitingSignal);
  return true;
}

bool DeliverWaiter::refuse(Errc reason) noexcept {
  refusal = reason;
  return false;
}

void DeliverWaiter::leave() noexcept {
  Extension& extension = target->extension();
  {
    std::scoped_lock hold(extension.room_lock);
    if (progress == Progress::waiting) {
      dequeue(extension, *this);
      progress = Progress::refused;
      return;
    }
  }
  if (signal_.is_sent) withdraw(*home(), signal_);
}

void DeliverWaiter::cancel() noexcept {
  leave();
  refusal = Errc::cancelled;
  resume();
}

std::string DeliverWaiter::describe() const {
  return "room in the mailbox of #" + std::to_string(target->id.load(std::memory_order_relaxed)) +
         " " + std::string(target->type->name);
}

void DeliverWaiter::on_signal(Signal* signal, Cell&) {
  auto* sent = static_cast<AdmittedSignal*>(static_cast<RevocableSignal*>(signal));
  sent->is_sent = false;
  sent->waiter->resume();
}

void admit_waiting(Cell& cell) noexcept {
  Extension& extension = cell.extension();
  std::scoped_lock hold(extension.room_lock);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // see `give_back`
  const std::uint32_t used = cell.depth();
  if (!may_admit(cell, extension, used)) return;
  std::uint32_t senders = (cell.capacity - used) / room_per_sender + 1;
  while (extension.first_waiting && senders-- > 0 && reserve_one(cell)) {
    DeliverWaiter& waiter = *extension.first_waiting;
    dequeue(extension, waiter);
    extension.waiting_since = cell.popped.load(std::memory_order_relaxed);
    waiter.progress = DeliverWaiter::Progress::admitted;
    if (cell.push(waiter.node, waiter.node)) {
      waiter.node = nullptr;
    } else {
      waiter.progress = DeliverWaiter::Progress::refused;
    }
    waiter.signal_.is_sent = true;
    waiter.home()->send_signal(&waiter.signal_);
  }
  if (!extension.first_waiting) cell.has_waiters.store(false, std::memory_order_relaxed);
}

void refuse_waiting(Cell& cell) noexcept {
  Extension* extension = cell.extension_if_any();
  if (!extension) return;
  std::scoped_lock hold(extension->room_lock);
  while (DeliverWaiter* waiter = extension->first_waiting) {
    dequeue(*extension, *waiter);
    waiter->progress = DeliverWaiter::Progress::refused;
    waiter->signal_.is_sent = true;
    waiter->home()->send_signal(&waiter->signal_);
  }
}

bool push_ring(Cell& cell, Node* node) noexcept {
  Extension& extension = cell.extension();
  Node* dropped = nullptr;
  {
    std::scoped_lock hold(extension.room_lock);
    // An actor that ends takes the ring away under the lock.
    if (!cell.is_running()) return false;
    if (extension.ring_size >= cell.capacity && !is_marker(*node)) {
      dropped = extension.ring_first;
      extension.ring_first = dropped->next_node();
      if (!extension.ring_first) extension.ring_last = nullptr;
      --extension.ring_size;
    } else {
      cell.enqueued.fetch_add(1, std::memory_order_relaxed);
    }
    node->link_to(nullptr, std::memory_order_relaxed);
    if (extension.ring_last) {
      extension.ring_last->link_to(node, std::memory_order_relaxed);
    } else {
      extension.ring_first = node;
    }
    extension.ring_last = node;
    ++extension.ring_size;
  }
  if (dropped) drop_oldest(cell, dropped);
  cell.poke();
  return true;
}

// The head was `terminated` and is now `last` or something pushed behind it by others. Everything
// up to the newest is refused, and the state restored once nothing more came.
bool refuse_after_end(Cell& cell, Node*, Node* last) noexcept {
  Node* end = last;
  for (;;) {
    const auto plain = reinterpret_cast<std::uintptr_t>(end);
    std::uintptr_t now = plain;
    bool restored = false;
    while (!restored && (now & ~std::uintptr_t{Cell::poked}) == plain) {
      restored =
          cell.head.compare_exchange_weak(now, Cell::head_terminated, std::memory_order_acq_rel);
    }
    Node* next = nullptr;
    if (!restored) {
      while (!(next = end->next_node())) relax_cpu();
    }
    if (end == last) {
      end->link_to(nullptr, std::memory_order_relaxed);
    } else {
      refuse(cell, end, DeadLetterReason::actor_stopped);
    }
    if (restored) return false;
    end = next;
  }
}

}  // namespace weir::internal
