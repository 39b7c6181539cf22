#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <string>

#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/parking.hpp>
#include <weir/runtime/internal/services.hpp>
#include <weir/runtime/internal/stealing.hpp>
#include <weir/runtime/internal/timer_watch.hpp>
#include <weir/runtime/internal/worker.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::internal {

constinit thread_local Worker* this_worker = nullptr;

namespace {

// How many actors in a row may come from the slot while others wait in the queue.
constexpr std::uint32_t slot_streak_max = 64;
// How many activations may pass before a worker looks at actors that wait outside its queue, and at
// new ones: seldom, because the oldest of those spawn the largest trees.
constexpr std::uint32_t ticks_between_outside_checks = 16;
constexpr std::int64_t outside_wait_ns = 4'000'000;
// Of its time, a worker that has work of its own gives one part in so many to those outside, as
// long as there are any: about a quarter of a millisecond at a time.
constexpr std::int64_t outside_share = 16;
constexpr std::uint32_t ticks_between_fresh_checks = 256;

Cell* take_slot(Worker& worker) noexcept {
  if (!worker.slot.load(std::memory_order_relaxed)) return nullptr;
  return worker.slot.exchange(nullptr, std::memory_order_acquire);
}

// A part of both loops below, whatever their number.
[[gnu::always_inline]] inline Cell* find_own(Worker& worker) noexcept {
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

template <bool IsObserved>
void activate(Worker& worker, Cell* cell) noexcept {
  if (worker.was_idle) [[unlikely]]
    hand_over_watch(worker);
  worker.quota_left = worker.core.options.message_quota;
  cell->activate_for<IsObserved>(worker);
  worker.activations.store(worker.activations.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
}

// By the clock, not by turns: senders that wait outside must not come before the receiver that
// handles what the earlier ones sent.
template <bool IsObserved>
void run_from_outside(Worker& worker) noexcept {
  if (worker.core.injected_size.load(std::memory_order_relaxed) == 0) return;
  const std::int64_t begin = worker.core.now_ns();
  if (begin < worker.outside_next) return;
  std::int64_t spent = 0;
  while (spent < outside_wait_ns / outside_share) {
    Cell* cell = worker.core.pop_injected();
    if (!cell) break;
    activate<IsObserved>(worker, cell);
    spent = worker.core.now_ns() - begin;
  }
  if (spent == 0) return;
  worker.outside_next = begin + spent + std::max(outside_wait_ns, spent * outside_share);
}

// True if actors may have something to do now. What users post themselves may send.
bool poll_io(Worker& worker) noexcept {
  IoService* io = worker.core.io_to_poll.load(std::memory_order_acquire);
  if (!io) [[likely]]
    return false;
  const OutsideOfTraces outside(worker);
  const bool has_found = io->poll();
  end_of_handler(worker);
  return has_found;
}

// Actors that are never idle keep coming back to the queue and the slot; now and then others have
// their turn before them.
template <bool IsObserved>
void run_neglected(Worker& worker) noexcept {
  if (worker.ticks % ticks_between_outside_checks != 0) return;
  poll_io(worker);
  run_from_outside<IsObserved>(worker);
  if (worker.ticks % ticks_between_fresh_checks != 0) return;
  if (Cell* cell = worker.steal_fresh()) activate<IsObserved>(worker, cell);
}

void name_this_thread(const Worker& worker) {
  constexpr std::size_t shown = 15;  // of a thread's name, by the kernel
  const std::string number = "-" + std::to_string(worker.index);
  const std::string name = worker.core.options.name.substr(0, shown - number.size()) + number;
  pthread_setname_np(pthread_self(), name.c_str());
}

template <bool IsObserved>
void work(Worker& worker) noexcept {
  Core& core = worker.core;
  while (!core.ends.load(std::memory_order_relaxed)) {
    advance_timers_in_passing(worker);
    ++worker.ticks;
    run_neglected<IsObserved>(worker);
    Cell* cell = find_own(worker);
    if (!cell && poll_io(worker)) continue;
    if (!cell) cell = search_adaptively(worker);
    if (!cell && poll_io(worker)) continue;
    if (cell) {
      activate<IsObserved>(worker, cell);
      continue;
    }
    advance_timers(worker);
    if (worker.slot.load(std::memory_order_relaxed)) continue;
    look_at_others(worker);
    const bool was_woken = sleep(worker);
    advance_timers(worker);
    if (!was_woken) {
      advance_timers_of_stuck(worker);
      if (Cell* stuck = steal_stuck_slot(worker)) activate<IsObserved>(worker, stuck);
    }
  }
}

}  // namespace

Worker::Worker(Core& system, unsigned number, std::int64_t now_ns)
    : core(system),
      index(number),
      next_request(std::uint64_t{number} << 48),
      random_state(*system.options.seed * random_step + number + 1),
      records_spans(system.records_spans()),
      measures(system.measures()),
      is_observed(records_spans || measures),
      outside_trace(records_spans ? undecided : unsampled),
      trace_random(system.trace_seed + number),
      roots_bound(records_spans ? system.options.telemetry->sampler().bound() : 0),
      roots_random(~trace_random),
      span_lane(system.new_span_lane()),
      sampler(measures ? system.options.telemetry->options().measured_one_in_max : 1,
              system.trace_seed + number),
      durations(system.new_durations()),
      timers(now_ns),
      awake_ns(measures && !system.simulation ? -now_ns : 0) {}

Worker::~Worker() {
  if (span_lane) span_lane->close();
}

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
    // Somebody must notice if this worker does not come to it soon: see parking.hpp.
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

void Core::start_threads() {
  if (workers.size() == 1) sentinel.store(0);  // there is nobody else to watch
  for (auto& worker : workers) {
    worker->is_active.store(true, std::memory_order_relaxed);
    worker_threads.emplace_back([&target = *worker] {
      this_worker = &target;
      name_this_thread(target);
      if (has_telemetry && target.is_observed) {
        work<true>(target);
      } else {
        work<false>(target);
      }
      this_worker = nullptr;
    });
  }
}

}  // namespace weir::internal
