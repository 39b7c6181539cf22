#include <weir/flow/data/internal/wide.hpp>

#include <bit>
#include <cstdint>

namespace weir::flow::data::internal {
namespace {

constexpr UInt128 digit = UInt128{1} << 64;

// Divides three digits, `rest` and `next`, by two: one digit of a schoolbook division. Needs a
// divisor whose highest bit is set, and `rest` below it. The guess from the leading digits is then
// at most two too high (Knuth, The Art of Computer Programming, 4.3.1, theorem B).
Quotient divide_digit(UInt128 rest, UInt128 next, UInt128 divisor) noexcept {
  UInt128 guess = rest / high_digit(divisor);
  UInt128 left = rest % high_digit(divisor);
  while (guess * low_digit(divisor) > (left << 64 | next)) {
    --guess;
    left += high_digit(divisor);
    if (left >= digit) break;
  }
  return {guess, (rest << 64 | next) - guess * divisor};
}

}  // namespace

Quotient divide_wide(Wide number, UInt128 divisor) noexcept {
  if (number.high == 0) return {number.low / divisor, number.low % divisor};
  const unsigned shift = 128 - bit_width(divisor);
  const UInt128 scaled = divisor << shift;
  number = shift_left(number, shift);
  const Quotient high = divide_digit(number.high, high_digit(number.low), scaled);
  const Quotient low = divide_digit(high.remainder, low_digit(number.low), scaled);
  return {high.quotient << 64 | low.quotient, low.remainder >> shift};
}

Wide shift_left(Wide number, unsigned bits) noexcept {
  if (bits == 0) return number;
  if (bits >= 128) return {number.low << (bits - 128), 0};
  return {number.high << bits | number.low >> (128 - bits), number.low << bits};
}

Wide shift_right(Wide number, unsigned bits) noexcept {
  if (bits == 0) return number;
  if (bits >= 128) return {0, number.high >> (bits - 128)};
  return {number.high >> bits, number.low >> bits | number.high << (128 - bits)};
}

unsigned bit_width(UInt128 number) noexcept {
  const auto high = static_cast<std::uint64_t>(number >> 64);
  const auto low = static_cast<std::uint64_t>(number);
  return static_cast<unsigned>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(low));
}

}  // namespace weir::flow::data::internal
