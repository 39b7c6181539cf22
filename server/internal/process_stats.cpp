#include <weir/server/internal/process_stats.hpp>

#include <cstdio>
#include <ctime>

#include <unistd.h>

namespace weir::server::internal {

ProcessStats process_stats() noexcept {
  ProcessStats stats;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    unsigned long long pages = 0;
    if (std::fscanf(file, "%*u %llu", &pages) == 1)
      stats.resident_bytes = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::fclose(file);
  }
  std::timespec used{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0) {
    stats.cpu_seconds = static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
  }
  return stats;
}

}  // namespace weir::server::internal
