#include <weir/storage/postgres/internal/codec.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <weir/tests/runtime/support.hpp>

namespace weir::storage::postgres::internal {
namespace {

using namespace std::string_literals;

Encoded encoded(Type type, std::string_view bytes) { return {type, bytes}; }

TEST(Codec, NumbersBeginWithTheirMostSignificantByte) {
  std::string out;
  append_value(out, std::int64_t{0x0102030405060708});
  EXPECT_EQ(out, "\1\2\3\4\5\6\7\10"s);
}

TEST(Codec, SmallerIntegersKeepTheirSign) {
  std::int64_t value = 0;
  EXPECT_TRUE(decode(encoded(Type::int2, "\xff\xfe"), value));
  EXPECT_EQ(value, -2);
  EXPECT_TRUE(decode(encoded(Type::int4, "\x80\0\0\0"s), value));
  EXPECT_EQ(value, -2'147'483'648);
}

TEST(Codec, ATimestampOf2000IsZero) {
  std::string out;
  append_value(out, Timestamp(std::chrono::seconds(946'684'800)));
  EXPECT_EQ(out, std::string(8, '\0'));
}

TEST(Codec, AnInfiniteTimestampIsNoTime) {
  Timestamp time;
  const std::string infinity = "\x7f"s + std::string(7, '\xff');
  EXPECT_FALSE(decode(encoded(Type::timestamptz, infinity), time));
}

TEST(Codec, WhatHasAnotherTypeOrSizeIsNotRead) {
  std::int64_t number = 0;
  bool flag = false;
  std::string text;
  Bytes bytes;
  EXPECT_FALSE(decode(encoded(Type::text, "12345678"), number));
  EXPECT_FALSE(decode(encoded(Type::int8, "1234567"), number));
  EXPECT_FALSE(decode(encoded(Type::int8, "123456789"), number));
  EXPECT_FALSE(decode(encoded(Type::boolean, ""), flag));
  EXPECT_FALSE(decode(encoded(Type::bytea, "x"), text));
  EXPECT_FALSE(decode(encoded(Type::text, "x"), bytes));
  EXPECT_FALSE(decode(encoded(Type::jsonb, "\2{}"), text));
  EXPECT_FALSE(decode(Encoded{Type::text, {}}, text));
}

// Whatever the bytes are, reading them is a refusal or a value, and nothing else.
TEST(Codec, DamagedArraysAreRefused) {
  const std::uint64_t seed = weir::testing::test_seed();
  WEIR_TRACE_SEED(seed);
  std::mt19937_64 random(seed);
  std::string good;
  append_array<std::string>(good, std::vector<std::string>{"one", "", "three"});
  std::vector<std::string> values;
  ASSERT_TRUE(decode(encoded(Type::text_array, good), values));
  for (std::size_t length = 0; length < good.size(); ++length) {
    values.clear();
    EXPECT_FALSE(decode(encoded(Type::text_array, good.substr(0, length)), values)) << length;
  }
  for (int round = 0; round < 10'000; ++round) {
    std::string damaged = good;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    values.clear();
    if (decode(encoded(Type::text_array, damaged), values)) EXPECT_LE(values.size(), 3U);
  }
}

TEST(Codec, ANullInAnArrayNeedsAnOptional) {
  std::string out;
  append_array<std::int64_t>(out, std::vector<std::optional<std::int64_t>>{7, std::nullopt});
  std::vector<std::int64_t> strict;
  EXPECT_FALSE(decode(encoded(Type::int8_array, out), strict));
  std::vector<std::optional<std::int64_t>> lenient;
  EXPECT_TRUE(decode(encoded(Type::int8_array, out), lenient));
  EXPECT_EQ(lenient, (std::vector<std::optional<std::int64_t>>{7, std::nullopt}));
}

}  // namespace
}  // namespace weir::storage::postgres::internal
