#pragma once

#include <cstdint>

#include <weir/flow/data/int128.hpp>
#include <weir/tests/storage/support/arbitrary.hpp>

// Random numbers, many of them where arithmetic has its edges.
namespace weir::flow::data::testing {

using storage::testing::arbitrary;
using storage::testing::Random;

/// Of any number of bits, often with runs of ones or zeros.
inline UInt128 arbitrary_bits(Random& random) {
  const UInt128 high = arbitrary<std::uint64_t>(random);
  const UInt128 bits = high << 64u | arbitrary<std::uint64_t>(random);
  return random.one_in(2) ? bits >> random.below(128) : bits;
}

/// Of up to 38 digits: any, or near a power of ten or half of one, where rounding decides.
inline Int128 arbitrary_coefficient(Random& random) {
  const Int128 bound = powers_of_ten[random.one_in(3) ? 38 : random.below(39)];
  const auto any = static_cast<Int128>(arbitrary_bits(random) % static_cast<UInt128>(bound));
  const Int128 near = bound - 1 - static_cast<Int128>(random.below(3));
  Int128 number = any;
  if (random.one_in(4)) number = near < 0 ? 0 : near;
  if (random.one_in(6)) number = bound / 2 + static_cast<Int128>(random.below(3)) - 1;
  if (random.one_in(8)) number = static_cast<Int128>(random.below(4));
  return random.one_in(2) ? number : -number;
}

}  // namespace weir::flow::data::testing
