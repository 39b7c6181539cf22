#include <weir/telemetry/otel/internal/utf8.hpp>

#include <string>

#include <gtest/gtest.h>

namespace weir::telemetry::otel {
namespace {

std::string repaired(std::string_view text) { return std::string(Utf8Text(text).view()); }

TEST(Utf8Text, DoesNotCopyAValidText) {
  const std::string text = "plain, \u00E4, \u20AC, \U0001F600, \u0800, \U0010FFFF";
  EXPECT_EQ(Utf8Text(text).view().data(), text.data());
  EXPECT_EQ(repaired(text), text);
  EXPECT_EQ(repaired(""), "");
}

TEST(Utf8Text, ReplacesEachByteThatBelongsToNoCharacter) {
  EXPECT_EQ(repaired("a\x80z"), "a\uFFFDz");
  EXPECT_EQ(repaired("\xFF\xFE"), "\uFFFD\uFFFD");
  EXPECT_EQ(repaired("cut \xE2\x82"), "cut \uFFFD\uFFFD");
  EXPECT_EQ(repaired("\xC3(\xC3\xA4"), "\uFFFD(\u00E4");
}

TEST(Utf8Text, RefusesOverlongFormsSurrogatesAndTooLargeNumbers) {
  EXPECT_EQ(repaired("\xC0\x80"), "\uFFFD\uFFFD");
  EXPECT_EQ(repaired("\xE0\x80\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(repaired("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(repaired("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
}

// Eight bytes are looked at together where there are so many.
TEST(Utf8Text, FindsOneBadByteWhereverItIs) {
  for (std::size_t size = 1; size <= 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      text[at] = '\x80';
      EXPECT_EQ(repaired(text), std::string(at, 'a') + "\uFFFD" + std::string(size - at - 1, 'a'));
    }
  }
}

}  // namespace
}  // namespace weir::telemetry::otel
