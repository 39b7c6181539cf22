#include <weir/storage/key_range.hpp>

#include <gtest/gtest.h>

#include <weir/tests/storage/support/arbitrary.hpp>

namespace weir::storage {
namespace {

using namespace std::string_literals;
using testing::arbitrary;
using testing::OrderKey;
using testing::Random;

using Name = std::tuple<std::uint8_t, std::string, std::int64_t>;

template <class K, class... Parts>
constexpr bool takes = internal::IsLeading<internal::Components<K>, Parts...>::value;

TEST(PrefixEnd, IsTheNextPrefixOfThatLength) {
  EXPECT_EQ(prefix_end("a"), "b");
  EXPECT_EQ(prefix_end("a\xFF\xFF"), "b");
  EXPECT_EQ(prefix_end("a\0"s), "a\1");
  EXPECT_EQ(prefix_end("\x7F"), "\x80");
  EXPECT_EQ(prefix_end("\xFE\xFF"), "\xFF");
  EXPECT_EQ(prefix_end(""), "");
  EXPECT_EQ(prefix_end("\xFF\xFF"), "") << "nothing is greater";
}

TEST(PrefixEnd, SeparatesWhatBeginsWithThePrefixFromWhatIsGreater) {
  Random random;
  for (int i = 0; i < 20'000; ++i) {
    const auto prefix = arbitrary<std::string>(random);
    const auto other =
        random.one_in(2) ? prefix + arbitrary<std::string>(random) : arbitrary<std::string>(random);
    const std::string end = prefix_end(prefix);
    const bool is_before_end = end.empty() || other < end;
    ASSERT_EQ(other >= prefix && is_before_end, other.starts_with(prefix))
        << ::testing::PrintToString(prefix) << " and " << ::testing::PrintToString(other);
  }
}

TEST(KeyRange, HoldsFromTheFirstUntilBeforeTheEnd) {
  EXPECT_EQ(KeyRange<std::uint8_t>::all().begin(), "");
  EXPECT_EQ(KeyRange<std::uint8_t>::all().end(), "");
  EXPECT_EQ(KeyRange<std::uint8_t>::from(5).begin(), "\x05");
  EXPECT_EQ(KeyRange<std::uint8_t>::from(5).end(), "");
  EXPECT_EQ(KeyRange<std::uint8_t>::until(5).begin(), "");
  EXPECT_EQ(KeyRange<std::uint8_t>::until(5).end(), "\x05");
  const auto some = KeyRange<std::uint8_t>::between(3, 5);
  for (const int key : {0, 2, 3, 4, 5, 6, 255}) {
    EXPECT_EQ(some.contains(encode_key(static_cast<std::uint8_t>(key))), key == 3 || key == 4);
  }
}

TEST(KeyRange, HoldsEveryVersionOfItsKeys) {
  const auto range = KeyRange<std::string>::between("a", "b");
  const std::string newest(8, '\xFF');
  const std::string oldest(8, '\0');
  EXPECT_TRUE(range.contains(encode_key("a"s) + oldest));
  EXPECT_TRUE(range.contains(encode_key("az"s) + newest));
  EXPECT_FALSE(range.contains(encode_key("b"s) + oldest));
  EXPECT_FALSE(range.contains(encode_key("A"s) + newest));
}

TEST(KeyRange, IsEmptyIfItsEndIsNotAfterItsBeginning) {
  EXPECT_FALSE(KeyRange<int>::all().is_empty());
  EXPECT_FALSE(KeyRange<int>::from(5).is_empty());
  EXPECT_FALSE(KeyRange<int>::between(-5, 5).is_empty());
  EXPECT_TRUE(KeyRange<int>::between(5, 5).is_empty());
  EXPECT_TRUE(KeyRange<int>::between(5, -5).is_empty());
}

TEST(KeyRange, PrefixHoldsTheKeysThatBeginWithTheseComponents) {
  Random random;
  for (int i = 0; i < 20'000; ++i) {
    const auto key = arbitrary<Name>(random);
    const auto& [group, text, number] = key;
    const auto other = arbitrary<Name>(random);
    const auto& [first, second, third] = random.one_in(2) ? other : key;
    const std::string bytes = encode_key(key);
    ASSERT_TRUE(KeyRange<Name>::prefix().contains(bytes));
    ASSERT_EQ(KeyRange<Name>::prefix(first).contains(bytes), group == first);
    ASSERT_EQ(KeyRange<Name>::prefix(first, second).contains(bytes),
              group == first && text == second)
        << ::testing::PrintToString(key) << " and " << ::testing::PrintToString(other);
    ASSERT_EQ(KeyRange<Name>::prefix(first, second, third).contains(bytes),
              group == first && text == second && number == third);
    ASSERT_EQ(KeyRange<Name>::prefix(group, StartingWith{second}).contains(bytes),
              text.starts_with(second))
        << ::testing::PrintToString(key) << " and " << ::testing::PrintToString(other);
  }
}

TEST(KeyRange, PrefixOfAllOnesHasNoEnd) {
  const auto range = KeyRange<std::pair<std::uint8_t, bool>>::prefix(255);
  EXPECT_EQ(range.begin(), "\xFF");
  EXPECT_EQ(range.end(), "");
}

TEST(KeyRange, PrefixTakesFieldsAndKeysWithoutComponents) {
  EXPECT_EQ(KeyRange<OrderKey>::prefix("a").begin(), "a\0\1"s);
  EXPECT_EQ(KeyRange<OrderKey>::prefix("a").end(), "a\0\2"s);
  EXPECT_EQ(KeyRange<OrderKey>::prefix(std::string_view("a"), 7).begin(),
            encode_key(OrderKey{"a", 7}));
  EXPECT_EQ(KeyRange<std::string>::prefix(StartingWith{"a"}).begin(), "a");
  EXPECT_EQ(KeyRange<std::string>::prefix(StartingWith{"a"}).end(), "b");
}

TEST(KeyRange, PrefixTakesTheFirstComponentsOnly) {
  static_assert(takes<Name> && takes<Name, std::uint8_t> && takes<Name, int>);
  static_assert(takes<Name, std::uint8_t, std::string> && takes<Name, int, const char*>);
  static_assert(takes<Name, int, std::string_view, int> && takes<Name, int, StartingWith>);
  static_assert(!takes<Name, std::string> && !takes<Name, bool> && !takes<Name, double>);
  static_assert(!takes<Name, int, int> && !takes<Name, int, StartingWith, int>);
  static_assert(!takes<Name, StartingWith> && !takes<Name, int, std::string, int, int>);
  static_assert(!takes<std::pair<Descending<int>, int>, int>);
  static_assert(takes<std::pair<Descending<int>, int>, Descending<int>>);
}

TEST(KeyRangeDeathTest, PrefixRefusesNumbersThatNoKeyHas) {
  EXPECT_DEATH(KeyRange<Name>::prefix(256), "a number outside of the key's type");
  EXPECT_DEATH(KeyRange<Name>::prefix(-1), "a number outside of the key's type");
}

}  // namespace
}  // namespace weir::storage
