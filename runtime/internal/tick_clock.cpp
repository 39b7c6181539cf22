#include <weir/runtime/internal/tick_clock.hpp>

#include <chrono>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weir::internal {

bool ProcessorTicks::are_steady() noexcept {
#if defined(__x86_64__)
  constexpr unsigned advanced_power_management = 0x80000007;
  constexpr unsigned is_invariant = 1U << 8;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(advanced_power_management, &a, &b, &c, &d) != 0 && (d & is_invariant) != 0;
#else
  return false;
#endif
}

std::int64_t ProcessorTicks::now_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

}  // namespace weir::internal
