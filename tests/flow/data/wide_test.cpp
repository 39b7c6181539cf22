#include <weir/flow/data/internal/wide.hpp>

#include <gtest/gtest.h>

#include <weir/tests/flow/data/support/arbitrary_number.hpp>
#include <weir/tests/flow/data/support/schoolbook.hpp>

namespace weir::flow::data::internal {
namespace {

using namespace testing;

constexpr int numbers_tried = 5'000;

std::string digits_of(UInt128 number) {
  const auto half = to_string(static_cast<Int128>(number >> 1u));
  return plus(plus(half, half), (number & 1u) != 0 ? "1" : "0");
}

std::string digits_of(Wide number) {
  static const std::string word = plus(digits_of(~UInt128{0}), "1");
  return plus(times(word, digits_of(number.high)), digits_of(number.low));
}

TEST(Wide, ProductsAreExact) {
  Random random;
  for (int i = 0; i < numbers_tried; ++i) {
    const UInt128 left = arbitrary_bits(random);
    const UInt128 right = arbitrary_bits(random);
    ASSERT_EQ(digits_of(multiply_wide(left, right)), times(digits_of(left), digits_of(right)));
  }
}

TEST(Wide, QuotientsAreThoseOfTheSchoolbook) {
  Random random;
  for (int i = 0; i < numbers_tried; ++i) {
    const UInt128 divisor = arbitrary_bits(random) | 1u;
    UInt128 high = arbitrary_bits(random);
    // Often just below the divisor, where the first guess of a digit is too high.
    if (high >= divisor) high = random.one_in(2) ? divisor - 1 : high % divisor;
    const Wide number{high, arbitrary_bits(random)};
    const Quotient actual = divide_wide(number, divisor);
    const auto [quotient, remainder] = divided(digits_of(number), digits_of(divisor));
    ASSERT_EQ(digits_of(actual.quotient), quotient)
        << digits_of(number) << " / " << digits_of(divisor);
    ASSERT_EQ(digits_of(actual.remainder), remainder);
  }
}

// A bit at a time, which needs no care at the border of words.
TEST(Wide, ShiftsByAnyNumberOfBits) {
  Random random;
  for (unsigned bits = 0; bits < 256; ++bits) {
    const Wide number{arbitrary_bits(random), arbitrary_bits(random)};
    Wide left = number;
    Wide right = number;
    for (unsigned i = 0; i < bits; ++i) {
      left = {left.high * 2 + left.low / (UInt128{1} << 127u), left.low * 2};
      right = {right.high / 2, right.low / 2 + right.high % 2 * (UInt128{1} << 127u)};
    }
    ASSERT_EQ(digits_of(shift_left(number, bits)), digits_of(left)) << bits;
    ASSERT_EQ(digits_of(shift_right(number, bits)), digits_of(right)) << bits;
  }
}

TEST(Wide, TheWidthIsThatOfTheHighestBit) {
  EXPECT_EQ(bit_width(0), 0u);
  for (unsigned bits = 0; bits < 128; ++bits) {
    EXPECT_EQ(bit_width(UInt128{1} << bits), bits + 1);
    EXPECT_EQ(bit_width((UInt128{2} << bits) - 1), bits + 1);
  }
}

}  // namespace
}  // namespace weir::flow::data::internal
