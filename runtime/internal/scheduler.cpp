#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <mutex>
#include <string>
#include <utility>

#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/worker.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::internal {

constinit thread_local Worker* this_worker = nullptr;

namespace {

// How often a worker looks around before it sleeps: up to tens of microseconds, about what sleeping
// and waking would cost; less and less if it keeps looking in vain.
constexpr int search_rounds_max = 1000;
constexpr int search_rounds_min = 30;
// A thief takes from another worker's slot when that worker has been inside one activation for so
// many rounds of looking.
constexpr int patience_rounds = 40;
// How many actors in a row may come from the slot while others wait in the queue.
constexpr std::uint32_t slot_streak_max = 64;
// While others are busy, one sleeper looks every so often whether something is stuck behind them.
constexpr std::int64_t sentinel_ns = 1'000'000;
// A sleeper looks after the timers of its neighbour, which may be stuck in a long handler, this
// long after they were due.
constexpr std::int64_t watch_delay_ns = 2'000'000;
// How many activations may pass before a worker that is never idle looks at its timers; fewer when
// they take long.
constexpr std::uint32_t ticks_between_timer_checks = 64;
constexpr std::int64_t timer_check_ns_max = 500'000;
// The same for actors that wait outside its queue, and for new ones: seldom, because the oldest of
// those spawn the largest trees.
constexpr std::uint32_t ticks_between_outside_checks = 16;
constexpr std::int64_t outside_wait_ns = 4'000'000;
// Of its time, a worker that has work of its own gives at most one part in so many to those.
constexpr std::int64_t outside_share = 16;
constexpr std::uint32_t ticks_between_fresh_checks = 256;

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value, std::int64_t ns) noexcept {
  timespec timeout{ns / 1'000'000'000, ns % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, ns == TimerWheel::never ? nullptr : &timeout,
          nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

bool register_for_fences() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void impose_fence_on_all_threads() noexcept {
  static const bool is_registered = register_for_fences();
  if (is_registered) {
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  }
}

Cell* take_slot(Worker& worker) noexcept {
  if (!worker.slot.load(std::memory_order_relaxed)) return nullptr;
  return worker.slot.exchange(nullptr, std::memory_order_acquire);
}

Cell* find_own(Worker& worker) noexcept {
  if (worker.slot_streak < slot_streak_max) {
    if (Cell* cell = take_slot(worker)) {
      ++worker.slot_streak;
      return cell;
    }
  }
  worker.slot_streak = 0;
  if (Cell* cell = worker.pop_queue()) return cell;
  if (Cell* cell = take_slot(worker)) return cell;
  if (Cell* cell = worker.pop_fresh()) return cell;
  return worker.core.pop_injected();
}

bool has_work_anywhere(Core& core) noexcept {
  if (core.injected_size.load(std::memory_order_seq_cst) > 0) return true;
  for (auto& worker : core.workers) {
    if (worker->queue_size.load(std::memory_order_seq_cst) > 0) return true;
    if (worker->fresh_size.load(std::memory_order_seq_cst) > 0) return true;
  }
  return false;
}

bool is_any_slot_full(Worker& worker) noexcept {
  return std::any_of(
      worker.core.workers.begin(), worker.core.workers.end(), [&](const auto& other) {
        return other.get() != &worker && other->slot.load(std::memory_order_seq_cst) != nullptr;
      });
}

// An idle worker has found something to do. Whoever gave out more while this one was searching, or
// filled a slot while it was the sentinel, woke nobody: somebody else must now look after that.
void hand_over_watch(Worker& worker) noexcept {
  const bool was_sentinel = std::exchange(worker.was_sentinel, false);
  worker.was_idle = false;
  Core& core = worker.core;
  if (core.sleepers.load(std::memory_order_seq_cst) == 0) return;
  // Filling a slot is not followed by a fence; so whoever saw a sentinel has one imposed on it
  // here.
  if (was_sentinel) impose_fence_on_all_threads();
  const bool is_unwatched = core.sentinel.load(std::memory_order_seq_cst) < 0;
  if (has_work_anywhere(core) || (is_unwatched && is_any_slot_full(worker))) core.wake_if_needed();
}

void activate(Worker& worker, Cell* cell) noexcept {
  if (worker.was_idle) [[unlikely]]
    hand_over_watch(worker);
  worker.quota_left = worker.core.options.message_quota;
  cell->activate(worker);
  worker.activations.store(worker.activations.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
}

// By the clock, not by turns: senders that wait outside must not come before the receiver that
// handles what the earlier ones sent.
void run_from_outside(Worker& worker) noexcept {
  if (worker.core.injected_size.load(std::memory_order_relaxed) == 0) return;
  const std::int64_t begin = worker.core.now_ns();
  if (begin < worker.outside_next) return;
  Cell* cell = worker.core.pop_injected();
  if (!cell) return;
  activate(worker, cell);
  const std::int64_t end = worker.core.now_ns();
  worker.outside_next = end + std::max(outside_wait_ns, (end - begin) * outside_share);
}

// Actors that are never idle keep coming back to the queue and the slot; now and then others have
// their turn before them.
void run_neglected(Worker& worker) noexcept {
  if (worker.ticks % ticks_between_outside_checks != 0) return;
  run_from_outside(worker);
  if (worker.ticks % ticks_between_fresh_checks != 0) return;
  if (Cell* cell = worker.steal_fresh()) activate(worker, cell);
}

Cell* steal_from(Worker& victim) noexcept {
  if (Cell* cell = victim.pop_queue()) return cell;
  return victim.steal_fresh();
}

Cell* steal(Worker& worker) noexcept {
  const std::size_t count = worker.core.workers.size();
  for (std::size_t i = 1; i < count; ++i) {
    if (Cell* cell = steal_from(*worker.core.workers[(worker.index + i) % count])) return cell;
  }
  return worker.core.pop_injected();
}

// Takes what waits in the slot of a worker that does not come to it.
Cell* steal_stuck_slot(Worker& worker) noexcept {
  for (auto& victim : worker.core.workers) {
    if (victim.get() == &worker) continue;
    Cell* cell = victim->slot.load(std::memory_order_relaxed);
    if (cell && victim->slot.compare_exchange_strong(cell, nullptr, std::memory_order_acquire)) {
      return cell;
    }
  }
  return nullptr;
}

std::uint64_t total_activations(Worker& worker) noexcept {
  std::uint64_t sum = 0;
  for (auto& other : worker.core.workers) {
    if (other.get() != &worker) sum += other->activations.load(std::memory_order_relaxed);
  }
  return sum;
}

Cell* search(Worker& worker, int rounds) noexcept {
  Core& core = worker.core;
  core.searching.fetch_add(1, std::memory_order_seq_cst);
  Cell* found = nullptr;
  std::uint64_t seen = total_activations(worker);
  int same = 0;
  for (int round = 0; round < rounds && !found; ++round) {
    relax_cpu();
    found = steal(worker);
    if (found || core.ends.load(std::memory_order_relaxed)) break;
    const std::uint64_t now = total_activations(worker);
    same = now == seen ? same + 1 : 0;
    seen = now;
    if (same > patience_rounds) found = steal_stuck_slot(worker);
  }
  core.searching.fetch_sub(1, std::memory_order_seq_cst);
  return found;
}

Worker* watched_by(Worker& worker) noexcept {
  const std::size_t count = worker.core.workers.size();
  return count == 1 ? nullptr : worker.core.workers[(worker.index + 1) % count].get();
}

// When this worker must look after its own timers or, somewhat later, its neighbour's.
std::int64_t next_timer_due(Worker& worker, std::int64_t now) noexcept {
  const std::int64_t own = worker.timers.next_due();
  Worker* watched = watched_by(worker);
  if (!watched) return own;
  // A timer that is armed from now on wakes this worker; earlier ones are seen below.
  watched->watched_since.store(now, std::memory_order_relaxed);
  watched->watched_until.store(TimerWheel::never, std::memory_order_seq_cst);
  const std::int64_t theirs = saturating_sum(watched->timers.next_due(), watch_delay_ns);
  const std::int64_t due = std::min(own, theirs);
  watched->watched_until.store(due, std::memory_order_seq_cst);
  return due;
}

// How long this worker may sleep.
std::int64_t sleep_time(Worker& worker, bool is_sentinel) noexcept {
  const std::int64_t now = worker.core.now_ns();
  const std::int64_t due = next_timer_due(worker, now);
  const std::int64_t wait = due == TimerWheel::never ? due : std::max<std::int64_t>(due - now, 1);
  return is_sentinel ? std::min(wait, sentinel_ns) : wait;
}

bool others_are_active(Worker& worker) noexcept {
  for (auto& other : worker.core.workers) {
    if (other.get() != &worker && other->is_active.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

// Sleeps until woken, until a timer is due or, for the sentinel, for a moment. The flag is up
// before the last look at the queues, and whoever adds work looks for the flag afterwards. True if
// woken.
bool sleep(Worker& worker) noexcept {
  Core& core = worker.core;
  worker.is_active.store(false, std::memory_order_seq_cst);
  worker.parked.store(1, std::memory_order_seq_cst);
  core.sleepers.fetch_add(1, std::memory_order_seq_cst);
  int nobody = -1;
  const bool is_sentinel = others_are_active(worker) && core.sentinel.compare_exchange_strong(
                                                            nobody, static_cast<int>(worker.index));
  if (!has_work_anywhere(core) && !core.ends.load(std::memory_order_seq_cst)) {
    futex_wait(worker.parked, 1, sleep_time(worker, is_sentinel));
  }
  worker.was_idle = true;
  if (is_sentinel) {
    worker.was_sentinel = true;
    core.sentinel.store(-1, std::memory_order_seq_cst);
  }
  if (Worker* watched = watched_by(worker)) {
    watched->watched_until.store(INT64_MIN, std::memory_order_relaxed);
  }
  std::uint32_t expected = 1;
  const bool woke_alone =
      worker.parked.compare_exchange_strong(expected, 0, std::memory_order_seq_cst);
  if (woke_alone) core.sleepers.fetch_sub(1, std::memory_order_seq_cst);
  worker.is_active.store(true, std::memory_order_seq_cst);
  return !woke_alone;
}

void advance_timers(Worker& worker) noexcept {
  if (!worker.timers.is_empty()) worker.timers.advance(worker.core.now_ns());
}

// For a worker that is never idle.
void advance_timers_in_passing(Worker& worker) noexcept {
  if (--worker.until_timer_check > 0) return;
  if (!worker.timers.is_empty()) {
    const std::int64_t now = worker.core.now_ns();
    const bool is_late = now - std::exchange(worker.timers_checked, now) > timer_check_ns_max;
    worker.timer_check_every =
        is_late ? std::max(worker.timer_check_every / 4, 1u)
                : std::min(worker.timer_check_every * 2, ticks_between_timer_checks);
    worker.timers.advance(now);
  }
  worker.until_timer_check = worker.timer_check_every;
}

// The timers of workers that are stuck in a long handler.
void advance_timers_of_others(Worker& worker) noexcept {
  const std::int64_t now = worker.core.now_ns();
  for (auto& other : worker.core.workers) {
    if (other.get() != &worker && !other->timers.is_empty()) other->timers.try_advance(now);
  }
}

// Looks for work elsewhere, for longer if that was worth while the last time.
Cell* search_adaptively(Worker& worker) noexcept {
  worker.was_idle = true;
  Cell* found = search(worker, worker.search_rounds);
  const int next = found ? worker.search_rounds * 4 : worker.search_rounds / 2;
  worker.search_rounds = std::clamp(next, search_rounds_min, search_rounds_max);
  return found;
}

void name_this_thread(const Worker& worker) {
  constexpr std::size_t shown = 15;  // of a thread's name, by the kernel
  const std::string number = "-" + std::to_string(worker.index);
  const std::string name = worker.core.options.name.substr(0, shown - number.size()) + number;
  pthread_setname_np(pthread_self(), name.c_str());
}

void work(Worker& worker) noexcept {
  Core& core = worker.core;
  while (!core.ends.load(std::memory_order_relaxed)) {
    advance_timers_in_passing(worker);
    ++worker.ticks;
    run_neglected(worker);
    Cell* cell = find_own(worker);
    if (!cell) cell = search_adaptively(worker);
    if (cell) {
      activate(worker, cell);
      continue;
    }
    advance_timers(worker);
    if (worker.slot.load(std::memory_order_relaxed)) continue;
    const std::uint64_t before = total_activations(worker);
    const bool was_woken = sleep(worker);
    advance_timers(worker);
    if (!was_woken && total_activations(worker) == before) {
      advance_timers_of_others(worker);
      if (Cell* stuck = steal_stuck_slot(worker)) activate(worker, stuck);
    }
  }
}

}  // namespace

Worker::Worker(Core& system, unsigned number, std::int64_t now_ns)
    : core(system),
      index(number),
      next_request(std::uint64_t{number} << 48),
      random_state(system.options.seed * random_step + number + 1),
      records_spans(system.records_spans()),
      measures(system.measures()),
      is_observed(records_spans || measures),
      outside_trace(records_spans ? undecided : unsampled),
      trace(outside_trace),
      trace_random(system.trace_seed + number),
      sampler(measures ? system.options.telemetry->options().measured_one_in_max : 1,
              system.trace_seed + number),
      durations(system.new_durations()),
      timers(now_ns) {}

void Worker::push_queue(Cell* cell) noexcept {
  cell->next.store(0, std::memory_order_relaxed);
  std::scoped_lock hold(queue_lock);
  if (queue_last) {
    queue_last->next.store(reinterpret_cast<std::uintptr_t>(cell), std::memory_order_relaxed);
  } else {
    queue_first = cell;
  }
  queue_last = cell;
  queue_size.fetch_add(1, std::memory_order_seq_cst);
}

Cell* Worker::pop_queue() noexcept {
  if (queue_size.load(std::memory_order_relaxed) == 0) return nullptr;
  std::scoped_lock hold(queue_lock);
  Cell* cell = queue_first;
  if (!cell) return nullptr;
  queue_first = reinterpret_cast<Cell*>(cell->next.load(std::memory_order_relaxed));
  if (!queue_first) queue_last = nullptr;
  queue_size.store(queue_size.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  return cell;
}

void Worker::push_fresh(Cell* cell) noexcept {
  std::scoped_lock hold(fresh_lock);
  fresh.push_back(cell);
  fresh_size.fetch_add(1, std::memory_order_seq_cst);
}

Cell* Worker::pop_fresh() noexcept {
  if (fresh_size.load(std::memory_order_relaxed) == 0) return nullptr;
  std::scoped_lock hold(fresh_lock);
  if (fresh.size() == fresh_begin) return nullptr;
  Cell* cell = fresh.back();
  fresh.pop_back();
  fresh_size.store(fresh_size.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  if (fresh.size() == fresh_begin) {
    fresh.clear();
    fresh_begin = 0;
  }
  return cell;
}

Cell* Worker::steal_fresh() noexcept {
  if (fresh_size.load(std::memory_order_relaxed) == 0 || !fresh_lock.try_lock()) return nullptr;
  Cell* cell = nullptr;
  if (fresh.size() > fresh_begin) {
    cell = fresh[fresh_begin++];
    fresh_size.store(fresh_size.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    if (fresh.size() == fresh_begin) {
      fresh.clear();
      fresh_begin = 0;
    }
  }
  fresh_lock.unlock();
  return cell;
}

std::uint64_t next_random(std::uint64_t& state) noexcept {
  // splitmix64
  std::uint64_t z = (state += random_step);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

std::uint64_t Worker::random() noexcept { return next_random(random_state); }

void schedule(Cell* cell) noexcept {
  Core& core = *cell->core;
  if (core.simulation) [[unlikely]] {
    core.simulation->schedule(core, cell);
    return;
  }
  Worker* worker = this_worker;
  if (!worker || &worker->core != &core) [[unlikely]] {
    core.inject(cell);
    return;
  }
  // Thieves only ever clear the slot, so filling an empty one needs no exchange.
  if (!worker->slot.load(std::memory_order_relaxed)) {
    worker->slot.store(cell, std::memory_order_release);
    // Somebody must notice if this worker does not come to it soon: see `sleep`.
    if (worker->current && core.sentinel.load(std::memory_order_relaxed) < 0) [[unlikely]] {
      std::atomic_thread_fence(std::memory_order_seq_cst);
      core.wake_if_needed();
    }
    return;
  }
  if (Cell* previous = worker->slot.exchange(cell, std::memory_order_acq_rel)) {
    worker->push_queue(previous);
    core.wake_if_needed();
  }
}

void schedule_fresh(Cell* cell) noexcept {
  Core& core = *cell->core;
  Worker* worker = this_worker;
  if (core.simulation || !worker || &worker->core != &core) {
    schedule(cell);
    return;
  }
  worker->push_fresh(cell);
  core.wake_if_needed();
}

void Core::inject(Cell* cell) noexcept {
  cell->next.store(0, std::memory_order_relaxed);
  {
    std::scoped_lock hold(injected_lock);
    if (injected_last) {
      injected_last->next.store(reinterpret_cast<std::uintptr_t>(cell), std::memory_order_relaxed);
    } else {
      injected_first = cell;
    }
    injected_last = cell;
    injected_size.fetch_add(1, std::memory_order_seq_cst);
  }
  wake_if_needed();
}

Cell* Core::pop_injected() noexcept {
  if (injected_size.load(std::memory_order_relaxed) == 0) return nullptr;
  std::scoped_lock hold(injected_lock);
  Cell* cell = injected_first;
  if (!cell) return nullptr;
  injected_first = reinterpret_cast<Cell*>(cell->next.load(std::memory_order_relaxed));
  if (!injected_first) injected_last = nullptr;
  injected_size.store(injected_size.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  return cell;
}

void Core::wake_if_needed() noexcept {
  if (sleepers.load(std::memory_order_seq_cst) > 0 &&
      searching.load(std::memory_order_seq_cst) == 0) {
    wake_one();
  }
}

bool Core::wake(Worker& worker) noexcept {
  std::uint32_t expected = 1;
  if (worker.parked.load(std::memory_order_seq_cst) != 1 ||
      !worker.parked.compare_exchange_strong(expected, 0, std::memory_order_seq_cst)) {
    return false;
  }
  sleepers.fetch_sub(1, std::memory_order_seq_cst);
  futex_wake(worker.parked);
  return true;
}

void Core::wake_one() noexcept {
  for (auto& worker : workers) {
    if (wake(*worker)) return;
  }
}

void Core::wake_watcher_before(std::int64_t due_ns) noexcept {
  const Worker& armed = *this_worker;
  const std::int64_t until = armed.watched_until.load(std::memory_order_seq_cst);
  if (until == INT64_MIN || due_ns >= until - watch_delay_ns) [[likely]]
    return;
  wake(*workers[(armed.index + workers.size() - 1) % workers.size()]);
}

void Core::start_threads() {
  if (workers.size() == 1) sentinel.store(0);  // there is nobody else to watch
  for (auto& worker : workers) {
    worker->is_active.store(true, std::memory_order_relaxed);
    worker_threads.emplace_back([&target = *worker] {
      this_worker = &target;
      name_this_thread(target);
      work(target);
      this_worker = nullptr;
    });
  }
}

void Core::join_threads() noexcept {
  ends.store(true, std::memory_order_seq_cst);
  for (std::size_t i = 0; i < workers.size(); ++i) wake_one();
  for (auto& worker : workers) {
    // A worker may be between its last look and its sleep.
    worker->parked.store(0, std::memory_order_seq_cst);
    futex_wake(worker->parked);
  }
  for (std::thread& thread : worker_threads) thread.join();
  worker_threads.clear();
}

}  // namespace weir::internal
