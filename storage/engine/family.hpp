#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::storage::engine {

/// Keys of one role: each family has its own order, cache behaviour and files.
// Persisted by name: never rename, never renumber.
enum class Family : std::uint8_t {
  meta,         // what the store knows about itself
  rows,         // the newest version of every row
  history,      // versions that were replaced or removed, for older readers
  log,          // one change record per commit
  state,        // single-version state of operators
  checkpoints,  // how far consumers have come
};

inline constexpr std::size_t family_count = 6;
inline constexpr std::array<std::string_view, family_count> family_names = {
    "default", "rows", "history", "log", "state", "checkpoints"};

constexpr std::string_view to_string(Family family) noexcept {
  return family_names[static_cast<std::size_t>(family)];
}

}  // namespace weir::storage::engine
