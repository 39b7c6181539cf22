#pragma once

#include <cstdint>

namespace weir::server::internal {

/// What the operating system says about this process.
struct ProcessStats {
  std::uint64_t resident_bytes = 0;  // zero if it does not say
  double cpu_seconds = 0;
};

ProcessStats process_stats() noexcept;

}  // namespace weir::server::internal
