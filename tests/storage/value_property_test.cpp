#include <gtest/gtest.h>

#include <weir/storage/errc.hpp>
#include <weir/storage/value.hpp>
#include <weir/tests/storage/support/arbitrary.hpp>

// What holds for every value type, for generated values and for damaged or invented bytes.
namespace weir::storage::testing {
namespace {

constexpr std::size_t values_tried = 300;
constexpr int damages_tried = 4'000;

using Bytes = std::vector<std::byte>;
using Milliseconds = std::chrono::sys_time<std::chrono::milliseconds>;
using Choice = std::variant<std::monostate, std::string, OrderKey, std::vector<bool>>;
using ValueTypes = internal::TypeList<
    bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
    std::uint32_t, std::uint64_t, long long, Colour, Balance, float, double,
    std::array<std::uint8_t, 16>, std::chrono::nanoseconds, std::chrono::duration<std::int32_t>,
    Milliseconds, std::optional<std::string>, std::optional<std::optional<bool>>, OrderKey,
    std::tuple<std::string>, std::pair<Bytes, std::string>, std::vector<std::string>,
    std::vector<bool>, std::vector<std::uint8_t>, std::vector<std::vector<OrderKey>>,
    std::map<std::string, std::int32_t>, std::map<OrderKey, Choice>, Choice, std::vector<Choice>,
    std::tuple<std::map<std::uint16_t, std::vector<double>>, std::optional<Choice>, Milliseconds>>;

template <class V>
using Values = std::vector<std::pair<V, std::string>>;

/// Calls `check` with some values of each type.
template <class Check>
void for_each_type(Random& random, Check check) {
  const auto call = [&]<class V>() {
    SCOPED_TRACE(ValueCodec<V>::signature());
    Values<V> values;
    while (values.size() < values_tried) {
      const V value = arbitrary<V>(random);
      values.emplace_back(value, encode_value(value));
    }
    check(values);
  };
  [&]<class... Vs>(internal::TypeList<Vs...>) {
    (call.template operator()<Vs>(), ...);
  }(ValueTypes());
}

TEST(ValueProperty, ValuesAreReadAsTheyWereWritten) {
  Random random;
  for_each_type(random, []<class V>(const Values<V>& values) {
    for (const auto& [value, bytes] : values) {
      const auto read = decode_value<V>(bytes);
      ASSERT_TRUE(read) << read.error().message();
      ASSERT_EQ(encode_value(*read), bytes);
      const V copy = value;
      const bool has_nan = !(copy == value);
      if (!has_nan) ASSERT_EQ(*read, value);
    }
  });
}

TEST(ValueProperty, ValuesReplaceWhatTheyAreReadInto) {
  Random random;
  for_each_type(random, []<class V>(const Values<V>& values) {
    V read{};
    for (const auto& [value, bytes] : values) {
      std::string_view rest = bytes;
      ASSERT_TRUE(ValueCodec<V>::decode(rest, read));
      ASSERT_EQ(encode_value(read), bytes);
    }
  });
}

TEST(ValueProperty, WhatFollowsAValueIsLeft) {
  Random random;
  for_each_type(random, [&]<class V>(const Values<V>& values) {
    for (const auto& [value, value_bytes] : values) {
      const std::string after = noise(random);
      const std::string bytes = value_bytes + after;
      std::string_view rest = bytes;
      V read{};
      ASSERT_TRUE(ValueCodec<V>::decode(rest, read));
      ASSERT_EQ(rest, after);
    }
  });
}

TEST(ValueProperty, OnlyWhatWasWrittenIsRead) {
  Random random;
  for_each_type(random, [&]<class V>(const Values<V>& values) {
    int refused = 0;
    for (int i = 0; i < damages_tried; ++i) {
      const std::string& whole = values[random.below(values.size())].second;
      const std::string bytes = random.one_in(4) ? noise(random) : damaged(whole, random);
      const auto read = decode_value<V>(bytes);
      if (read) {
        ASSERT_EQ(encode_value(*read), bytes) << ::testing::PrintToString(bytes);
      } else {
        ASSERT_EQ(read.error(), Errc::corruption);
        ++refused;
      }
    }
    EXPECT_GT(refused, damages_tried / 10);
  });
}

TEST(ValueProperty, NoStartOfAValueIsAValue) {
  Random random;
  for_each_type(random, []<class V>(const Values<V>& values) {
    for (const auto& [value, bytes] : values) {
      const std::size_t step = 1 + bytes.size() / 64;
      for (std::size_t size = 0; size < bytes.size(); size += step) {
        ASSERT_FALSE(decode_value<V>(std::string_view(bytes).substr(0, size)));
      }
    }
  });
}

}  // namespace
}  // namespace weir::storage::testing
