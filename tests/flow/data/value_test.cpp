#include <weir/flow/data/value.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <weir/tests/flow/data/support/random_data.hpp>

namespace weir::flow::data {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Value, KnowsItsType) {
  EXPECT_EQ(Value().type(), std::nullopt);
  EXPECT_EQ(Value(true).type(), DataType(Kind::boolean));
  EXPECT_EQ(Value(5).type(), DataType(Kind::int64));
  EXPECT_EQ(Value(5u).type(), DataType(Kind::uint64));
  EXPECT_EQ(Value(2.5).type(), DataType(Kind::float64));
  EXPECT_EQ(Value(Decimal{25, 1}).type(), DataType::decimal(1));
  EXPECT_EQ(Value("a").type(), DataType(Kind::text));
  EXPECT_EQ(Value(Bytes{"a"}).type(), DataType(Kind::bytes));
  EXPECT_EQ(Value(Timestamp{}).type(), DataType(Kind::timestamp));
  EXPECT_EQ(Value(Date{}).type(), DataType(Kind::date));
  EXPECT_EQ(Value(std::chrono::microseconds(1)).type(), DataType(Kind::duration));
  EXPECT_EQ(Value(Uuid{}).type(), DataType(Kind::uuid));
}

TEST(Value, OrdersNullFirstAndNanLast) {
  EXPECT_EQ(Value(), Value());
  EXPECT_LT(Value(), Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(Value(nan), Value(-nan));
  EXPECT_LT(Value(std::numeric_limits<double>::infinity()), Value(nan));
  EXPECT_EQ(Value(0.0), Value(-0.0));
  EXPECT_EQ(Value(Decimal{10, 1}), Value(Decimal{100, 2}));
  EXPECT_NE(Value(1), Value(1u));
}

TEST(Value, HasATotalOrder) {
  test::RandomData random(3);
  for (int round = 0; round < 300; ++round) {
    const DataType type = random.type();
    const Value a = random.value(type);
    const Value b = random.value(type);
    const Value c = random.value(type);
    EXPECT_EQ(a == b, (a <=> b) == 0);
    EXPECT_EQ(a<b, b> a);
    if (a <= b && b <= c) EXPECT_LE(a, c) << to_string(a) << to_string(b) << to_string(c);
  }
}

TEST(Value, IsShownAsOneWouldWriteIt) {
  EXPECT_EQ(to_string(Value()), "null");
  EXPECT_EQ(to_string(Value(-3)), "-3");
  EXPECT_EQ(to_string(Value(0.1)), "0.1");
  EXPECT_EQ(to_string(Value(Decimal{-150, 2})), "-1.50");
  EXPECT_EQ(to_string(Value(Bytes{std::string("\0\xFF", 2)})), "0x00ff");
  EXPECT_EQ(to_string(Value("it")), "'it'");
}

TEST(Value, HasTheSameTextWhereItIsEqual) {
  EXPECT_EQ(to_string(Value(std::copysign(nan, -1.0))), to_string(Value(std::copysign(nan, 1.0))));
  EXPECT_EQ(to_string(Value(-0.0)), to_string(Value(0.0)));
}

}  // namespace
}  // namespace weir::flow::data
