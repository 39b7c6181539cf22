#include <gtest/gtest.h>

#include <weir/telemetry/w3c.hpp>

namespace weir::telemetry {
namespace {

bool is_refused(std::string_view text) {
  const std::uint64_t before = malformed_headers(PropagationHeader::baggage);
  const bool refused = !parse_baggage(text);
  EXPECT_EQ(malformed_headers(PropagationHeader::baggage) - before, refused ? 1u : 0u) << text;
  return refused;
}

std::string members(int count) {
  std::string text = "k=";
  for (int i = 1; i < count; ++i) text += ",k=";
  return text;
}

std::string value_of(std::string_view text) {
  const auto baggage = parse_baggage(text);
  EXPECT_TRUE(baggage && baggage->size() == 1) << text;
  return baggage ? baggage->front().value : "";
}

TEST(Baggage, IsAListOfKeysValuesAndProperties) {
  EXPECT_EQ(parse_baggage("key1=value1;property1;property2, key2 = value2, key3=value3; "
                          "propertyKey=propertyValue"),
            (Baggage{{"key1", "value1", {{"property1", {}}, {"property2", {}}}},
                     {"key2", "value2", {}},
                     {"key3", "value3", {{"propertyKey", "propertyValue"}}}}));
}

TEST(Baggage, MayBeEmpty) {
  EXPECT_EQ(parse_baggage(""), Baggage{});
  EXPECT_EQ(parse_baggage(" \t "), Baggage{});
}

TEST(Baggage, IgnoresWhiteSpaceAroundEverything) {
  EXPECT_EQ(parse_baggage("\t a \t=\t 1 \t;\t p\t=\t 2 ;q \t,\tb= "),
            (Baggage{{"a", "1", {{"p", "2"}, {"q", {}}}}, {"b", "", {}}}));
}

TEST(Baggage, KeepsTheOrderOfAKeyNamedTwice) {
  EXPECT_EQ(print_baggage(parse_baggage("a=2,b=3,a=1").value()), "a=2,b=3,a=1");
}

TEST(Baggage, MayHaveEqualsSignsInAValue) {
  EXPECT_EQ(value_of("a=b=c=="), "b=c==");
  EXPECT_EQ(print_baggage({{"a", "b=c", {{"p", "=d"}}}}), "a=b=c;p==d");
}

TEST(Baggage, HasPercentEncodedValues) {
  EXPECT_EQ(value_of("a=DF%2028"), "DF 28");
  EXPECT_EQ(value_of("a=%c3%A4%2C%3B%25%0D%0A"), "\xC3\xA4,;%\r\n");
  EXPECT_EQ(parse_baggage("a=1;p=%41"), (Baggage{{"a", "1", {{"p", "A"}}}}));
  EXPECT_EQ(print_baggage({{"a", "\xC3\xA4 ,;%\"\\\r\n", {}}}), "a=%C3%A4%20%2C%3B%25%22%5C%0D%0A");
}

TEST(Baggage, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(value_of("a=x%FFy%C3"), "x\xEF\xBF\xBDy\xEF\xBF\xBD");
}

TEST(Baggage, DoesNotDecodeKeys) {
  EXPECT_EQ(parse_baggage("%41=1"), (Baggage{{"%41", "1", {}}}));
  EXPECT_EQ(print_baggage({{"%41", "1", {}}}), "%41=1");
}

TEST(Baggage, IsRefusedForAMemberThatIsNone) {
  for (const char* text : {"a", "=1", ",", "a=1,", ",a=1", "a=1,,b=2", "a;p=1", ";p", "a=1,b"}) {
    EXPECT_TRUE(is_refused(text)) << text;
  }
}

TEST(Baggage, IsRefusedForAKeyThatIsNoToken) {
  for (const char* text : {"a b=1", "a:b=1", "a/b=1", "\xC3\xA4=1", "\"a\"=1", "a\n=1", "(a)=1"}) {
    EXPECT_TRUE(is_refused(text)) << text;
  }
}

TEST(Baggage, IsRefusedForAValueThatIsNone) {
  for (const char* text : {"a=b c", "a=\"b\"", "a=b\\c", "a=\xC3\xA4", "a=\n", "a=1\r", "a=\x7F"}) {
    EXPECT_TRUE(is_refused(text)) << text;
  }
  EXPECT_TRUE(is_refused(std::string_view("a=\0", 3)));
}

TEST(Baggage, IsRefusedForAPercentSignThatEncodesNothing) {
  for (const char* text : {"a=100%", "a=%4", "a=%zz", "a=1;p=%", "a=%%20"}) {
    EXPECT_TRUE(is_refused(text)) << text;
  }
}

TEST(Baggage, IsRefusedForAPropertyThatIsNone) {
  for (const char* text : {"a=1;", "a=1;;p", "a=1;=2", "a=1;p q", "a=1;p=q r", "a=1; "}) {
    EXPECT_TRUE(is_refused(text)) << text;
  }
}

TEST(Baggage, HasAtMost180Members) {
  EXPECT_FALSE(is_refused(members(180)));
  EXPECT_TRUE(is_refused(members(181)));
  EXPECT_EQ(print_baggage(Baggage(181, BaggageMember{"k", "", {}})), std::nullopt);
}

TEST(Baggage, HasAtMost8192Bytes) {
  EXPECT_FALSE(is_refused("k=" + std::string(8190, 'v')));
  EXPECT_TRUE(is_refused("k=" + std::string(8191, 'v')));
  EXPECT_EQ(print_baggage({{"k", std::string(8191, 'v'), {}}}), std::nullopt);
}

TEST(Baggage, IsRefusedIfItWouldGrowPastThatWhenRepaired) {
  std::string text = "k=";
  for (int i = 0; i < 1000; ++i) text += "%FF";
  EXPECT_LT(text.size(), baggage_bytes_max);
  EXPECT_TRUE(is_refused(text));
}

TEST(Baggage, IsPrintedOnlyIfItCouldBeRead) {
  EXPECT_EQ(print_baggage({}), "");
  EXPECT_EQ(print_baggage({{"a b", "1", {}}}), std::nullopt);
  EXPECT_EQ(print_baggage({{"", "1", {}}}), std::nullopt);
  EXPECT_EQ(print_baggage({{"a", "\xFF", {}}}), std::nullopt);
  EXPECT_EQ(print_baggage({{"a", "1", {{"p;", {}}}}}), std::nullopt);
  EXPECT_EQ(print_baggage({{"a", "1", {{"p", "\x80"}}}}), std::nullopt);
}

}  // namespace
}  // namespace weir::telemetry
