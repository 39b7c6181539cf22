#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include <weir/runtime/result.hpp>

namespace weir::flow::data {

/// An id of 16 bytes, in the order in which they are written; of any version.
struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  static auto weir_fields(auto& self) { return std::tie(self.bytes); }
  friend bool operator==(const Uuid&, const Uuid&) noexcept = default;
  friend std::strong_ordering operator<=>(const Uuid&, const Uuid&) noexcept = default;
};

/// Reads the canonical form, `123e4567-e89b-12d3-a456-426614174000`, in either case. No braces, no
/// prefix, no spaces: anything else is `Errc::invalid_value`.
Result<Uuid> parse_uuid(std::string_view text);

/// The canonical form, in lower case.
std::string to_string(const Uuid& uuid);

}  // namespace weir::flow::data
