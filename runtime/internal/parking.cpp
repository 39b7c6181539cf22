#include <weir/runtime/internal/parking.hpp>

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/services.hpp>
#include <weir/runtime/internal/timer_watch.hpp>

namespace weir::internal {
namespace {

// While others are busy, one sleeper looks every so often whether something is stuck behind them.
constexpr std::int64_t sentinel_ns = 1'000'000;

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value, std::int64_t ns) noexcept {
  timespec timeout{ns / 1'000'000'000, ns % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, ns == TimerWheel::never ? nullptr : &timeout,
          nullptr, 0);
}

// Only for those who measure: it costs a look at the clock.
void begin_sleep(Worker& worker) noexcept {
  if (!worker.measures) return;
  const std::int64_t awake_ns = worker.awake_ns.load(std::memory_order_relaxed);
  worker.awake_ns.store(worker.core.now_ns() + awake_ns, std::memory_order_relaxed);
}

void end_sleep(Worker& worker) noexcept {
  if (!worker.measures) return;
  const std::int64_t awake_ns = worker.awake_ns.load(std::memory_order_relaxed);
  worker.awake_ns.store(awake_ns - worker.core.now_ns(), std::memory_order_relaxed);
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

// The last one to fall asleep says so.
void leave_io_to_its_thread(Worker& worker) noexcept {
  IoService* io = worker.core.io_to_poll.load(std::memory_order_seq_cst);
  if (!io) [[likely]]
    return;
  const bool is_last = std::ranges::none_of(worker.core.workers, [](const auto& other) {
    return other->is_active.load(std::memory_order_seq_cst);
  });
  if (is_last) io->hand_over();
}

}  // namespace

// Whoever gave out more while this one was searching, or filled a slot while it was the sentinel,
// woke nobody.
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

// The flag is up before the last look at the queues, and whoever adds work looks for the flag
// afterwards.
bool sleep(Worker& worker) noexcept {
  Core& core = worker.core;
  worker.is_active.store(false, std::memory_order_seq_cst);
  leave_io_to_its_thread(worker);
  worker.parked.store(1, std::memory_order_seq_cst);
  core.sleepers.fetch_add(1, std::memory_order_seq_cst);
  int nobody = -1;
  const bool is_sentinel = others_are_active(worker) && core.sentinel.compare_exchange_strong(
                                                            nobody, static_cast<int>(worker.index));
  if (!has_work_anywhere(core) && !core.ends.load(std::memory_order_seq_cst)) {
    begin_sleep(worker);
    futex_wait(worker.parked, 1, sleep_time(worker, is_sentinel));
    end_sleep(worker);
  }
  worker.was_idle = true;
  if (is_sentinel) {
    worker.was_sentinel = true;
    core.sentinel.store(-1, std::memory_order_seq_cst);
  }
  end_timer_watch(worker);
  std::uint32_t expected = 1;
  const bool woke_alone =
      worker.parked.compare_exchange_strong(expected, 0, std::memory_order_seq_cst);
  if (woke_alone) core.sleepers.fetch_sub(1, std::memory_order_seq_cst);
  worker.is_active.store(true, std::memory_order_seq_cst);
  return !woke_alone;
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
