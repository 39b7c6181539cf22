#include <weir/runtime/internal/waiter.hpp>

#include <weir/runtime/check.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/worker.hpp>

namespace weir::internal {
namespace {

std::uintptr_t entry_of(Signal& signal) noexcept {
  return reinterpret_cast<std::uintptr_t>(static_cast<Link*>(&signal)) | Cell::signal_tag;
}

Link* link_of(std::uintptr_t entry) noexcept {
  return reinterpret_cast<Link*>(entry & ~std::uintptr_t{Cell::tag_mask});
}

// Removes `wanted` from a chain that starts at `first`. Returns whether it was there.
bool remove_from(std::uintptr_t& first, std::uintptr_t wanted) noexcept {
  if (first == wanted) {
    first = link_of(wanted)->next.load(std::memory_order_relaxed);
    return true;
  }
  for (std::uintptr_t at = first; at != 0;) {
    const std::uintptr_t next = link_of(at)->next.load(std::memory_order_relaxed);
    if (next == wanted) {
      link_of(at)->next.store(link_of(wanted)->next.load(std::memory_order_relaxed),
                              std::memory_order_relaxed);
      return true;
    }
    at = next;
  }
  return false;
}

}  // namespace

Cell* current_cell() noexcept { return this_worker ? this_worker->current : nullptr; }

void withdraw(Cell& home, RevocableSignal& signal) noexcept {
  signal.is_sent = false;
  const std::uintptr_t wanted = entry_of(signal);
  if (remove_from(this_worker->inbox, wanted)) return;
  // Still in the lane: take everything out, and put the rest back behind what is in the inbox.
  std::uintptr_t stack = home.control.exchange(Cell::empty, std::memory_order_seq_cst);
  check(stack != Cell::control_terminated, "a signal is withdrawn while its actor lives");
  if (stack == Cell::waiting) stack = Cell::empty;
  check(remove_from(stack, wanted), "a sent signal is in its actor's control lane");
  std::uintptr_t oldest_first = 0;
  while (stack != Cell::empty) {
    const std::uintptr_t next = link_of(stack)->next.load(std::memory_order_relaxed);
    link_of(stack)->next.store(oldest_first, std::memory_order_relaxed);
    oldest_first = std::exchange(stack, next);
  }
  if (this_worker->inbox == 0) {
    this_worker->inbox = oldest_first;
    return;
  }
  std::uintptr_t last = this_worker->inbox;
  while (const std::uintptr_t next = link_of(last)->next.load(std::memory_order_relaxed))
    last = next;
  link_of(last)->next.store(oldest_first, std::memory_order_relaxed);
}

Waiter::~Waiter() {
  if (home_) forget();
}

std::string Waiter::describe() const { return "something to happen"; }

void Waiter::suspend(std::coroutine_handle<> handle) {
  Worker* worker = this_worker;
  check(worker && worker->current, "a coroutine waits on behalf of an actor");
  handle_ = handle;
  home_ = worker->current;
  run_ = worker->current_run;
  home_->extension().waiters.add(*this);
}

void Waiter::forget() noexcept {
  home_->extension().waiters.remove(*this);
  home_ = nullptr;
}

void Waiter::resume() {
  Run* run = run_;
  forget();
  Worker& worker = *this_worker;
  Run* outer = std::exchange(worker.current_run, run);
  handle_.resume();
  worker.current_run = outer;
  complete_if_finished(run);
}

void WaiterList::add(Waiter& waiter) noexcept {
  waiter.previous_ = nullptr;
  waiter.next_ = first;
  if (first) first->previous_ = &waiter;
  first = &waiter;
}

void WaiterList::remove(Waiter& waiter) noexcept {
  (waiter.previous_ ? waiter.previous_->next_ : first) = waiter.next_;
  if (waiter.next_) waiter.next_->previous_ = waiter.previous_;
}

std::string WaiterList::describe() const {
  std::string all;
  for (const Waiter* waiter = first; waiter; waiter = waiter->next_) {
    all = waiter->describe() + (all.empty() ? "" : " and ") + all;
  }
  return all;
}

void WaiterList::cancel_all_of(Run* run) noexcept {
  // A cancelled coroutine may add and remove waiters, so start over after each.
  for (Waiter* waiter = first; waiter;) {
    if (waiter->run_ == run && !waiter->is_cancelled_) {
      waiter->is_cancelled_ = true;
      waiter->cancel();
      waiter = first;
    } else {
      waiter = waiter->next_;
    }
  }
}

}  // namespace weir::internal
