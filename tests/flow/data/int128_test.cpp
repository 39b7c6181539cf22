#include <weir/flow/data/int128.hpp>

#include <gtest/gtest.h>

#include <weir/tests/flow/data/support/arbitrary_number.hpp>
#include <weir/tests/flow/data/support/schoolbook.hpp>

namespace weir::flow::data {
namespace {

using namespace testing;

constexpr int numbers_tried = 5'000;
constexpr UInt128 sign_bit = UInt128{1} << 127u;

std::string digits_of(UInt128 number) {
  const auto high = static_cast<std::uint64_t>(number >> 64u);
  const auto low = static_cast<std::uint64_t>(number);
  return plus(times(std::to_string(high), "18446744073709551616"), std::to_string(low));
}

TEST(Int128, IsWrittenInDecimal) {
  Random random;
  for (int i = 0; i < numbers_tried; ++i) {
    const UInt128 number = arbitrary_bits(random) >> 1u;
    const std::string digits = digits_of(number);
    ASSERT_EQ(to_string(static_cast<Int128>(number)), digits);
    ASSERT_EQ(to_string(-static_cast<Int128>(number)), number == 0 ? "0" : "-" + digits);
  }
}

TEST(Int128, TheLeastNumberIsWrittenAndHasAMagnitude) {
  const auto least = static_cast<Int128>(sign_bit);
  EXPECT_EQ(to_string(least), "-170141183460469231731687303715884105728");
  EXPECT_TRUE(magnitude(least) == sign_bit);
  EXPECT_TRUE(magnitude(-5) == 5);
  EXPECT_TRUE(magnitude(5) == 5);
}

TEST(Int128, PowersOfTenAreAOneAndZeros) {
  for (std::size_t i = 0; i < powers_of_ten.size(); ++i) {
    EXPECT_EQ(to_string(powers_of_ten[i]), "1" + std::string(i, '0'));
  }
}

}  // namespace
}  // namespace weir::flow::data
