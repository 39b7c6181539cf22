#include <weir/flow/data/decimal.hpp>

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <weir/flow/data/errc.hpp>

namespace weir::flow::data {
namespace {

const std::string nines(38, '9');

TEST(Decimal, IsWrittenWithTheDigitsOfItsScale) {
  EXPECT_EQ(to_string(Decimal{}), "0");
  EXPECT_EQ(to_string(Decimal{0, 3}), "0.000");
  EXPECT_EQ(to_string(Decimal{-5, 0}), "-5");
  EXPECT_EQ(to_string(Decimal{-5, 1}), "-0.5");
  EXPECT_EQ(to_string(Decimal{-5, 2}), "-0.05");
  EXPECT_EQ(to_string(Decimal{12345, 2}), "123.45");
  EXPECT_EQ(to_string(Decimal{coefficient_max, 38}), "0." + nines);
}

TEST(Decimal, IsReadWithASignAndDigitsBehindThePoint) {
  const auto read = [](std::string_view text) {
    const Decimal decimal = parse_decimal(text).value();
    return to_string(decimal.coefficient) + "e-" + std::to_string(decimal.scale);
  };
  EXPECT_EQ(read("0"), "0e-0");
  EXPECT_EQ(read("-0"), "0e-0");
  EXPECT_EQ(read("+12.50"), "1250e-2");
  EXPECT_EQ(read("-0.05"), "-5e-2");
  EXPECT_EQ(read("007.0"), "70e-1");
  EXPECT_EQ(read(nines), nines + "e-0");
  EXPECT_EQ(read("-0." + nines), "-" + nines + "e-38");
  EXPECT_EQ(read(std::string(60, '0') + nines), nines + "e-0");
}

TEST(Decimal, RefusesWhatIsNoDecimalAndNamesIt) {
  for (const std::string_view text :
       {"",   "+",  "-",   ".",    "1.",    ".5",  "-.5", "--1",  "+-1",  "1.2.3",    "1e5", "1E5",
        " 1", "1 ", "1,5", "0x10", "1_000", "nan", "inf", "1.-5", "1.+5", "\xD9\xA1", "1\n"}) {
    EXPECT_EQ(parse_decimal(text).error(), Errc::invalid_value) << text;
  }
  EXPECT_FALSE(parse_decimal(std::string_view("1\0", 2)));
  EXPECT_EQ(parse_decimal("1,5").error().detail(), "decimal '1,5': expected digits, as in -12.50");
  EXPECT_EQ(parse_decimal(std::string(90, '1') + "x").error().detail(),
            "decimal '" + std::string(48, '1') + "...': expected digits, as in -12.50");
}

TEST(Decimal, RefusesMoreThan38Digits) {
  EXPECT_EQ(parse_decimal(nines + "0").error(), Errc::overflow);
  EXPECT_EQ(parse_decimal("1" + std::string(38, '0')).error(), Errc::overflow);
  EXPECT_EQ(parse_decimal("-1." + nines).error(), Errc::overflow);
  EXPECT_EQ(parse_decimal("0." + std::string(39, '0')).error(), Errc::overflow);
  EXPECT_EQ(parse_decimal("1" + std::string(100'000, '0')).error(), Errc::overflow);
  EXPECT_EQ(parse_decimal("1" + std::string(300, '0') + "e").error(), Errc::invalid_value);
}

TEST(Decimal, IsComparedByValue) {
  EXPECT_EQ((Decimal{10, 1}), (Decimal{100, 2}));
  EXPECT_EQ((Decimal{0, 0}), (Decimal{0, 38}));
  EXPECT_LT((Decimal{-1, 0}), (Decimal{1, 38}));
  EXPECT_LT((Decimal{coefficient_max, 38}), (Decimal{1, 0}));
  EXPECT_GT((Decimal{coefficient_max, 0}), (Decimal{coefficient_max, 38}));
  EXPECT_LT((Decimal{-coefficient_max, 0}), (Decimal{coefficient_max, 38}));
  EXPECT_LT((Decimal{-coefficient_max, 0}), (Decimal{-coefficient_max, 38}));
}

TEST(Decimal, RoundsHalfAwayFromZero) {
  Int128 out = 0;
  EXPECT_TRUE(rescale(25, 1, 0, out) && out == 3);
  EXPECT_TRUE(rescale(-25, 1, 0, out) && out == -3);
  EXPECT_TRUE(rescale(249, 2, 0, out) && out == 2);
  EXPECT_TRUE(rescale(coefficient_max, 38, 0, out) && out == 1);
  EXPECT_TRUE(rescale(coefficient_max, 39, 0, out) && out == 0);
  EXPECT_TRUE(divide(1, 0, 8, 0, 2, out) && out == 13);
  EXPECT_TRUE(divide(-1, 0, 8, 0, 2, out) && out == -13);
  EXPECT_TRUE(from_double(0.125, 2, out) && out == 13);
  EXPECT_TRUE(from_double(-2.5, 0, out) && out == -3);
}

TEST(Decimal, ADoubleIsItsExactValue) {
  Int128 out = 0;
  EXPECT_TRUE(from_double(0.1, 20, out));
  EXPECT_EQ(to_string(Decimal{out, 20}), "0.10000000000000000555");
}

TEST(Decimal, LeavesTheResultAsItWasOnOverflow) {
  Int128 out = 7;
  std::int64_t integer = 7;
  std::uint64_t natural = 7;
  EXPECT_FALSE(add(coefficient_max, 1, out));
  EXPECT_FALSE(add(coefficient_max, coefficient_max, out));
  EXPECT_FALSE(subtract(-coefficient_max, coefficient_max, out));
  EXPECT_FALSE(multiply(powers_of_ten[19], powers_of_ten[19], out));
  EXPECT_FALSE(rescale(1, 0, 38, out));
  EXPECT_FALSE(rescale(1, 0, 255, out));
  EXPECT_FALSE(divide(1, 0, 1, 38, 38, out));
  EXPECT_FALSE(from_double(std::nextafter(1e38, 2e38), 0, out));  // 1e38 is a little less
  EXPECT_FALSE(from_double(std::numeric_limits<double>::infinity(), 0, out));
  EXPECT_FALSE(from_double(std::numeric_limits<double>::quiet_NaN(), 0, out));
  EXPECT_FALSE(from_int64(std::numeric_limits<std::int64_t>::min(), 20, out));
  EXPECT_FALSE(from_uint64(1, 38, out));
  EXPECT_FALSE(to_int64(powers_of_ten[20], 0, integer));
  EXPECT_FALSE(to_uint64(-1, 0, natural));
  EXPECT_TRUE(out == 7 && integer == 7 && natural == 7);
}

}  // namespace
}  // namespace weir::flow::data
