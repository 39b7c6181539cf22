#include <weir/runtime/internal/waiter.hpp>

#include <weir/runtime/check.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/worker.hpp>

namespace weir::internal {
namespace {

std::uintptr_t entry_of(Signal& signal) noexcept {
  return reinterpret_cast<std::uintptr_t>(static_cast<Link*>(&signal)) | Cell::signal_tag;
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
  // Still in the lane: take everything out, and put the rest back.
  std::uintptr_t rest = home.control.exchange(Cell::empty, std::memory_order_seq_cst);
  check(rest != Cell::control_terminated, "a signal is withdrawn while its actor lives");
  if (rest == Cell::waiting) rest = Cell::empty;
  check(remove_from(rest, wanted), "a sent signal is in its actor's control lane");
  home.return_control(rest);
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
  is_cancelled_ = false;
  is_shielded_ = run_ && run_->shields > 0;
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
  const std::uintptr_t outer_trace = worker.trace;
  enter_trace(worker, run ? run->trace : worker.outside_trace);
  handle_.resume();
  const std::uintptr_t trace = worker.trace;
  enter_trace(worker, outer_trace);
  if (run) run->trace = trace;
  worker.current_run = outer;
  complete_if_finished(run);
}

void WaiterList::add(Waiter& waiter) noexcept {
  ++changes;
  waiter.previous_ = nullptr;
  waiter.next_ = first;
  if (first) first->previous_ = &waiter;
  first = &waiter;
}

void WaiterList::remove(Waiter& waiter) noexcept {
  ++changes;
  (waiter.previous_ ? waiter.previous_->next_ : first) = waiter.next_;
  if (waiter.next_) waiter.next_->previous_ = waiter.previous_;
}

std::string WaiterList::describe() const {
  std::string all;
  for (const Waiter* waiter = first; waiter; waiter = waiter->next_) {
    if (!all.empty()) all.insert(0, " and ");
    all.insert(0, waiter->describe());
  }
  return all;
}

void WaiterList::cancel_marked() noexcept {
  for (Waiter* waiter = first; waiter;) {
    const bool is_due = waiter->run_ && waiter->run_->is_cancelled && !waiter->is_shielded_ &&
                        !waiter->is_cancelled_;
    if (!is_due) {
      waiter = waiter->next_;
      continue;
    }
    waiter->is_cancelled_ = true;
    const std::uint32_t before = changes;
    Waiter* next = waiter->next_;
    waiter->cancel();
    // A coroutine that was resumed may have added and removed waiters: then start over.
    waiter = changes == before ? next : first;
  }
}

}  // namespace weir::internal
