#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include <weir/runtime/internal/timer_entry.hpp>

namespace weir::internal {

struct Cell;

/// The phase an actor is in, as others may read it.
struct PhaseRecord {
  const std::string_view* names = nullptr;  // one per phase
  std::atomic<std::uint32_t> current{0};
  std::atomic<std::int64_t> entered_ns{0};

  std::string_view current_name() const noexcept {
    return names[current.load(std::memory_order_relaxed)];
  }
};

}  // namespace weir::internal
