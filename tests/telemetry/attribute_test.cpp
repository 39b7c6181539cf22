#include <weir/telemetry/attribute.hpp>

#include <string>

#include <gtest/gtest.h>

namespace weir::telemetry {
namespace {

TEST(Attribute, KeepsTheTypeOfItsValue) {
  EXPECT_EQ(Attribute("a", true).value, AttributeValue(true));
  EXPECT_EQ(Attribute("a", 7).value, AttributeValue(std::int64_t{7}));
  EXPECT_EQ(Attribute("a", 7u).value, AttributeValue(std::int64_t{7}));
  EXPECT_EQ(Attribute("a", 0.5).value, AttributeValue(0.5));
  EXPECT_EQ(Attribute("a", "text").value, AttributeValue(std::string("text")));
}

TEST(Attribute, CutsALongTextAtTheEndOfACharacter) {
  const std::string long_text(Attribute::text_bytes_max - 1, 'a');
  const std::string umlaut = "\xC3\xA4";
  EXPECT_EQ(Attribute::bounded(long_text), long_text);
  EXPECT_EQ(Attribute::bounded(long_text + "b"), long_text + "b");
  EXPECT_EQ(Attribute::bounded(long_text + umlaut), long_text);
}

TEST(Attribute, CutsAtAnyLimit) {
  EXPECT_EQ(Attribute::cut("text", 4), "text");
  EXPECT_EQ(Attribute::cut("text", 3), "tex");
  EXPECT_EQ(Attribute::cut("a\xC3\xA4", 2), "a");
  EXPECT_EQ(Attribute::cut("text", 0), "");
}

}  // namespace
}  // namespace weir::telemetry
