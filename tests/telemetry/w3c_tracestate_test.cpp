#include <gtest/gtest.h>

#include <weir/telemetry/w3c.hpp>

namespace weir::telemetry {
namespace {

bool is_refused(std::string_view text) {
  const std::uint64_t before = malformed_headers(PropagationHeader::tracestate);
  const bool refused = !parse_tracestate(text);
  EXPECT_EQ(malformed_headers(PropagationHeader::tracestate) - before, refused ? 1u : 0u) << text;
  return refused;
}

std::string members(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    text += "k" + std::to_string(i) + "=v";
  }
  return text;
}

TEST(Tracestate, IsAListOfKeysAndValues) {
  EXPECT_EQ(parse_tracestate("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
            (TraceState{{"rojo", "00f067aa0ba902b7"}, {"congo", "t61rcWkgMzE"}}));
}

TEST(Tracestate, MayBeEmptyAndHaveEmptyMembers) {
  EXPECT_EQ(parse_tracestate(""), TraceState{});
  EXPECT_EQ(parse_tracestate(" \t"), TraceState{});
  EXPECT_EQ(parse_tracestate(",, \t,"), TraceState{});
  EXPECT_EQ(parse_tracestate("a=1,,b=2,"), (TraceState{{"a", "1"}, {"b", "2"}}));
}

TEST(Tracestate, IgnoresWhiteSpaceAroundMembers) {
  EXPECT_EQ(parse_tracestate("\t a=1 \t , \t b=2\t"), (TraceState{{"a", "1"}, {"b", "2"}}));
}

TEST(Tracestate, KeepsTheSpacesThatBeginAValue) {
  EXPECT_EQ(parse_tracestate("a=  1 2  "), (TraceState{{"a", "  1 2"}}));
}

TEST(Tracestate, TakesEveryCharacterThatTheGrammarAllows) {
  const std::string key = "0abcdefghijklmnopqrstuvwxyz0123456789_-*/@";
  std::string value;
  for (char c = 0x20; c < 0x7F; ++c) {
    if (c != ',' && c != '=') value += c;
  }
  EXPECT_EQ(parse_tracestate(key + "=" + value), (TraceState{{key, value}}));
}

TEST(Tracestate, IsRefusedForAMemberThatIsNone) {
  for (const char* text : {"a", "a=", "=1", "=", "a=1,b", "a= ", "a=1=2", "a=1;b=2,c"}) {
    EXPECT_TRUE(is_refused(text)) << text;
  }
}

TEST(Tracestate, IsRefusedForAKeyThatIsNone) {
  for (const char* text : {"A=1", "a.b=1", "a =1", "_a=1", "@a=1", "-=1", "a\x80=1", "a b=1"}) {
    EXPECT_TRUE(is_refused(text)) << text;
  }
}

TEST(Tracestate, IsRefusedForAValueThatIsNone) {
  for (const char* text : {"a=\x7F", "a=1\n", "a=\r\n2", "a=\x01", "a=\xC3\xA4", "a=1\t2"}) {
    EXPECT_TRUE(is_refused(text)) << text;
  }
  EXPECT_TRUE(is_refused(std::string_view("a=1\0", 4)));
}

TEST(Tracestate, IsRefusedIfItNamesAKeyTwice) {
  EXPECT_TRUE(is_refused("a=1,a=1"));
  EXPECT_TRUE(is_refused("a=1,b=2,a=3"));
}

TEST(Tracestate, HasAtMost32Members) {
  EXPECT_FALSE(is_refused(members(32)));
  EXPECT_TRUE(is_refused(members(33)));
  EXPECT_TRUE(is_refused(members(32) + ","));
}

TEST(Tracestate, HasKeysAndValuesOfAtMost256Characters) {
  EXPECT_FALSE(is_refused(std::string(256, 'k') + "=v"));
  EXPECT_TRUE(is_refused(std::string(257, 'k') + "=v"));
  EXPECT_FALSE(is_refused("k=" + std::string(256, 'v')));
  EXPECT_TRUE(is_refused("k=" + std::string(257, 'v')));
}

TEST(Tracestate, HasAtMost512Characters) {
  const std::string exactly = std::string(255, 'k') + "=" + std::string(252, 'v') + ",a=1";
  EXPECT_EQ(exactly.size(), 512u);
  EXPECT_FALSE(is_refused(exactly));
  EXPECT_TRUE(is_refused(exactly + " "));
}

TEST(Tracestate, IsPrintedOnlyIfItCouldBeRead) {
  EXPECT_EQ(print_tracestate({}), "");
  EXPECT_EQ(print_tracestate({{"a", "1"}, {"b", " 2"}}), "a=1,b= 2");
  EXPECT_EQ(print_tracestate({{"A", "1"}}), std::nullopt);
  EXPECT_EQ(print_tracestate({{"a", "1\r\n"}}), std::nullopt);
  EXPECT_EQ(print_tracestate({{"a", "1 "}}), std::nullopt);
  EXPECT_EQ(print_tracestate({{"a", "1"}, {"a", "2"}}), std::nullopt);
  EXPECT_EQ(print_tracestate({{"a", std::string(256, 'v')}, {"b", std::string(256, 'v')}}),
            std::nullopt);
  EXPECT_EQ(print_tracestate(TraceState(33, {"a", "1"})), std::nullopt);
}

}  // namespace
}  // namespace weir::telemetry
