#include <weir/telemetry/internal/text.hpp>

#include <vector>

#include <gtest/gtest.h>

namespace weir::telemetry::internal {
namespace {

TEST(Text, IsTrimmedOfSpacesAndTabsOnly) {
  EXPECT_EQ(trimmed(" \t a b\t "), "a b");
  EXPECT_EQ(trimmed("\na\r"), "\na\r");
  EXPECT_EQ(trimmed(" \t"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, IsTakenApartAtASeparator) {
  std::string_view rest = "a,,b";
  EXPECT_EQ(take_until(rest, ','), "a");
  EXPECT_EQ(take_until(rest, ','), "");
  EXPECT_EQ(take_until(rest, ','), "b");
  EXPECT_EQ(rest, "");
  EXPECT_EQ(take_until(rest, ','), "");
}

TEST(Text, ComparesWithoutCase) {
  EXPECT_EQ(in_lower_case("aBC[Z"), "abc[z");
  EXPECT_TRUE(equal_in_any_case("True", "tRUE"));
  EXPECT_FALSE(equal_in_any_case("true", "tru"));
  EXPECT_FALSE(equal_in_any_case("[", "{"));
}

TEST(Text, IsATokenIfAHeaderMayBeCalledThat) {
  EXPECT_TRUE(is_token("x-Api_key.1~"));
  for (const std::string_view no : {"", "a b", "a:b", "a=b", "a\"", "a\x7F", "\xC3\xA4", "a/b"}) {
    EXPECT_FALSE(is_token(no)) << no;
  }
}

TEST(Text, IsPercentDecoded) {
  EXPECT_EQ(percent_decoded("a%41%2c%2C%25"), "aA,,%");
  EXPECT_EQ(percent_decoded("%00").value(), std::string(1, '\0'));
  for (const std::string_view no : {"%", "%4", "a%4g", "%g4", "%%41", "% 4", "%-1"}) {
    EXPECT_EQ(percent_decoded(no), std::nullopt) << no;
  }
}

TEST(Text, EveryByteSurvivesPercentCoding) {
  for (int value = 0; value < 256; ++value) {
    std::string encoded;
    append_percent_encoded(encoded, static_cast<char>(value));
    EXPECT_EQ(encoded.size(), 3u);
    EXPECT_EQ(percent_decoded(encoded), std::string(1, static_cast<char>(value)));
  }
}

TEST(Text, KnowsUtf8) {
  const std::vector<std::string> good = {"a",
                                         "\xC2\x80",
                                         "\xE0\xA0\x80",
                                         "\xED\x9F\xBF",
                                         "\xEF\xBF\xBF",
                                         "\xF0\x90\x80\x80",
                                         "\xF4\x8F\xBF\xBF"};
  for (const std::string& text : good) {
    EXPECT_TRUE(is_utf8(text));
    EXPECT_EQ(utf8_character_length(text), text.size());
    EXPECT_EQ(with_utf8_repaired(text), text);
  }
}

TEST(Text, KnowsWhatIsNoUtf8) {
  const std::vector<std::string> bad = {"\x80",
                                        "\xC1\xBF",
                                        "\xC2",
                                        "\xE0\x9F\xBF",
                                        "\xED\xA0\x80",
                                        "\xE2\x82 ",
                                        "\xF0\x8F\xBF\xBF",
                                        "\xF4\x90\x80\x80",
                                        "\xF5\x80\x80\x80",
                                        "\xFF"};
  for (const std::string& text : bad) {
    EXPECT_FALSE(is_utf8(text));
    EXPECT_TRUE(is_utf8(with_utf8_repaired(text)));
  }
  EXPECT_EQ(with_utf8_repaired("a\xFF\xC3\xA4"), "a\xEF\xBF\xBD\xC3\xA4");
}

TEST(Text, IsQuotedSoThatNoTerminalObeysIt) {
  EXPECT_EQ(in_quotes("plain"), "'plain'");
  EXPECT_EQ(in_quotes("a'b\\"), "'a\\'b\\\\'");
  EXPECT_EQ(in_quotes("\x1B[2J\n\x7F\xFF"), "'\\x1b[2J\\x0a\\x7f\\xff'");
  EXPECT_EQ(in_quotes("\xC2\x9B"
                      "1m \xC3\xA4"),
            "'\\xc2\\x9b1m \xC3\xA4'");
}

TEST(Text, IsCutWhenQuoted) {
  const std::string text = in_quotes(std::string(10'000, 'a'));
  EXPECT_LT(text.size(), 140u);
  EXPECT_TRUE(text.ends_with("...'"));
}

}  // namespace
}  // namespace weir::telemetry::internal
