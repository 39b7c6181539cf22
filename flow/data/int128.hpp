#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace weir::flow::data {

/// Integers of 128 bits, which clang and gcc have beyond the standard: a library's traits may not
/// know them, so prefer what is here over `std::numeric_limits` and `std::to_string`.
__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

/// In decimal.
std::string to_string(Int128 number);

/// Its absolute value, also of the least number, which has none among `Int128`.
constexpr UInt128 magnitude(Int128 number) noexcept {
  const auto bits = static_cast<UInt128>(number);
  return number < 0 ? UInt128{0} - bits : bits;
}

/// `powers_of_ten[n]` is 10^n, up to 10^38, the greatest that fits.
inline constexpr std::array<Int128, 39> powers_of_ten = [] {
  std::array<Int128, 39> powers{};
  powers[0] = 1;
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

}  // namespace weir::flow::data
