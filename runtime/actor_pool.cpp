#include <weir/runtime/actor_pool.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/waiter.hpp>

namespace weir {

std::size_t next_pool_size(const PoolLimits& limits, std::size_t size,
                           std::uint64_t waiting) noexcept {
  std::size_t next = size;
  if (waiting > size * std::uint64_t{limits.depth}) {
    next = std::min<std::size_t>((waiting + limits.depth - 1) / limits.depth, size * 2);
  } else if (size > 1 && waiting * 2 < (size - 1) * std::uint64_t{limits.depth}) {
    next = size - 1;
  }
  return std::clamp(next, limits.min, limits.max);
}

namespace internal {

void check_pool(std::string_view worker_type, std::size_t size,
                const std::optional<PoolLimits>& limits) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("pool of " + std::string(worker_type) + ": " + why);
  };
  if (size == 0) refuse("its size is 0, so no message could ever be accepted");
  if (!limits) return;
  if (limits->min == 0) refuse("its smallest size is 0");
  if (size < limits->min || size > limits->max) {
    refuse("its size " + std::to_string(size) + " is not within its limits " +
           std::to_string(limits->min) + " to " + std::to_string(limits->max));
  }
  if (limits->depth == 0) refuse("its limits allow a depth of 0, which no worker can keep");
  if (limits->every <= Duration::zero()) refuse("it looks at its workers every 0 ns");
}

void report_missing_worker(std::string_view worker_type, const char* reason) noexcept {
  const Cell& pool = *current_cell();
  pool.core->report_failure(pool,
                            "a " + std::string(worker_type) + " could not be started: " + reason);
}

Cell& parent_for_pool() {
  Cell* parent = cell_under_construction() ? cell_under_construction() : current_cell();
  if (!parent) throw std::logic_error("weir: spawn_pool outside an actor needs a system");
  return *parent;
}

}  // namespace internal
}  // namespace weir
