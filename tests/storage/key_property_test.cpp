#include <cmath>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

/// Some keys of a type, and one more that is read from bytes. The tests know no type: each of them
/// would be compiled once for every one.
class Keys {
 public:
  virtual ~Keys() = default;

  /// The bytes of each key.
  const std::vector<std::string>& bytes() const { return bytes_; }
  virtual int order(std::size_t left, std::size_t right) const = 0;
  virtual std::string print(std::size_t key) const = 0;

  virtual Result<void> read_all(std::string_view bytes) = 0;
  /// Reads into what was read before.
  virtual bool read_first(std::string_view& rest) = 0;
  virtual void forget_read() = 0;
  virtual int order_of_read(std::size_t key) const = 0;
  virtual std::string bytes_of_read() const = 0;

 protected:
  std::vector<std::string> bytes_;
};

template <class K>
class KeysOf final : public Keys {
 public:
  explicit KeysOf(Random& random) {
    while (keys_.size() < keys_tried) {
      keys_.push_back(arbitrary<K>(random));
      bytes_.push_back(encode_key(keys_.back()));
    }
  }

  int order(std::size_t left, std::size_t right) const override {
    return testing::order(keys_[left], keys_[right]);
  }
  std::string print(std::size_t key) const override { return ::testing::PrintToString(keys_[key]); }

  Result<void> read_all(std::string_view bytes) override {
    auto key = decode_key<K>(bytes);
    if (!key) return key.error();
    read_ = *std::move(key);
    return {};
  }
  bool read_first(std::string_view& rest) override { return KeyCodec<K>::decode(rest, read_); }
  void forget_read() override { read_ = K{}; }
  int order_of_read(std::size_t key) const override { return testing::order(read_, keys_[key]); }
  std::string bytes_of_read() const override { return encode_key(read_); }

 private:
  std::deque<K> keys_;
  K read_{};
};

/// Calls `check` with some keys of each type.
void for_each_type(Random& random, const std::function<void(Keys&)>& check) {
  const auto call = [&]<class K>() {
    SCOPED_TRACE(KeyCodec<K>::signature());
    KeysOf<K> keys(random);
    check(keys);
  };
  [&]<class... Ks>(internal::TypeList<Ks...>) {
    (call.template operator()<Ks>(), ...);
  }(KeyTypes());
}

TEST(KeyProperty, BytesHaveTheOrderOfTheKeys) {
  Random random;
  for_each_type(random, [](Keys& keys) {
    for (std::size_t left = 0; left < keys_tried; ++left) {
      for (std::size_t right = 0; right < keys_tried; ++right) {
        ASSERT_EQ(sign(keys.bytes()[left].compare(keys.bytes()[right])), keys.order(left, right))
            << keys.print(left) << " and " << keys.print(right);
      }
    }
  });
}

TEST(KeyProperty, KeysAreReadAsTheyWereWritten) {
  Random random;
  for_each_type(random, [](Keys& keys) {
    for (std::size_t key = 0; key < keys_tried; ++key) {
      const auto read = keys.read_all(keys.bytes()[key]);
      ASSERT_TRUE(read) << read.error().message();
      ASSERT_EQ(keys.order_of_read(key), 0) << keys.print(key);
    }
  });
}

TEST(KeyProperty, KeysReplaceWhatTheyAreReadInto) {
  Random random;
  for_each_type(random, [](Keys& keys) {
    for (std::size_t key = 0; key < keys_tried; ++key) {
      std::string_view rest = keys.bytes()[key];
      ASSERT_TRUE(keys.read_first(rest));
      ASSERT_EQ(keys.order_of_read(key), 0) << keys.print(key);
    }
  });
}

TEST(KeyProperty, NoKeyBeginsWithAnother) {
  Random random;
  for_each_type(random, [](Keys& keys) {
    for (std::size_t left = 0; left < keys_tried; ++left) {
      ASSERT_FALSE(keys.bytes()[left].empty());
      for (std::size_t right = 0; right < keys_tried; ++right) {
        if (keys.order(left, right) == 0) continue;
        ASSERT_FALSE(keys.bytes()[left].starts_with(keys.bytes()[right]))
            << keys.print(left) << " and " << keys.print(right);
      }
    }
  });
}

TEST(KeyProperty, WhatFollowsAKeyIsLeft) {
  Random random;
  for_each_type(random, [&](Keys& keys) {
    for (const std::string& key_bytes : keys.bytes()) {
      const std::string after = noise(random);
      const std::string bytes = key_bytes + after;
      std::string_view rest = bytes;
      keys.forget_read();
      ASSERT_TRUE(keys.read_first(rest));
      ASSERT_EQ(rest, after);
    }
  });
}

TEST(KeyProperty, OnlyWhatWasWrittenIsRead) {
  Random random;
  for_each_type(random, [&](Keys& keys) {
    int refused = 0;
    for (int i = 0; i < damages_tried; ++i) {
      const std::string& whole = keys.bytes()[random.below(keys_tried)];
      const std::string bytes = random.one_in(4) ? noise(random) : damaged(whole, random);
      const auto read = keys.read_all(bytes);
      if (read) {
        ASSERT_EQ(keys.bytes_of_read(), bytes) << ::testing::PrintToString(bytes);
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
  for_each_type(random, [](Keys& keys) {
    for (const std::string& bytes : keys.bytes()) {
      for (std::size_t size = 0; size < bytes.size(); ++size) {
        ASSERT_FALSE(keys.read_all(std::string_view(bytes).substr(0, size)));
      }
    }
  });
}

}  // namespace
}  // namespace weir::storage::testing
