#include <weir/flow/operator/internal/exact_sum.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>
#include <boost/multiprecision/cpp_int.hpp>

namespace weir::flow::operators::internal {
namespace {

using boost::multiprecision::cpp_int;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A finite double in units of the least one.
cpp_int to_units(double number) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(number), &exponent);
  const cpp_int digits = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  const int shift = exponent - 53 + 1074;
  const cpp_int units = shift >= 0 ? cpp_int(digits << shift) : cpp_int(digits >> -shift);
  return std::signbit(number) ? cpp_int(-units) : units;
}

/// The nearest double, the even one of two.
double to_double(const cpp_int& units) {
  const cpp_int size = abs(units);
  if (size == 0) return 0;
  const auto highest = static_cast<int>(msb(size));
  const int dropped = highest > 52 ? highest - 52 : 0;
  cpp_int kept = size >> dropped;
  if (dropped > 0) {
    const cpp_int rest = size - (kept << dropped);
    const cpp_int half = cpp_int(1) << (dropped - 1);
    if (rest > half || (rest == half && bit_test(kept, 0))) ++kept;
  }
  const double number =
      std::ldexp(static_cast<double>(kept.convert_to<std::int64_t>()), dropped - 1074);
  return units < 0 ? -number : number;
}

double random_double(std::mt19937_64& random) {
  switch (random() % 6) {
    case 0: return static_cast<double>(random() % 100) / 4 - 10;
    case 1: return std::numeric_limits<double>::denorm_min() * static_cast<double>(random() % 9);
    case 2: return (random() % 2 != 0 ? 1 : -1) * std::numeric_limits<double>::max();
    case 3: return std::ldexp(random() % 2 != 0 ? 1 : -1, static_cast<int>(random() % 2000) - 1000);
    case 4: return (random() % 2 != 0 ? 0.1 : -1e16);
    default: break;
  }
  const double number = std::bit_cast<double>(random());
  return std::isfinite(number) ? number : 1.0;
}

std::string bytes_of(const ExactSum& sum) {
  std::string bytes;
  sum.append_to(bytes);
  return bytes;
}

TEST(ExactSum, IsTheSumRoundedOnce) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 random(seed);
    ExactSum sum;
    cpp_int expected = 0;
    for (std::uint64_t step = random() % 12; step > 0; --step) {
      const double number = random_double(random);
      std::int64_t weight = random() % 2 != 0 ? 1 : -1;
      if (random() % 5 == 0) weight = static_cast<std::int64_t>(random()) >> random() % 64;
      sum.add(number, weight);
      expected += to_units(number) * weight;
      if (random() % 2 == 0) {
        sum.normalize();
        std::string bytes = bytes_of(sum);
        std::string_view rest = bytes;
        ASSERT_TRUE(sum.take(rest) && rest.empty()) << "seed " << seed;
        ASSERT_EQ(bytes_of(sum), bytes) << "seed " << seed;
      }
    }
    sum.normalize();
    ASSERT_EQ(sum.value(), to_double(expected)) << "seed " << seed;
    ASSERT_EQ(sum.is_zero(), expected == 0) << "seed " << seed;
  }
}

TEST(ExactSum, HasTheSameBytesInEveryOrderAndIsNothingWhenAllIsTakenAway) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<double> numbers;
    for (std::uint64_t i = 0; i < 1 + random() % 20; ++i) numbers.push_back(random_double(random));
    numbers.push_back(infinity);
    const auto sum_of = [&numbers](std::int64_t weight, ExactSum& sum) {
      for (const double number : numbers) sum.add(number, weight);
      sum.normalize();
      return bytes_of(sum);
    };
    ExactSum first;
    const std::string bytes = sum_of(1, first);
    std::ranges::shuffle(numbers, random);
    ExactSum second;
    ASSERT_EQ(sum_of(1, second), bytes) << "seed " << seed;
    ASSERT_EQ(sum_of(-1, second), std::string(2, '\0')) << "seed " << seed;
    ASSERT_TRUE(second.is_zero()) << "seed " << seed;
  }
}

TEST(ExactSum, KeepsWhatAnotherSumWouldLose) {
  ExactSum sum;
  sum.add(1e300, 1);
  sum.add(1, 1);
  sum.add(1e300, -1);
  sum.normalize();
  EXPECT_EQ(sum.value(), 1);
}

TEST(ExactSum, MeetsInfinityAndNaNAsArithmeticDoes) {
  ExactSum sum;
  sum.add(5, 1);
  sum.add(infinity, 2);
  sum.normalize();
  EXPECT_EQ(sum.value(), infinity);
  EXPECT_EQ(sum.mean(3), infinity);
  sum.add(-infinity, 1);
  EXPECT_TRUE(std::isnan(sum.value()));
  sum.add(infinity, -2);
  EXPECT_EQ(sum.value(), -infinity);
  sum.add(nan, 1);
  EXPECT_TRUE(std::isnan(sum.value()));
  sum.add(nan, -1);
  sum.add(-infinity, -1);
  EXPECT_EQ(sum.value(), 5);
  sum.add(nan, -1);
  EXPECT_FALSE(sum.is_valid());
}

TEST(ExactSum, IsInfiniteIfItIsTooLargeThoughItsMeanIsNot) {
  const double largest = std::numeric_limits<double>::max();
  ExactSum sum;
  sum.add(largest, 2);
  sum.normalize();
  EXPECT_EQ(sum.value(), infinity);
  EXPECT_EQ(sum.mean(2), largest);
  sum.add(largest, -1);
  sum.normalize();
  EXPECT_EQ(sum.value(), largest);
}

TEST(ExactSum, RefusesBytesThatAreNotASum) {
  ExactSum sum;
  for (const std::string_view bytes :
       {std::string_view("\2", 1), std::string_view("\2\0\1\2\3", 5), std::string_view("\1\0", 2),
        std::string_view("\2\x7F\1\1\1\1", 6), std::string_view("\2\0\0\0\0\0", 6),
        std::string_view("\0\x80\1", 3)}) {
    std::string_view in = bytes;
    EXPECT_FALSE(sum.take(in)) << testing::PrintToString(bytes);
  }
}

}  // namespace
}  // namespace weir::flow::operators::internal
