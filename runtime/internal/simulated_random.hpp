#pragma once

#include <algorithm>
#include <cstdint>

namespace weir::internal {

/// Scatters the bits of a number over all 64.
constexpr std::uint64_t scatter(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// A probability as the number of 64-bit values below which a draw is a hit.
class Chance {
 public:
  constexpr explicit Chance(double probability) noexcept
      : hits_(probability <= 0   ? 0
              : probability >= 1 ? UINT64_MAX
                                 : static_cast<std::uint64_t>(probability * 0x1.0p64)) {}

  constexpr bool is_none() const noexcept { return hits_ == 0; }

 private:
  friend class RandomStream;
  std::uint64_t hits_;
};

/// One of several independent sequences that come from one seed.
class RandomStream {
 public:
  constexpr RandomStream(std::uint64_t seed, std::uint64_t stream) noexcept
      : state_(scatter(scatter(seed + 0x9E3779B97F4A7C15ull) + stream)) {}

  constexpr std::uint64_t next() noexcept { return scatter(state_ += 0x9E3779B97F4A7C15ull); }

  /// From 0 to `bound` - 1.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

  /// Draws nothing if there is no chance.
  constexpr bool hits(Chance chance) noexcept {
    return !chance.is_none() && next() <= chance.hits_;
  }

 private:
  std::uint64_t state_;
};

}  // namespace weir::internal
