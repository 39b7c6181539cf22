#include <weir/flow/operator/internal/wide_sum.hpp>

#include <random>

#include <gtest/gtest.h>
#include <boost/multiprecision/cpp_int.hpp>

#include <weir/flow/data/decimal.hpp>

namespace weir::flow::operators::internal {
namespace {

using boost::multiprecision::cpp_int;
using data::Int128;

const cpp_int limit = cpp_int(1) << 127;

Int128 random_number(std::mt19937_64& random) {
  const auto number = static_cast<Int128>(static_cast<data::UInt128>(random()) << 64 | random());
  return (number >> random() % 128) % (data::coefficient_max + 1);
}

cpp_int rounded_quotient(const cpp_int& number, std::uint64_t divisor) {
  const cpp_int size = (2 * abs(number) + divisor) / (cpp_int(divisor) * 2);
  return number < 0 ? -size : size;
}

TEST(WideSum, IsTheExactSum) {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    std::mt19937_64 random(seed);
    WideSum sum;
    cpp_int expected = 0;
    for (std::uint64_t step = random() % 8; step > 0; --step) {
      const std::int64_t weight = static_cast<std::int64_t>(random()) >> (4 + random() % 60);
      if (random() % 2 == 0) {
        const Int128 number = random_number(random);
        sum.add(number, weight);
        expected += cpp_int(number) * weight;
      } else if (random() % 2 == 0) {
        const auto number = static_cast<std::int64_t>(random());
        sum.add(number, weight);
        expected += cpp_int(number) * weight;
      } else {
        const std::uint64_t number = random();
        sum.add(number, weight);
        expected += cpp_int(number) * weight;
      }
      std::string bytes;
      sum.append_to(bytes);
      std::string_view rest = bytes;
      ASSERT_TRUE(sum.take(rest) && rest.empty()) << "seed " << seed;
      std::string again;
      sum.append_to(again);
      ASSERT_EQ(again, bytes) << "seed " << seed;
    }
    Int128 value = 0;
    const bool fits = sum.value(value);
    ASSERT_EQ(fits, expected >= -limit && expected < limit) << "seed " << seed;
    if (fits) ASSERT_EQ(cpp_int(value), expected) << "seed " << seed;
    ASSERT_EQ(sum.is_zero(), expected == 0) << "seed " << seed;
    const std::uint64_t factor = random() % 2 == 0 ? 1 : 1'000'000;
    const std::uint64_t divisor = 1 + (random() >> (1 + random() % 62));
    const cpp_int mean = rounded_quotient(expected * factor, divisor);
    const bool has_mean = sum.scaled(factor, divisor, value);
    ASSERT_EQ(has_mean, abs(mean) < limit) << "seed " << seed;
    if (has_mean) ASSERT_EQ(cpp_int(value), mean) << "seed " << seed;
  }
}

TEST(WideSum, TakesFewBytes) {
  const auto bytes_of = [](std::int64_t number) {
    WideSum sum;
    sum.add(number, 1);
    std::string bytes;
    sum.append_to(bytes);
    return bytes;
  };
  EXPECT_EQ(bytes_of(0), std::string(1, '\0'));
  EXPECT_EQ(bytes_of(127), "\1\x7F");
  EXPECT_EQ(bytes_of(128), std::string("\2\x80\0", 3));
  EXPECT_EQ(bytes_of(-1), "\1\xFF");
  EXPECT_EQ(bytes_of(-129), "\2\x7F\xFF");
}

TEST(WideSum, RefusesBytesThatAreNotASum) {
  WideSum sum;
  for (const std::string& bytes :
       {std::string(), std::string("\2\1"), "\x19" + std::string(25, '\1')}) {
    std::string_view in = bytes;
    EXPECT_FALSE(sum.take(in)) << testing::PrintToString(bytes);
  }
}

}  // namespace
}  // namespace weir::flow::operators::internal
