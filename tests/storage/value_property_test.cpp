#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

/// Some values of a type, and one more that is read from bytes. The tests know no type: each of
/// them would be compiled once for every one.
class Values {
 public:
  virtual ~Values() = default;

  /// The bytes of each value.
  const std::vector<std::string>& bytes() const { return bytes_; }
  virtual std::string print(std::size_t value) const = 0;

  virtual Result<void> read_all(std::string_view bytes) = 0;
  /// Reads into what was read before.
  virtual bool read_first(std::string_view& rest) = 0;
  virtual void forget_read() = 0;
  /// Also if the value has a NaN, and so is not even equal to itself.
  virtual bool read_equals(std::size_t value) const = 0;
  virtual std::string print_read() const = 0;
  virtual std::string bytes_of_read() const = 0;

 protected:
  std::vector<std::string> bytes_;
};

template <class V>
class ValuesOf final : public Values {
 public:
  explicit ValuesOf(Random& random) {
    while (values_.size() < values_tried) {
      values_.push_back(arbitrary<V>(random));
      bytes_.push_back(encode_value(values_.back()));
    }
  }

  std::string print(std::size_t value) const override {
    return ::testing::PrintToString(values_[value]);
  }

  Result<void> read_all(std::string_view bytes) override {
    auto value = decode_value<V>(bytes);
    if (!value) return value.error();
    read_ = *std::move(value);
    return {};
  }
  bool read_first(std::string_view& rest) override { return ValueCodec<V>::decode(rest, read_); }
  void forget_read() override { read_ = V{}; }
  bool read_equals(std::size_t value) const override {
    const V copy = values_[value];
    const bool has_nan = !(copy == values_[value]);
    return has_nan || read_ == values_[value];
  }
  std::string print_read() const override { return ::testing::PrintToString(read_); }
  std::string bytes_of_read() const override { return encode_value(read_); }

 private:
  std::deque<V> values_;
  V read_{};
};

/// Calls `check` with some values of each type.
void for_each_type(Random& random, const std::function<void(Values&)>& check) {
  const auto call = [&]<class V>() {
    SCOPED_TRACE(ValueCodec<V>::signature());
    ValuesOf<V> values(random);
    check(values);
  };
  [&]<class... Vs>(internal::TypeList<Vs...>) {
    (call.template operator()<Vs>(), ...);
  }(ValueTypes());
}

TEST(ValueProperty, ValuesAreReadAsTheyWereWritten) {
  Random random;
  for_each_type(random, [](Values& values) {
    for (std::size_t value = 0; value < values_tried; ++value) {
      const auto read = values.read_all(values.bytes()[value]);
      ASSERT_TRUE(read) << read.error().message();
      ASSERT_EQ(values.bytes_of_read(), values.bytes()[value]);
      ASSERT_TRUE(values.read_equals(value))
          << values.print_read() << " is not " << values.print(value);
    }
  });
}

TEST(ValueProperty, ValuesReplaceWhatTheyAreReadInto) {
  Random random;
  for_each_type(random, [](Values& values) {
    for (const std::string& bytes : values.bytes()) {
      std::string_view rest = bytes;
      ASSERT_TRUE(values.read_first(rest));
      ASSERT_EQ(values.bytes_of_read(), bytes);
    }
  });
}

TEST(ValueProperty, WhatFollowsAValueIsLeft) {
  Random random;
  for_each_type(random, [&](Values& values) {
    for (const std::string& value_bytes : values.bytes()) {
      const std::string after = noise(random);
      const std::string bytes = value_bytes + after;
      std::string_view rest = bytes;
      values.forget_read();
      ASSERT_TRUE(values.read_first(rest));
      ASSERT_EQ(rest, after);
    }
  });
}

TEST(ValueProperty, OnlyWhatWasWrittenIsRead) {
  Random random;
  for_each_type(random, [&](Values& values) {
    int refused = 0;
    for (int i = 0; i < damages_tried; ++i) {
      const std::string& whole = values.bytes()[random.below(values_tried)];
      const std::string bytes = random.one_in(4) ? noise(random) : damaged(whole, random);
      const auto read = values.read_all(bytes);
      if (read) {
        ASSERT_EQ(values.bytes_of_read(), bytes) << ::testing::PrintToString(bytes);
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
  for_each_type(random, [](Values& values) {
    for (const std::string& bytes : values.bytes()) {
      const std::size_t step = 1 + bytes.size() / 64;
      for (std::size_t size = 0; size < bytes.size(); size += step) {
        ASSERT_FALSE(values.read_all(std::string_view(bytes).substr(0, size)));
      }
    }
  });
}

}  // namespace
}  // namespace weir::storage::testing
