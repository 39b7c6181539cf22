#include <weir/flow/data/decimal.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/data/internal/quoted.hpp>
#include <weir/flow/data/internal/wide.hpp>

namespace weir::flow::data {
namespace {

using internal::Quotient;
using internal::Wide;

constexpr UInt128 power(unsigned exponent) noexcept {
  return static_cast<UInt128>(powers_of_ten[exponent]);
}

// Stores a number by its sign and magnitude.
bool store(bool is_negative, UInt128 magnitude, Int128& out) noexcept {
  if (magnitude > static_cast<UInt128>(coefficient_max)) return false;
  const auto number = static_cast<Int128>(magnitude);
  out = is_negative ? -number : number;
  return true;
}

constexpr bool rounds_up(UInt128 remainder, UInt128 divisor) noexcept {
  return remainder >= divisor - remainder;
}

UInt128 divide_rounded(UInt128 number, UInt128 divisor) noexcept {
  return number / divisor + (rounds_up(number % divisor, divisor) ? 1 : 0);
}

// `left * 10^exponent / right`, rounded; false if it has more than 128 bits.
bool divide_up(UInt128 left, unsigned exponent, UInt128 right, UInt128& out) noexcept {
  // 256 bits hold the product with 10^38; the digits beyond are those of the remainder.
  const unsigned first = std::min<unsigned>(exponent, decimal_digits_max);
  const unsigned second = exponent - first;
  if (second > decimal_digits_max) return false;
  const Wide product = internal::multiply_wide(left, power(first));
  if (product.high >= right) return false;
  const Quotient front = internal::divide_wide(product, right);
  const Wide shifted = internal::multiply_wide(front.quotient, power(second));
  if (shifted.high != 0) return false;
  const Quotient back =
      internal::divide_wide(internal::multiply_wide(front.remainder, power(second)), right);
  const UInt128 last = back.quotient + (rounds_up(back.remainder, right) ? 1 : 0);
  return !__builtin_add_overflow(shifted.low, last, &out);
}

// `left / (right * 10^exponent)`, rounded.
UInt128 divide_down(UInt128 left, unsigned exponent, UInt128 right) noexcept {
  if (exponent > decimal_digits_max) return 0;
  const Wide divisor = internal::multiply_wide(right, power(exponent));
  // `left` has at most 127 bits, so that the quotient is less than a half.
  if (divisor.high != 0) return 0;
  return divide_rounded(left, divisor.low);
}

// `number / 2^bits`, rounded; false if it has more than 127 bits. Needs `bits > 0`.
bool halve_rounded(Wide number, unsigned bits, UInt128& out) noexcept {
  const Wide twice = bits <= 256 ? internal::shift_right(number, bits - 1) : Wide{};
  out = twice.low / 2 + twice.low % 2;
  return twice.high == 0;
}

Error malformed(std::string_view text) {
  return {Errc::invalid_value,
          "decimal " + internal::quoted(text) + ": expected digits, as in -12.50"};
}

Error too_long(std::string_view text) {
  return {Errc::overflow, "decimal " + internal::quoted(text) + ": more than 38 digits"};
}

bool are_digits(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Appends `digits` to a coefficient; false if there are too many.
bool append_digits(std::string_view digits, Int128& coefficient) noexcept {
  for (const char digit : digits) {
    if (coefficient > coefficient_max / 10) return false;
    coefficient = coefficient * 10 + (digit - '0');
  }
  return true;
}

}  // namespace

std::weak_ordering operator<=>(const Decimal& left, const Decimal& right) noexcept {
  if (left.scale > right.scale) return 0 <=> (right <=> left);
  Int128 scaled = 0;
  // What cannot have the scale of `right` is farther from zero than all that can.
  if (!rescale(left.coefficient, left.scale, right.scale, scaled)) {
    return left.coefficient < 0 ? std::weak_ordering::less : std::weak_ordering::greater;
  }
  if (scaled == right.coefficient) return std::weak_ordering::equivalent;
  return scaled < right.coefficient ? std::weak_ordering::less : std::weak_ordering::greater;
}

std::string to_string(const Decimal& decimal) {
  std::string digits = to_string(decimal.coefficient);
  if (decimal.scale == 0) return digits;
  const std::size_t sign = decimal.coefficient < 0 ? 1 : 0;
  const std::size_t digits_min = std::size_t{decimal.scale} + 1;
  if (digits.size() - sign < digits_min)
    digits.insert(sign, digits_min + sign - digits.size(), '0');
  digits.insert(digits.size() - decimal.scale, 1, '.');
  return digits;
}

Result<Decimal> parse_decimal(std::string_view text) {
  std::string_view digits = text;
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
  const std::size_t point = digits.find('.');
  const std::string_view whole = digits.substr(0, point);
  std::string_view fraction;
  if (!are_digits(whole)) return malformed(text);
  if (point != std::string_view::npos) {
    fraction = digits.substr(point + 1);
    if (!are_digits(fraction)) return malformed(text);
  }
  Int128 coefficient = 0;
  if (fraction.size() > decimal_digits_max || !append_digits(whole, coefficient) ||
      !append_digits(fraction, coefficient)) {
    return too_long(text);
  }
  return Decimal{is_negative ? -coefficient : coefficient,
                 static_cast<std::uint8_t>(fraction.size())};
}

bool multiply(Int128 left, Int128 right, Int128& out) noexcept {
  const Wide product = internal::multiply_wide(magnitude(left), magnitude(right));
  return product.high == 0 && store((left < 0) != (right < 0), product.low, out);
}

bool rescale(Int128 coefficient, std::uint8_t from, std::uint8_t to, Int128& out) noexcept {
  const int digits = int{to} - int{from};
  if (coefficient == 0 || digits < -int{decimal_digits_max}) return store(false, 0, out);
  if (digits > int{decimal_digits_max}) return false;
  if (digits >= 0) return multiply(coefficient, powers_of_ten[static_cast<unsigned>(digits)], out);
  const UInt128 divisor = power(static_cast<unsigned>(-digits));
  return store(coefficient < 0, divide_rounded(magnitude(coefficient), divisor), out);
}

bool divide(Int128 left, std::uint8_t scale_left, Int128 right, std::uint8_t scale_right,
            std::uint8_t scale_out, Int128& out) noexcept {
  if (left == 0) return store(false, 0, out);
  const int exponent = int{scale_out} + int{scale_right} - int{scale_left};
  UInt128 quotient = 0;
  if (exponent < 0) {
    quotient = divide_down(magnitude(left), static_cast<unsigned>(-exponent), magnitude(right));
  } else if (!divide_up(magnitude(left), static_cast<unsigned>(exponent), magnitude(right),
                        quotient)) {
    return false;
  }
  return store((left < 0) != (right < 0), quotient, out);
}

bool remainder(Int128 left, Int128 right, Int128& out) noexcept {
  out = left % right;
  return true;
}

bool from_double(double number, std::uint8_t scale, Int128& out) noexcept {
  if (!std::isfinite(number)) return false;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(number), &exponent);
  const auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  exponent -= 53;  // the number is digits * 2^exponent
  const Wide scaled = internal::multiply_wide(digits, power(scale));
  if (exponent < 0) {
    UInt128 rounded = 0;
    return halve_rounded(scaled, static_cast<unsigned>(-exponent), rounded) &&
           store(number < 0, rounded, out);
  }
  // From 2^128 on it has more than 38 digits; below that, 256 bits hold the product.
  if (exponent > 128 - 53) return false;
  const Wide shifted = internal::shift_left(scaled, static_cast<unsigned>(exponent));
  return shifted.high == 0 && store(number < 0, shifted.low, out);
}

double to_double(Int128 coefficient, std::uint8_t scale) noexcept {
  const UInt128 number = magnitude(coefficient);
  const UInt128 divisor = power(scale);
  // At least 65 bits of the quotient, then one that tells whether more follow: the conversion
  // rounds once, and what it cuts off has the bits it asks for.
  const unsigned bits = internal::bit_width(divisor) + 65;
  const unsigned have = internal::bit_width(number);
  const unsigned shift = bits > have ? bits - have : 0;
  const Quotient exact = internal::divide_wide(internal::shift_left({0, number}, shift), divisor);
  const UInt128 sticky = exact.quotient | (exact.remainder != 0 ? 1u : 0u);
  const double rounded = std::ldexp(static_cast<double>(sticky), -static_cast<int>(shift));
  return coefficient < 0 ? -rounded : rounded;
}

bool from_int64(std::int64_t number, std::uint8_t scale, Int128& out) noexcept {
  return rescale(number, 0, scale, out);
}

bool from_uint64(std::uint64_t number, std::uint8_t scale, Int128& out) noexcept {
  return rescale(static_cast<Int128>(number), 0, scale, out);
}

bool to_int64(Int128 coefficient, std::uint8_t scale, std::int64_t& out) noexcept {
  using Limits = std::numeric_limits<std::int64_t>;
  Int128 whole = 0;
  if (!rescale(coefficient, scale, 0, whole)) return false;
  if (whole < Limits::min() || whole > Limits::max()) return false;
  out = static_cast<std::int64_t>(whole);
  return true;
}

bool to_uint64(Int128 coefficient, std::uint8_t scale, std::uint64_t& out) noexcept {
  Int128 whole = 0;
  if (!rescale(coefficient, scale, 0, whole)) return false;
  if (whole < 0 || whole > std::numeric_limits<std::uint64_t>::max()) return false;
  out = static_cast<std::uint64_t>(whole);
  return true;
}

}  // namespace weir::flow::data
