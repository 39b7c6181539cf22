#pragma once

#include <compare>
#include <cstdint>
#include <string_view>  // std::hash

namespace weir {

/// Identifies one actor for the life of the process; never reused.
struct ActorId {
  std::uint64_t value = 0;

  friend auto operator<=>(const ActorId&, const ActorId&) = default;
};

}  // namespace weir

template <>
struct std::hash<weir::ActorId> {
  std::size_t operator()(weir::ActorId id) const noexcept {
    return static_cast<std::size_t>(id.value * 0x9E3779B97F4A7C15ull);
  }
};
