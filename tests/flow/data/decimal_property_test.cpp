#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include <weir/flow/data/decimal.hpp>
#include <weir/tests/flow/data/support/arbitrary_number.hpp>
#include <weir/tests/flow/data/support/schoolbook.hpp>

// Decimal arithmetic against arithmetic on digits.
namespace weir::flow::data {
namespace {

using namespace testing;

constexpr int cases_tried = 5'000;
const std::string refused = "refused";

std::string digits_of(Int128 coefficient) {
  return to_string(coefficient < 0 ? -coefficient : coefficient);
}

std::string with_sign(bool is_negative, const std::string& digits) {
  return is_negative && digits != "0" ? "-" + digits : digits;
}

// A result of at most 38 digits, or the word for none.
std::string expected(bool is_negative, const std::string& digits) {
  return digits.size() > 38 ? refused : with_sign(is_negative, digits);
}

// What `compute` stores, or the word for none.
template <class Out = Int128, class Compute>
std::string actual(Compute compute) {
  Out out = 0;
  return compute(out) ? to_string(out) : refused;
}

std::string signed_sum(Int128 left, Int128 right) {
  const std::string a = digits_of(left);
  const std::string b = digits_of(right);
  if ((left < 0) == (right < 0)) return expected(left < 0, plus(a, b));
  return is_less(a, b) ? expected(right < 0, minus(b, a)) : expected(left < 0, minus(a, b));
}

std::string rescaled(Int128 number, std::size_t from, std::size_t to) {
  const std::string digits = digits_of(number);
  if (to >= from) return expected(number < 0, scaled(digits, to - from));
  return expected(number < 0, divided_rounded(digits, scaled("1", from - to)));
}

std::uint8_t arbitrary_scale(Random& random) {
  return static_cast<std::uint8_t>(random.one_in(4) ? 38 * random.below(2) : random.below(39));
}

struct Operands {
  Int128 left;
  Int128 right;
  std::uint8_t scale_left;
  std::uint8_t scale_right;
};

Operands arbitrary_operands(Random& random) {
  return {arbitrary_coefficient(random), arbitrary_coefficient(random), arbitrary_scale(random),
          arbitrary_scale(random)};
}

std::ostream& operator<<(std::ostream& out, const Operands& operands) {
  return out << to_string(operands.left) << "e-" << int{operands.scale_left} << ' '
             << to_string(operands.right) << "e-" << int{operands.scale_right};
}

TEST(DecimalProperty, SumsAndDifferencesAreThoseOfTheSchoolbook) {
  Random random;
  for (int i = 0; i < cases_tried; ++i) {
    const Operands of = arbitrary_operands(random);
    const auto [left, right] = std::pair(of.left, of.right);
    ASSERT_EQ(actual([&](auto& out) { return add(left, right, out); }), signed_sum(left, right))
        << of;
    ASSERT_EQ(actual([&](auto& out) { return subtract(left, right, out); }),
              signed_sum(left, -right))
        << of;
  }
}

TEST(DecimalProperty, ProductsAreThoseOfTheSchoolbook) {
  Random random;
  for (int i = 0; i < cases_tried; ++i) {
    const Operands of = arbitrary_operands(random);
    ASSERT_EQ(
        actual([&](auto& out) { return multiply(of.left, of.right, out); }),
        expected((of.left < 0) != (of.right < 0), times(digits_of(of.left), digits_of(of.right))))
        << of;
  }
}

TEST(DecimalProperty, QuotientsAreThoseOfTheSchoolbook) {
  Random random;
  int stored = 0;
  for (int i = 0; i < cases_tried; ++i) {
    const Operands of = arbitrary_operands(random);
    if (of.right == 0) continue;
    const std::uint8_t scale = arbitrary_scale(random);
    const std::string quotient =
        divided_rounded(scaled(digits_of(of.left), std::size_t{scale} + of.scale_right),
                        scaled(digits_of(of.right), of.scale_left));
    const std::string result = actual([&](auto& out) {
      return divide(of.left, of.scale_left, of.right, of.scale_right, scale, out);
    });
    ASSERT_EQ(result, expected((of.left < 0) != (of.right < 0), quotient)) << of << ' ' << +scale;
    if (result != refused && result != "0") ++stored;
  }
  EXPECT_GT(stored, cases_tried / 10);
}

TEST(DecimalProperty, RemaindersAreThoseOfTheSchoolbookAndHaveTheSignOfTheDividend) {
  Random random;
  for (int i = 0; i < cases_tried; ++i) {
    const Operands of = arbitrary_operands(random);
    if (of.right == 0) continue;
    ASSERT_EQ(actual([&](auto& out) { return remainder(of.left, of.right, out); }),
              expected(of.left < 0, divided(digits_of(of.left), digits_of(of.right)).second))
        << of;
  }
}

TEST(DecimalProperty, RescalingRoundsAsTheSchoolbook) {
  Random random;
  for (int i = 0; i < cases_tried; ++i) {
    const Operands of = arbitrary_operands(random);
    // Twice as many digits as a column has, as of a product.
    const std::size_t from = of.scale_left + (random.one_in(3) ? of.scale_right : 0u);
    const std::size_t to = arbitrary_scale(random);
    ASSERT_EQ(actual([&](auto& out) {
                return rescale(of.left, static_cast<std::uint8_t>(from),
                               static_cast<std::uint8_t>(to), out);
              }),
              rescaled(of.left, from, to))
        << of << ' ' << from << " to " << to;
  }
}

TEST(DecimalProperty, TheOrderIsThatOfNumbersOfOneScale) {
  Random random;
  int equal = 0;
  for (int i = 0; i < cases_tried; ++i) {
    Operands of = arbitrary_operands(random);
    if (random.one_in(3)) {
      of.right = of.left;
      (void)rescale(of.left, of.scale_left, of.scale_right, of.right);
    }
    const std::string left = scaled(digits_of(of.left), of.scale_right);
    const std::string right = scaled(digits_of(of.right), of.scale_left);
    const int sign = (of.left < 0) != (of.right < 0) ? 0 : of.left < 0 ? -1 : 1;
    int order = sign == 0 ? (of.left < 0 ? -1 : 1) : sign * (is_less(left, right) ? -1 : 1);
    if (left == right && (sign != 0 || left == "0")) order = 0;
    const auto result = Decimal{of.left, of.scale_left} <=> Decimal{of.right, of.scale_right};
    ASSERT_EQ((result > 0) - (result < 0), order) << of;
    ASSERT_EQ((Decimal{of.left, of.scale_left} == Decimal{of.right, of.scale_right}), order == 0);
    equal += order == 0;
  }
  EXPECT_GT(equal, cases_tried / 20);
}

TEST(DecimalProperty, IsReadAsItWasWritten) {
  Random random;
  for (int i = 0; i < cases_tried; ++i) {
    const Decimal decimal{arbitrary_coefficient(random), arbitrary_scale(random)};
    const auto read = parse_decimal(to_string(decimal));
    ASSERT_TRUE(read) << read.error().message();
    ASSERT_EQ(to_string(read->coefficient), to_string(decimal.coefficient));
    ASSERT_EQ(read->scale, decimal.scale);
  }
}

double arbitrary_double(Random& random) {
  const auto number = static_cast<double>(arbitrary_coefficient(random));
  switch (random.below(4)) {
    case 0: return arbitrary<double>(random);
    case 1: return std::ldexp(number, -static_cast<int>(random.below(140)));
    case 2: return number / static_cast<double>(powers_of_ten[random.below(39)]);
    default: return std::nextafter(number, random.one_in(2) ? HUGE_VAL : -HUGE_VAL);
  }
}

// The C library prints all digits of a double: at most 1074 behind the point.
std::string rounded_text(double number, std::size_t scale) {
  char text[1500];
  std::snprintf(text, sizeof(text), "%.1074f", std::fabs(number));
  std::string digits = text;
  const std::size_t point = digits.find('.');
  digits.erase(point, 1);
  const std::string kept = trimmed(digits.substr(0, point + scale));
  return expected(number < 0, digits[point + scale] >= '5' ? plus(kept, "1") : kept);
}

TEST(DecimalProperty, DoublesAreRoundedFromAllTheirDigits) {
  Random random;
  int stored = 0;
  for (int i = 0; i < 2 * cases_tried; ++i) {
    const double number = arbitrary_double(random);
    const std::uint8_t scale = arbitrary_scale(random);
    const std::string result = actual([&](auto& out) { return from_double(number, scale, out); });
    ASSERT_EQ(result, std::isfinite(number) ? rounded_text(number, scale) : refused)
        << std::hexfloat << number << ' ' << +scale;
    if (result != refused && result != "0") ++stored;
  }
  EXPECT_GT(stored, cases_tried / 5);
}

// Halfway between two doubles, or next to that: an odd number of 54 bits, by a power of two.
Decimal near_tie(Random& random) {
  Decimal decimal{static_cast<Int128>((random.bits() >> 10u) | 1u | (1ull << 53u)),
                  static_cast<std::uint8_t>(random.below(28))};
  for (unsigned i = 0; i < decimal.scale; ++i) decimal.coefficient *= 5;
  while (random.below(8) != 0 && decimal.coefficient < coefficient_max / 10) {
    decimal.coefficient *= 10;
    ++decimal.scale;
  }
  decimal.coefficient += static_cast<Int128>(random.below(3)) - 1;
  return decimal;
}

TEST(DecimalProperty, TheDoubleIsTheOneThatReadingTheTextGives) {
  Random random;
  for (int i = 0; i < 2 * cases_tried; ++i) {
    Decimal decimal{arbitrary_coefficient(random), arbitrary_scale(random)};
    if (random.one_in(2)) decimal = near_tie(random);
    const std::string text = to_string(decimal);
    ASSERT_EQ(to_double(decimal.coefficient, decimal.scale), std::strtod(text.c_str(), nullptr))
        << text;
  }
}

template <class Integer>
std::string converted(Int128 coefficient, std::uint8_t scale) {
  using Limits = std::numeric_limits<Integer>;
  const std::string text = rescaled(coefficient, scale, 0);
  const std::string digits = text.starts_with('-') ? text.substr(1) : text;
  std::string bound = std::to_string(text.starts_with('-') ? Limits::min() : Limits::max());
  if (bound.starts_with('-')) bound.erase(0, 1);
  return is_less(bound, digits) ? refused : text;
}

// `near` the ends of 64 bits, with digits behind the point.
Int128 near_bound(Random& random, std::uint8_t scale) {
  const Int128 bounds[] = {Int128{1} << 63u, -(Int128{1} << 63u), Int128{1} << 64u, 0};
  const auto distance = static_cast<Int128>(random.below(5)) - 2;
  return bounds[random.below(4)] * powers_of_ten[scale] + distance * powers_of_ten[scale] / 2 +
         static_cast<Int128>(random.below(3)) - 1;
}

TEST(DecimalProperty, IntegersAreRoundedAndKeepTheirRange) {
  Random random;
  for (int i = 0; i < cases_tried; ++i) {
    auto scale = arbitrary_scale(random);
    Int128 number = arbitrary_coefficient(random);
    if (random.one_in(2)) {
      scale %= 18;
      number = near_bound(random, scale);
    }
    const std::string text = to_string(Decimal{number, scale});
    ASSERT_EQ(actual<std::int64_t>([&](auto& out) { return to_int64(number, scale, out); }),
              converted<std::int64_t>(number, scale))
        << text;
    ASSERT_EQ(actual<std::uint64_t>([&](auto& out) { return to_uint64(number, scale, out); }),
              converted<std::uint64_t>(number, scale))
        << text;
  }
}

TEST(DecimalProperty, IntegersAreTakenAtAnyScale) {
  Random random;
  for (int i = 0; i < cases_tried; ++i) {
    const auto scale = arbitrary_scale(random);
    const auto integer = arbitrary<std::int64_t>(random);
    const auto natural = arbitrary<std::uint64_t>(random);
    std::string digits = std::to_string(integer);
    if (integer < 0) digits.erase(0, 1);
    ASSERT_EQ(actual([&](auto& out) { return from_int64(integer, scale, out); }),
              expected(integer < 0, scaled(digits, scale)));
    ASSERT_EQ(actual([&](auto& out) { return from_uint64(natural, scale, out); }),
              expected(false, scaled(std::to_string(natural), scale)));
  }
}

}  // namespace
}  // namespace weir::flow::data
