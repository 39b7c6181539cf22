#include <weir/storage/value.hpp>

#include <cmath>

#include <gtest/gtest.h>

#include <weir/storage/errc.hpp>
#include <weir/tests/storage/support/arbitrary.hpp>

namespace weir::storage {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using testing::OrderKey;

using Bytes = std::vector<std::byte>;
using Choice = std::variant<std::monostate, std::string, std::int64_t>;

template <class V>
std::string hex(const V& value) {
  std::string text;
  for (const char byte : encode_value(value)) {
    text += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

// These bytes are on disks: a change here makes stores unreadable.
TEST(Value, IntegersAreVarintsOfTheirZigzag) {
  EXPECT_EQ(hex(true), "01");
  EXPECT_EQ(hex(std::uint8_t{255}), "ff");
  EXPECT_EQ(hex(std::int8_t{-1}), "ff");
  EXPECT_EQ(hex(std::uint16_t{127}), "7f");
  EXPECT_EQ(hex(std::uint32_t{128}), "8001");
  EXPECT_EQ(hex(std::uint64_t{300}), "ac02");
  EXPECT_EQ(hex(std::numeric_limits<std::uint64_t>::max()), "ffffffffffffffffff01");
  EXPECT_EQ(hex(std::int64_t{0}), "00");
  EXPECT_EQ(hex(std::int64_t{-1}), "01");
  EXPECT_EQ(hex(std::int32_t{1}), "02");
  EXPECT_EQ(hex(std::numeric_limits<std::int16_t>::min()), "ffff03");
  EXPECT_EQ(hex(std::numeric_limits<std::int64_t>::min()), "ffffffffffffffffff01");
  EXPECT_EQ(hex(testing::Colour::green), "02");
  EXPECT_EQ(hex(-3ms), "05");
  EXPECT_EQ(hex(std::chrono::sys_time<std::chrono::seconds>(2s)), "04");
}

TEST(Value, FloatsAreTheirBitsInLittleEndian) {
  EXPECT_EQ(hex(1.0), "000000000000f03f");
  EXPECT_EQ(hex(-0.0), "0000000000000080");
  EXPECT_EQ(hex(1.0f), "0000803f");
}

TEST(Value, WholeTextIsStoredAsItIs) {
  EXPECT_EQ(encode_value("a\0b"s), "a\0b"s);
  EXPECT_EQ(encode_value(std::string_view("ab")), "ab");
  EXPECT_EQ(encode_value(Bytes{std::byte{'a'}}), "a");
  EXPECT_EQ(encode_value(""s), "");
  EXPECT_EQ(*decode_value<std::string>("a\0b"s), "a\0b"s);
  EXPECT_EQ(*decode_value<Bytes>("a"), Bytes{std::byte{'a'}});
}

TEST(Value, ContainersHoldCountsAndItems) {
  EXPECT_EQ(hex(std::tuple("ab"s, true)), "02616201");
  EXPECT_EQ(hex(std::pair(Bytes{std::byte{9}}, std::uint8_t{1})), "010901");
  EXPECT_EQ(hex(OrderKey{"a", -1}), "016101");
  EXPECT_EQ(hex(std::array<std::byte, 2>{std::byte{1}, std::byte{2}}), "0102");
  EXPECT_EQ(hex(std::optional<std::string>()), "00");
  EXPECT_EQ(hex(std::optional("a"s)), "010161");
  EXPECT_EQ(hex(std::vector{"a"s, ""s}), "02016100");
  EXPECT_EQ(hex(std::vector{true, false}), "020100");
  EXPECT_EQ(hex(std::map<std::string, int>{{"b", 2}, {"a", 1}}), "02016102016204");
  EXPECT_EQ(hex(Choice()), "00");
  EXPECT_EQ(hex(Choice("a")), "010161");
  EXPECT_EQ(hex(Choice(5)), "020a");
}

/// Behind what is there already.
template <class... Vs>
void expect_parts_in_order(const Vs&... parts) {
  std::string expected = "before";
  (ValueCodec<Vs>::encode(parts, expected), ...);
  std::string together = "before";
  ValueCodec<std::tuple<Vs...>>::encode(std::tuple(parts...), together);
  EXPECT_EQ(together, expected);
}

TEST(Value, StructsAreTheirPartsHoweverLongTheseAre) {
  static_assert(internal::DirectValue<OrderKey> && !internal::DirectValue<Choice>);
  expect_parts_in_order(std::numeric_limits<std::uint64_t>::max(),
                        std::numeric_limits<std::int64_t>::min(), std::int8_t{-1}, true);
  expect_parts_in_order(std::chrono::nanoseconds::min(),
                        std::chrono::sys_time<std::chrono::microseconds>::max(), testing::Balance{},
                        std::array<std::uint8_t, 2>{1, 255});
  expect_parts_in_order(""s, std::string(300, 'x'), Bytes(200, std::byte{7}), Bytes());
  expect_parts_in_order(std::optional<std::string>(), std::optional(std::optional("a"s)),
                        std::vector{true, false}, std::vector{OrderKey{"a", -1}, OrderKey{}},
                        std::map<std::string, std::vector<int>>{{"b", {-1, 1'000'000}}, {"", {}}});
  expect_parts_in_order("a"s, Choice("b"), 1.5, OrderKey{"c", 1});
}

TEST(Value, SignatureNamesTheBytes) {
  EXPECT_EQ(ValueCodec<std::uint64_t>::signature(), "u64");
  EXPECT_EQ(ValueCodec<testing::Balance>::signature(), "i16");
  EXPECT_EQ(ValueCodec<float>::signature(), "f32");
  EXPECT_EQ(ValueCodec<std::vector<std::optional<std::string>>>::signature(), "[text?]");
  EXPECT_EQ((ValueCodec<std::map<std::string, OrderKey>>::signature()), "{text:(text,i64)}");
  EXPECT_EQ(ValueCodec<Choice>::signature(), "<none|text|i64>");
  EXPECT_EQ((ValueCodec<std::pair<Bytes, std::array<std::uint8_t, 4>>>::signature()),
            "(bytes,bytes[4])");
  EXPECT_EQ(ValueCodec<std::chrono::sys_time<std::chrono::microseconds>>::signature(),
            "time(1/1000000)");
  EXPECT_EQ(ValueCodec<std::chrono::hours>::signature(), "duration(3600/1)");
}

TEST(Value, NumbersLongerThanNeededAreRefused) {
  EXPECT_FALSE(decode_value<std::uint64_t>("\x80\x00"s));
  EXPECT_FALSE(decode_value<std::uint64_t>("\xFF\x80\x00"s));
  EXPECT_FALSE(decode_value<std::int32_t>("\x81\x00"s));
  EXPECT_FALSE(decode_value<std::vector<bool>>("\x81\x00\x01"s));
}

TEST(Value, NumbersBeyondTheirTypeAreRefused) {
  EXPECT_EQ(*decode_value<std::uint16_t>("\xFF\xFF\x03"), 0xFFFF);
  EXPECT_FALSE(decode_value<std::uint16_t>("\x80\x80\x04"));
  EXPECT_FALSE(decode_value<std::int16_t>("\x80\x80\x04"));
  EXPECT_FALSE(decode_value<std::uint64_t>("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"));
  EXPECT_FALSE(decode_value<std::uint64_t>("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x81\x01"));
  EXPECT_FALSE(decode_value<std::chrono::duration<std::int32_t>>("\x80\x80\x80\x80\x10"));
  EXPECT_FALSE(decode_value<Choice>("\x03\x01"));
  EXPECT_FALSE(decode_value<bool>("\x02"));
}

TEST(Value, LengthsBeyondTheBytesAreRefusedBeforeTheyAreUsed) {
  const std::string huge = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01";
  EXPECT_FALSE(decode_value<std::tuple<std::string>>(huge + "a"));
  EXPECT_FALSE(decode_value<std::tuple<Bytes>>(huge + "a"));
  EXPECT_FALSE(decode_value<std::vector<std::string>>(huge + "a"));
  EXPECT_FALSE((decode_value<std::map<bool, bool>>(huge + "\x01\x01")));
  EXPECT_FALSE(decode_value<std::vector<bool>>("\x03\x01\x01"));
}

TEST(Value, ACountReservesLittle) {
  std::string bytes;
  internal::append_varint(1'000'000, bytes);
  bytes.append(1'000'000, '\x02');
  std::vector<std::optional<std::array<std::byte, 4096>>> value;
  std::string_view rest = bytes;
  EXPECT_FALSE(ValueCodec<decltype(value)>::decode(rest, value));
  EXPECT_LE(value.capacity(), 1024u);
}

TEST(Value, KeysOfAMapAscend) {
  using Map = std::map<std::string, bool>;
  EXPECT_EQ(*decode_value<Map>("\x02\1a\1\1b\1"), (Map{{"a", true}, {"b", true}}));
  EXPECT_FALSE(decode_value<Map>("\x02\1b\1\1a\1"));
  EXPECT_FALSE(decode_value<Map>("\x02\1a\1\1a\1"));
}

TEST(Value, CorruptionSaysWhatWasWrong) {
  EXPECT_EQ(decode_value<OrderKey>("\x01").error().message(),
            "corruption: value of type (text,i64): malformed or cut short after byte 0 of the 1 in "
            "0x01");
  EXPECT_EQ(decode_value<bool>("\1\1\1").error().message(),
            "corruption: value of type bool: 2 bytes too many after byte 1 of the 3 in 0x010101");
  EXPECT_EQ(decode_value<bool>("").error(), Errc::corruption);
}

TEST(Value, OtherTypesAreNoValues) {
  static_assert(Value<OrderKey> && Value<std::map<int, std::vector<Choice>>>);
  static_assert(!Value<char> && !Value<int*> && !Value<std::monostate> && !Value<std::tuple<>>);
  static_assert(!Value<std::vector<char>> && !Value<std::vector<std::monostate>>);
  static_assert(!Value<std::variant<int, char>> && !Value<std::map<int, char>>);
}

}  // namespace
}  // namespace weir::storage
