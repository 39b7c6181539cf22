#include <weir/storage/key.hpp>

#include <cmath>

#include <gtest/gtest.h>

#include <weir/storage/errc.hpp>
#include <weir/tests/storage/support/arbitrary.hpp>

namespace weir::storage {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using testing::OrderKey;

enum OpenEnum { open_value };
enum class CharacterEnum : char {};
struct Plain {
  int number = 0;
};
struct ListsACharacter {
  char letter = 0;
  static auto weir_fields(auto& self) { return std::tie(self.letter); }
};

template <class K>
std::string hex(const K& key) {
  std::string text;
  for (const char byte : encode_key(key)) {
    text += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

template <class K>
std::string complaint(std::string_view bytes) {
  const auto key = decode_key<K>(bytes);
  return key ? "none" : key.error().message();
}

// These bytes are on disks: a change here makes stores unreadable.
TEST(Key, NumbersAreBigEndianWithTheSignFlipped) {
  EXPECT_EQ(hex(false), "00");
  EXPECT_EQ(hex(true), "01");
  EXPECT_EQ(hex(std::uint8_t{0xFE}), "fe");
  EXPECT_EQ(hex(std::uint16_t{0x0102}), "0102");
  EXPECT_EQ(hex(std::uint32_t{0x01020304}), "01020304");
  EXPECT_EQ(hex(std::uint64_t{0x0102030405060708}), "0102030405060708");
  EXPECT_EQ(hex(std::int8_t{-128}), "00");
  EXPECT_EQ(hex(std::int8_t{127}), "ff");
  EXPECT_EQ(hex(std::int16_t{-1}), "7fff");
  EXPECT_EQ(hex(std::int32_t{1}), "80000001");
  EXPECT_EQ(hex(std::int64_t{0}), "8000000000000000");
  EXPECT_EQ(hex(std::numeric_limits<std::int64_t>::min()), "0000000000000000");
  EXPECT_EQ(hex(testing::Colour::green), "02");
  EXPECT_EQ(hex(testing::Balance{-1}), "7fff");
}

TEST(Key, FloatsAreInTotalOrder) {
  using Limits = std::numeric_limits<double>;
  EXPECT_EQ(hex(1.0), "bff0000000000000");
  EXPECT_EQ(hex(-1.0), "400fffffffffffff");
  EXPECT_EQ(hex(0.0), "8000000000000000");
  EXPECT_EQ(hex(-0.0), "8000000000000000");
  EXPECT_EQ(hex(Limits::denorm_min()), "8000000000000001");
  EXPECT_EQ(hex(-Limits::denorm_min()), "7ffffffffffffffe");
  EXPECT_EQ(hex(Limits::infinity()), "fff0000000000000");
  EXPECT_EQ(hex(-Limits::infinity()), "000fffffffffffff");
  EXPECT_EQ(hex(Limits::quiet_NaN()), "fff8000000000000");
  EXPECT_EQ(hex(-Limits::signaling_NaN()), "fff8000000000000");
  EXPECT_EQ(hex(1.0f), "bf800000");
  EXPECT_EQ(hex(-0.0f), "80000000");
  EXPECT_EQ(hex(std::numeric_limits<float>::quiet_NaN()), "ffc00000");
}

TEST(Key, NanIsReadAsNan) { EXPECT_TRUE(std::isnan(*decode_key<float>(encode_key(NAN)))); }

TEST(Key, TextIsEscapedAndEnded) {
  EXPECT_EQ(hex(""s), "0001");
  EXPECT_EQ(hex("ab"s), "61620001");
  EXPECT_EQ(hex("a\0b"s), "6100ff620001");
  EXPECT_EQ(hex("\0\0"s), "00ff00ff0001");
  EXPECT_EQ(hex("\xFF\xFF"s), "ffff0001");
  EXPECT_EQ(hex(std::string_view("a\0", 2)), "6100ff0001");
  EXPECT_EQ(hex(std::vector{std::byte{0}, std::byte{7}}), "00ff070001");
}

TEST(Key, CompositesAreTheirComponentsInTurn) {
  EXPECT_EQ(hex(std::array<std::uint8_t, 3>{0, 1, 255}), "0001ff");
  EXPECT_EQ(hex(std::optional<std::uint8_t>()), "00");
  EXPECT_EQ(hex(std::optional<std::uint8_t>(7)), "0107");
  EXPECT_EQ(hex(std::pair("a"s, std::uint8_t{7})), "61000107");
  EXPECT_EQ(hex(std::tuple("a"s, "b"s, true)), "61000162000101");
  EXPECT_EQ(hex(OrderKey{"a", -1}), "6100017fffffffffffffff");
  EXPECT_EQ(hex(std::chrono::milliseconds(1)), "8000000000000001");
  EXPECT_EQ(hex(std::chrono::sys_time<std::chrono::seconds>(-1s)), "7fffffffffffffff");
}

TEST(Key, DescendingIsTheComplement) {
  EXPECT_EQ(hex(Descending{std::uint16_t{0x0102}}), "fefd");
  EXPECT_EQ(hex(Descending{"a\0"s}), "9eff00fffe");
  EXPECT_EQ(hex(Descending<Descending<std::string>>{{"a"}}), "610001");
  EXPECT_LT(Descending{2}, Descending{1});
  EXPECT_EQ(Descending{1}, Descending{1});
}

TEST(Key, SignatureNamesTheBytes) {
  EXPECT_EQ(KeyCodec<bool>::signature(), "bool");
  EXPECT_EQ(KeyCodec<std::int8_t>::signature(), "i8");
  EXPECT_EQ(KeyCodec<std::uint64_t>::signature(), "u64");
  EXPECT_EQ(KeyCodec<long long>::signature(), KeyCodec<long>::signature());
  EXPECT_EQ(KeyCodec<testing::Colour>::signature(), "u8");
  EXPECT_EQ(KeyCodec<float>::signature(), "f32");
  EXPECT_EQ(KeyCodec<double>::signature(), "f64");
  EXPECT_EQ(KeyCodec<std::string>::signature(), "text");
  EXPECT_EQ(KeyCodec<std::string_view>::signature(), "text");
  EXPECT_EQ(KeyCodec<std::vector<std::byte>>::signature(), "bytes");
  EXPECT_EQ((KeyCodec<std::array<std::byte, 16>>::signature()), "bytes[16]");
  EXPECT_EQ(KeyCodec<std::optional<std::string>>::signature(), "text?");
  EXPECT_EQ((KeyCodec<std::pair<std::string, std::int64_t>>::signature()), "(text,i64)");
  EXPECT_EQ(KeyCodec<OrderKey>::signature(), "(text,i64)");
  EXPECT_EQ((KeyCodec<std::pair<bool, OrderKey>>::signature()), "(bool,(text,i64))");
  EXPECT_EQ(KeyCodec<Descending<std::string>>::signature(), "desc(text)");
  EXPECT_EQ(KeyCodec<std::chrono::minutes>::signature(), "duration(60/1)");
  EXPECT_EQ(KeyCodec<std::chrono::sys_time<std::chrono::milliseconds>>::signature(),
            "time(1/1000)");
}

TEST(Key, OtherFormsOfAValueAreRefused) {
  EXPECT_FALSE(decode_key<bool>("\x02"));
  EXPECT_FALSE(decode_key<std::optional<bool>>("\x02\x01"));
  EXPECT_FALSE(decode_key<std::optional<bool>>("\x00\x01"s));
  EXPECT_FALSE(decode_key<float>("\x7F\xFF\xFF\xFF")) << "the negative zero";
  EXPECT_FALSE(decode_key<float>("\xFF\xC0\x00\x01"s)) << "another NaN";
  EXPECT_FALSE(decode_key<float>("\x00\x3F\xFF\xFF"s)) << "a negative NaN";
  EXPECT_FALSE(decode_key<std::string>("a"));
  EXPECT_FALSE(decode_key<std::string>("a\0"s));
  EXPECT_FALSE(decode_key<std::string>("a\0\0\0\1"s)) << "zeros are no text";
  EXPECT_FALSE(decode_key<std::string>("a\0\2\0\1"s));
  EXPECT_FALSE(decode_key<std::chrono::duration<std::int32_t>>("\x80\0\0\0\x80\0\0\0"s))
      << "more than 32 bits";
}

TEST(Key, CorruptionSaysWhatWasWrong) {
  EXPECT_EQ(complaint<OrderKey>("a\0\1bc"s),
            "corruption: key of type (text,i64): malformed or cut short after byte 3 of the 5 in "
            "0x6100016263");
  EXPECT_EQ(complaint<std::uint8_t>("abc"),
            "corruption: key of type u8: 2 bytes too many after byte 1 of the 3 in 0x616263");
  EXPECT_EQ(
      complaint<std::uint8_t>(std::string(33, 'a')),
      "corruption: key of type u8: 32 bytes too many after byte 1 of the 33 in 0x" +
          [] {
            std::string digits;
            for (int i = 0; i < 32; ++i) digits += "61";
            return digits;
          }() +
          "...");
}

TEST(Key, FieldsAreReadThroughConstAndWrittenThroughMutable) {
  const OrderKey key{"a", 1};
  static_assert(std::is_same_v<decltype(OrderKey::weir_fields(key)),
                               std::tuple<const std::string&, const std::int64_t&>>);
  OrderKey read;
  OrderKey::weir_fields(read) = OrderKey::weir_fields(key);
  EXPECT_EQ(read, key);
}

TEST(Key, OtherTypesAreNoKeys) {
  static_assert(Key<OrderKey> && Key<std::optional<OrderKey>> && Key<std::byte>);
  static_assert(!Key<char> && !Key<wchar_t> && !Key<long double> && !Key<int*> &&
                !Key<const char*>);
  static_assert(!Key<OpenEnum> && !Key<CharacterEnum>);
  static_assert(!Key<Plain> && !Key<ListsACharacter> && !Key<std::tuple<>>);
  static_assert(!Key<std::pair<int, Plain>> && !Key<std::optional<Plain>>);
  static_assert(!Key<Descending<Plain>> && !Key<std::array<std::byte, 0>>);
  static_assert(!Key<std::chrono::duration<double>> && !Key<std::vector<int>>);
}

}  // namespace
}  // namespace weir::storage
