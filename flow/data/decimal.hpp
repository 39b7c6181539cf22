#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include <weir/flow/data/data_type.hpp>
#include <weir/flow/data/int128.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::data {

/// An exact number: `coefficient / 10^scale`.
///
/// The coefficient has at most 38 digits and the scale is at most 38; whoever fills in the fields
/// sees to both. Compared by value: 1.0 is 1.00.
struct Decimal {
  Int128 coefficient = 0;
  std::uint8_t scale = 0;

  friend bool operator==(const Decimal& left, const Decimal& right) noexcept {
    return (left <=> right) == 0;
  }
  friend std::weak_ordering operator<=>(const Decimal& left, const Decimal& right) noexcept;
};

/// With as many digits behind the point as its scale says: `-0.50`.
std::string to_string(const Decimal& decimal);

/// Reads what `to_string` writes: a sign or none, digits, and a point with digits after it or none.
/// The scale is the number of those. No exponent, no spaces: anything else is
/// `Errc::invalid_value`. More than 38 digits, zeros in front not counted, are `Errc::overflow`.
Result<Decimal> parse_decimal(std::string_view text);

// Arithmetic on coefficients, for columns whose scale is known. Each takes coefficients of at most
// 38 digits and scales of at most 38, unless it says otherwise, and returns false if the result has
// more digits; `out` is then left as it was. What is rounded is rounded once, half away from zero.

inline constexpr Int128 coefficient_max = powers_of_ten[decimal_digits_max] - 1;

constexpr bool is_coefficient(Int128 number) noexcept {
  return number <= coefficient_max && number >= -coefficient_max;
}

/// Of one scale, as the result.
constexpr bool add(Int128 left, Int128 right, Int128& out) noexcept {
  // Two of them may be more than 127 bits hold.
  if (__builtin_add_overflow(left, right, &left) || !is_coefficient(left)) return false;
  out = left;
  return true;
}

/// Of one scale, as the result.
constexpr bool subtract(Int128 left, Int128 right, Int128& out) noexcept {
  return add(left, -right, out);
}

/// The scale of the result is the sum of both scales: nothing is rounded.
bool multiply(Int128 left, Int128 right, Int128& out) noexcept;

/// The same number with another scale, rounded if that is less. Takes any scales: products have up
/// to twice the digits behind the point.
bool rescale(Int128 coefficient, std::uint8_t from, std::uint8_t to, Int128& out) noexcept;

/// The quotient with scale `scale_out`, rounded. Needs `right != 0`.
bool divide(Int128 left, std::uint8_t scale_left, Int128 right, std::uint8_t scale_right,
            std::uint8_t scale_out, Int128& out) noexcept;

/// Of one scale, as the result: what a quotient without digits behind the point leaves, with the
/// sign of `left`. Needs `right != 0`.
bool remainder(Int128 left, Int128 right, Int128& out) noexcept;

/// The exact value of `number`, rounded: 0.1 is a little more than a tenth, and its 20th digit says
/// so. False also for infinity and NaN.
bool from_double(double number, std::uint8_t scale, Int128& out) noexcept;
/// The double nearest to the number, the even one of two: what reading its text would give.
double to_double(Int128 coefficient, std::uint8_t scale) noexcept;

bool from_int64(std::int64_t number, std::uint8_t scale, Int128& out) noexcept;
bool from_uint64(std::uint64_t number, std::uint8_t scale, Int128& out) noexcept;
/// Rounded to an integer; false if that is out of range.
bool to_int64(Int128 coefficient, std::uint8_t scale, std::int64_t& out) noexcept;
bool to_uint64(Int128 coefficient, std::uint8_t scale, std::uint64_t& out) noexcept;

}  // namespace weir::flow::data
