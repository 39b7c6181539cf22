#include <weir/runtime/introspection.hpp>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/internal/core.hpp>

namespace weir {

SystemTotals totals_of(ActorSystem& system) noexcept {
  const internal::Core& core = system.core();
  SystemTotals totals{.restarts = core.restarts.load(std::memory_order_relaxed)};
  for (const auto& worker : core.workers)
    totals.messages_handled += worker->messages.load(std::memory_order_relaxed);
  return totals;
}

std::vector<RecentDeadLetter> recent_dead_letters(ActorSystem& system) {
  return system.core().recent_dead_letters.newest(system.core().now_ns());
}

}  // namespace weir
