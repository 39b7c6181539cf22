#include <weir/runtime/internal/stealing.hpp>

#include <algorithm>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/parking.hpp>

namespace weir::internal {
namespace {

// How often a worker looks around before it sleeps: up to tens of microseconds, about what sleeping
// and waking would cost; less and less if it keeps looking in vain.
constexpr int search_rounds_max = 1000;
constexpr int search_rounds_min = 30;
// A thief takes from another worker's slot when that worker has been inside one activation for so
// many rounds of looking.
constexpr int patience_rounds = 40;

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

}  // namespace

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

Cell* search_adaptively(Worker& worker) noexcept {
  worker.was_idle = true;
  Cell* found = search(worker, worker.search_rounds);
  const int next = found ? worker.search_rounds * 4 : worker.search_rounds / 2;
  worker.search_rounds = std::clamp(next, search_rounds_min, search_rounds_max);
  return found;
}

}  // namespace weir::internal
