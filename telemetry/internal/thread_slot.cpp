#include <weir/telemetry/internal/thread_slot.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <thread>

namespace weir::telemetry::internal {
namespace {

constexpr std::size_t owned_min = 8;
constexpr std::size_t owned_max = 64;
constexpr std::size_t shared = 4;

// One bit for each owned slot that is taken. Never destroyed: threads end after static objects.
constinit std::atomic<std::uint64_t> taken{0};
constinit std::atomic<std::size_t> next_shared{0};

// Returns the slot when the thread ends. Destructors of other thread-local objects may still record
// afterwards: they find `has_ended` and share.
constinit thread_local bool has_ended = false;
struct Lease {
  Lease() noexcept {}
  ~Lease() {
    has_ended = true;
    const std::uint64_t bit = std::uint64_t{1} << owned_slot;
    owned_slot = -1;
    taken.fetch_and(~bit, std::memory_order_release);
  }
};

void return_at_end_of_thread() noexcept { static thread_local Lease lease; }

bool claim_owned() noexcept {
  std::uint64_t mask = taken.load(std::memory_order_relaxed);
  for (;;) {
    const auto free = static_cast<std::size_t>(std::countr_one(mask));
    if (free >= owned_slot_count()) return false;
    const std::uint64_t bit = std::uint64_t{1} << free;
    if (taken.compare_exchange_weak(mask, mask | bit, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      owned_slot = static_cast<int>(free);
      return_at_end_of_thread();
      return true;
    }
  }
}

}  // namespace

std::size_t owned_slot_count() noexcept {
  static const std::size_t count =
      std::clamp<std::size_t>(std::thread::hardware_concurrency() + 4, owned_min, owned_max);
  return count;
}

std::size_t slot_count() noexcept { return owned_slot_count() + shared; }

Slot claim_slot() noexcept {
  if (!has_ended && claim_owned()) return {static_cast<std::size_t>(owned_slot), true};
  static thread_local const std::size_t place =
      next_shared.fetch_add(1, std::memory_order_relaxed) % shared;
  return {owned_slot_count() + place, false};
}

}  // namespace weir::telemetry::internal
