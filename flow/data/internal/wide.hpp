#pragma once

#include <weir/flow/data/int128.hpp>

// Products of 256 bits, for quotients that are rounded once.
namespace weir::flow::data::internal {

/// `high * 2^128 + low`.
struct Wide {
  UInt128 high = 0;
  UInt128 low = 0;
};

struct Quotient {
  UInt128 quotient = 0;
  UInt128 remainder = 0;
};

// The digits of a schoolbook are of 64 bits here.
constexpr UInt128 high_digit(UInt128 number) noexcept { return number >> 64u; }
constexpr UInt128 low_digit(UInt128 number) noexcept { return number & ((UInt128{1} << 64u) - 1); }

constexpr Wide multiply_wide(UInt128 left, UInt128 right) noexcept {
  const UInt128 low = low_digit(left) * low_digit(right);
  const UInt128 cross = high_digit(left) * low_digit(right) + high_digit(low);
  const UInt128 other = low_digit(left) * high_digit(right) + low_digit(cross);
  const UInt128 high = high_digit(left) * high_digit(right);
  return {high + high_digit(cross) + high_digit(other), other << 64u | low_digit(low)};
}

/// Needs `number.high < divisor`, that is a quotient of at most 128 bits.
Quotient divide_wide(Wide number, UInt128 divisor) noexcept;

/// By less than 256 bits. What is moved out is lost.
Wide shift_left(Wide number, unsigned bits) noexcept;
Wide shift_right(Wide number, unsigned bits) noexcept;

unsigned bit_width(UInt128 number) noexcept;

}  // namespace weir::flow::data::internal
