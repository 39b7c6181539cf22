#include <cmath>

#include <gtest/gtest.h>

#include <weir/storage/errc.hpp>
#include <weir/storage/key.hpp>
#include <weir/tests/storage/support/arbitrary.hpp>

// What holds for every key type, checked against an order that knows nothing of bytes.
namespace weir::storage::testing {
namespace {

constexpr std::size_t keys_tried = 200;
constexpr int damages_tried = 4'000;

template <class K>
int order(const K& left, const K& right) {
  return left < right ? -1 : right < left ? 1 : 0;
}

template <internal::Float K>
int order(const K& left, const K& right) {
  const bool left_is_nan = std::isnan(left);
  const bool right_is_nan = std::isnan(right);
  if (left_is_nan || right_is_nan) return int{left_is_nan} - int{right_is_nan};
  return left < right ? -1 : right < left ? 1 : 0;
}

template <class K>
int order(const Descending<K>& left, const Descending<K>& right);
template <internal::Composite K>
int order(const K& left, const K& right);

template <class K>
int order(const std::optional<K>& left, const std::optional<K>& right) {
  if (!left || !right) return int{left.has_value()} - int{right.has_value()};
  return order(*left, *right);
}

template <class K>
int order(const Descending<K>& left, const Descending<K>& right) {
  return order(right.value, left.value);
}

template <internal::Composite K>
int order(const K& left, const K& right) {
  return internal::apply_components(
      [&](const auto&... lefts) {
        return internal::apply_components(
            [&](const auto&... rights) {
              int result = 0;
              ((result = result != 0 ? result : order(lefts, rights)), ...);
              return result;
            },
            right);
      },
      left);
}

int sign(int number) { return (number > 0) - (number < 0); }

using Bytes = std::vector<std::byte>;
using Id = std::array<std::uint8_t, 16>;
using Milliseconds = std::chrono::sys_time<std::chrono::milliseconds>;
using KeyTypes = internal::TypeList<
    bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
    std::uint32_t, std::uint64_t, long long, Colour, Balance, float, double, std::string, Bytes, Id,
    std::array<std::byte, 3>, std::chrono::nanoseconds, std::chrono::duration<std::int32_t>,
    Milliseconds, std::optional<std::string>, std::optional<std::optional<bool>>, OrderKey,
    Descending<std::uint64_t>, Descending<std::string>, Descending<double>,
    Descending<Descending<std::string>>, Descending<OrderKey>, std::tuple<std::string>,
    std::pair<std::string, std::string>, std::tuple<std::string, Bytes, std::string>,
    std::tuple<std::optional<std::string>, Descending<std::string>, float>,
    std::pair<std::tuple<std::string, std::optional<std::int8_t>>, std::uint8_t>,
    std::pair<OrderKey, Descending<Milliseconds>>,
    Descending<std::tuple<std::string, std::optional<Descending<std::string>>, double>>,
    std::tuple<Descending<std::optional<std::string>>, Descending<bool>, Descending<Bytes>>,
    std::optional<std::pair<Descending<OrderKey>, std::optional<std::optional<std::string>>>>>;

/// Calls `check` with some keys of each type.
template <class Check>
void for_each_type(Random& random, Check check) {
  const auto call = [&]<class K>() {
    SCOPED_TRACE(KeyCodec<K>::signature());
    std::vector<std::pair<K, std::string>> keys;
    while (keys.size() < keys_tried) {
      const K key = arbitrary<K>(random);
      keys.emplace_back(key, encode_key(key));
    }
    check(keys);
  };
  [&]<class... Ks>(internal::TypeList<Ks...>) {
    (call.template operator()<Ks>(), ...);
  }(KeyTypes());
}

template <class K>
using Keys = std::vector<std::pair<K, std::string>>;

TEST(KeyProperty, BytesHaveTheOrderOfTheKeys) {
  Random random;
  for_each_type(random, []<class K>(const Keys<K>& keys) {
    for (const auto& [left, left_bytes] : keys) {
      for (const auto& [right, right_bytes] : keys) {
        ASSERT_EQ(sign(left_bytes.compare(right_bytes)), order(left, right))
            << ::testing::PrintToString(left) << " and " << ::testing::PrintToString(right);
      }
    }
  });
}

TEST(KeyProperty, KeysAreReadAsTheyWereWritten) {
  Random random;
  for_each_type(random, []<class K>(const Keys<K>& keys) {
    for (const auto& [key, bytes] : keys) {
      const auto read = decode_key<K>(bytes);
      ASSERT_TRUE(read) << read.error().message();
      ASSERT_EQ(order(*read, key), 0) << ::testing::PrintToString(key);
    }
  });
}

TEST(KeyProperty, KeysReplaceWhatTheyAreReadInto) {
  Random random;
  for_each_type(random, []<class K>(const Keys<K>& keys) {
    K read{};
    for (const auto& [key, bytes] : keys) {
      std::string_view rest = bytes;
      ASSERT_TRUE(KeyCodec<K>::decode(rest, read));
      ASSERT_EQ(order(read, key), 0) << ::testing::PrintToString(key);
    }
  });
}

TEST(KeyProperty, NoKeyBeginsWithAnother) {
  Random random;
  for_each_type(random, []<class K>(const Keys<K>& keys) {
    for (const auto& [left, left_bytes] : keys) {
      ASSERT_FALSE(left_bytes.empty());
      for (const auto& [right, right_bytes] : keys) {
        if (order(left, right) == 0) continue;
        ASSERT_FALSE(left_bytes.starts_with(right_bytes))
            << ::testing::PrintToString(left) << " and " << ::testing::PrintToString(right);
      }
    }
  });
}

TEST(KeyProperty, WhatFollowsAKeyIsLeft) {
  Random random;
  for_each_type(random, [&]<class K>(const Keys<K>& keys) {
    for (const auto& [key, key_bytes] : keys) {
      const std::string after = noise(random);
      const std::string bytes = key_bytes + after;
      std::string_view rest = bytes;
      K read{};
      ASSERT_TRUE(KeyCodec<K>::decode(rest, read));
      ASSERT_EQ(rest, after);
    }
  });
}

TEST(KeyProperty, OnlyWhatWasWrittenIsRead) {
  Random random;
  for_each_type(random, [&]<class K>(const Keys<K>& keys) {
    int refused = 0;
    for (int i = 0; i < damages_tried; ++i) {
      const std::string& whole = keys[random.below(keys.size())].second;
      const std::string bytes = random.one_in(4) ? noise(random) : damaged(whole, random);
      const auto read = decode_key<K>(bytes);
      if (read) {
        ASSERT_EQ(encode_key(*read), bytes) << ::testing::PrintToString(bytes);
      } else {
        ASSERT_EQ(read.error(), Errc::corruption);
        ++refused;
      }
    }
    EXPECT_GT(refused, damages_tried / 10);
  });
}

TEST(KeyProperty, NoStartOfAKeyIsAKey) {
  Random random;
  for_each_type(random, []<class K>(const Keys<K>& keys) {
    for (const auto& [key, bytes] : keys) {
      for (std::size_t size = 0; size < bytes.size(); ++size) {
        ASSERT_FALSE(decode_key<K>(std::string_view(bytes).substr(0, size)));
      }
    }
  });
}

}  // namespace
}  // namespace weir::storage::testing
