#include <weir/flow/data/utf8.hpp>

#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <weir/tests/storage/support/arbitrary.hpp>

namespace weir::flow::data {
namespace {

using storage::testing::Random;

constexpr int texts_tried = 5'000;

std::string encoded(std::uint32_t point) {
  const auto part = [&](unsigned shift) { return static_cast<char>(0x80 | (point >> shift & 63)); };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xC0 | point >> 6), part(0)};
  if (point < 0x10000) return {static_cast<char>(0xE0 | point >> 12), part(6), part(0)};
  return {static_cast<char>(0xF0 | point >> 18), part(12), part(6), part(0)};
}

bool is_character(std::uint32_t point) {
  return point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
}

// Decodes by arithmetic and asks whether the character would be written so.
std::optional<std::uint32_t> first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t size = byte(0) < 0x80 ? 1 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
  if (text.size() < size) return std::nullopt;
  std::uint32_t point = size == 1 ? byte(0) : byte(0) & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) point = point << 6 | (byte(i) & 63u);
  if (!is_character(point) || !text.starts_with(encoded(point))) return std::nullopt;
  return point;
}

bool is_decodable(std::string_view text) {
  while (!text.empty()) {
    const auto point = first_of(text);
    if (!point) return false;
    text.remove_prefix(encoded(*point).size());
  }
  return true;
}

std::uint32_t arbitrary_character(Random& random) {
  static constexpr std::uint32_t edges[] = {0,      0x7F,   0x80,    0x7FF,    0x800,  0xD7FF,
                                            0xE000, 0xFFFF, 0x10000, 0x10FFFF, 0x20AC, 'a'};
  if (random.one_in(2)) return edges[random.below(std::size(edges))];
  std::uint32_t point = 0xD800;
  while (!is_character(point)) point = static_cast<std::uint32_t>(random.below(0x110000));
  return point;
}

std::vector<std::string> arbitrary_characters(Random& random) {
  std::vector<std::string> characters(random.below(30));
  for (auto& character : characters) {
    character = random.one_in(2) ? "x" : encoded(arbitrary_character(random));
  }
  return characters;
}

std::string joined(const std::vector<std::string>& characters, std::size_t first = 0,
                   std::size_t count = SIZE_MAX) {
  std::string text;
  for (std::size_t i = first; i < characters.size() && i - first < count; ++i) {
    text += characters[i];
  }
  return text;
}

TEST(Utf8, AcceptsEveryCharacterAndNoOtherNumber) {
  for (std::uint32_t point = 0; point < 0x200000; ++point) {
    ASSERT_EQ(is_utf8(encoded(point)), is_character(point)) << std::hex << point;
  }
}

TEST(Utf8, DecidesShortTextAsADecoderDoes) {
  for (std::uint32_t bytes = 0; bytes < 0x1000000; bytes += 1 + (bytes > 0xFFFF) * 6) {
    std::string text{static_cast<char>(bytes)};
    if (bytes > 0xFF) text.push_back(static_cast<char>(bytes >> 8));
    if (bytes > 0xFFFF) text.push_back(static_cast<char>(bytes >> 16));
    ASSERT_EQ(is_utf8(text), is_decodable(text)) << ::testing::PrintToString(text);
  }
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndWhatIsCutOff) {
  for (const std::string_view text : {"\x80",
                                      "\xBF",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xE0\x80\x80",
                                      "\xE0\x9F\xBF",
                                      "\xF0\x80\x80\x80",
                                      "\xF0\x8F\xBF\xBF",
                                      "\xED\xA0\x80",
                                      "\xED\xBF\xBF",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xF8\x88\x80\x80\x80",
                                      "\xFE",
                                      "\xFF",
                                      "\xC3",
                                      "\xE2\x82",
                                      "\xF0\x9F\x98",
                                      "\xC3\xA4\xA4",
                                      "\xC3g",
                                      "\xE2\x82g",
                                      "\xF0\x9F\x98g"}) {
    EXPECT_FALSE(is_utf8(text)) << ::testing::PrintToString(text);
    EXPECT_FALSE(is_utf8("plain text, long: " + std::string(text))) << text.size();
    EXPECT_FALSE(is_utf8(std::string(text) + "plain text, long")) << text.size();
  }
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8(std::string(1, '\0')));
}

TEST(Utf8, DecidesTextWithOneByteChangedAsADecoderDoes) {
  Random random;
  int refused = 0;
  for (int i = 0; i < texts_tried; ++i) {
    std::string text = joined(arbitrary_characters(random));
    ASSERT_TRUE(is_utf8(text)) << ::testing::PrintToString(text);
    if (text.empty()) continue;
    text[random.below(text.size())] = static_cast<char>(random.bits());
    ASSERT_EQ(is_utf8(text), is_decodable(text)) << ::testing::PrintToString(text);
    refused += !is_utf8(text);
  }
  EXPECT_GT(refused, texts_tried / 10);
}

TEST(Utf8, CountsCharactersNotBytes) {
  Random random;
  for (int i = 0; i < texts_tried; ++i) {
    const auto characters = arbitrary_characters(random);
    ASSERT_EQ(count_characters(joined(characters)), characters.size());
  }
}

TEST(Utf8, CutsAtCharacters) {
  Random random;
  for (int i = 0; i < texts_tried; ++i) {
    const auto characters = arbitrary_characters(random);
    const std::string text = joined(characters);
    const std::size_t first = random.one_in(9) ? SIZE_MAX : random.below(characters.size() + 2);
    const std::size_t count = random.one_in(9) ? SIZE_MAX : random.below(characters.size() + 2);
    ASSERT_EQ(substring(text, first, count), joined(characters, first, count))
        << ::testing::PrintToString(text) << ' ' << first << ' ' << count;
  }
}

TEST(Utf8, ChangesTheCaseOfAsciiLettersOnly) {
  EXPECT_EQ(to_lower("AZ az 09 @[`{ \xC3\x89"), "az az 09 @[`{ \xC3\x89");
  EXPECT_EQ(to_upper("AZ az 09 @[`{ \xC3\xA9"), "AZ AZ 09 @[`{ \xC3\xA9");
}

}  // namespace
}  // namespace weir::flow::data
