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

Cell* steal_slot(Worker& victim) noexcept {
  Cell* cell = victim.slot.load(std::memory_order_relaxed);
  if (!cell) return nullptr;
  return victim.slot.compare_exchange_strong(cell, nullptr, std::memory_order_acquire) ? cell
                                                                                       : nullptr;
}

// From each worker that has been inside one activation for long enough, whatever the others do.
Cell* steal_from_slow(Worker& worker, int round) noexcept {
  for (auto& victim : worker.core.workers) {
    if (victim.get() == &worker) continue;
    Worker::Sighting& seen = worker.sightings[victim->index];
    const std::uint64_t now = victim->activations.load(std::memory_order_relaxed);
    if (now != seen.activations) {
      seen = {now, round};
    } else if (round - seen.round > patience_rounds) {
      if (Cell* cell = steal_slot(*victim)) return cell;
    }
  }
  return nullptr;
}

Cell* search(Worker& worker, int rounds) noexcept {
  Core& core = worker.core;
  core.searching.fetch_add(1, std::memory_order_seq_cst);
  Cell* found = nullptr;
  look_at_others(worker);
  for (int round = 0; round < rounds && !found; ++round) {
    relax_cpu();
    found = steal(worker);
    if (found || core.ends.load(std::memory_order_relaxed)) break;
    found = steal_from_slow(worker, round);
  }
  core.searching.fetch_sub(1, std::memory_order_seq_cst);
  return found;
}

}  // namespace

void look_at_others(Worker& worker) noexcept {
  for (auto& other : worker.core.workers) {
    worker.sightings[other->index] = {other->activations.load(std::memory_order_relaxed), 0};
  }
}

bool is_stuck(const Worker& worker, const Worker& other) noexcept {
  return &other != &worker && other.activations.load(std::memory_order_relaxed) ==
                                  worker.sightings[other.index].activations;
}

Cell* steal_stuck_slot(Worker& worker) noexcept {
  for (auto& victim : worker.core.workers) {
    if (!is_stuck(worker, *victim)) continue;
    if (Cell* cell = steal_slot(*victim)) return cell;
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
