#include <weir/telemetry/trace_context.hpp>

#include <random>

#include <gtest/gtest.h>

namespace weir::telemetry {
namespace {

constexpr std::string_view trace_text = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr std::string_view span_text = "00f067aa0ba902b7";

TEST(TraceId, PrintsAsThirtyTwoLowerCaseDigits) {
  TraceId id;
  id.bytes[0] = 0x0A;
  id.bytes[15] = 0xF1;
  EXPECT_EQ(to_string(id), "0a0000000000000000000000000000f1");
}

TEST(SpanId, PrintsAsSixteenLowerCaseDigits) {
  SpanId id;
  id.bytes[0] = 0xBC;
  id.bytes[7] = 0x01;
  EXPECT_EQ(to_string(id), "bc00000000000001");
}

TEST(TraceId, ParsesWhatItPrints) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 1000; ++i) {
    TraceId trace;
    SpanId span;
    for (auto& byte : trace.bytes) byte = static_cast<std::uint8_t>(random());
    for (auto& byte : span.bytes) byte = static_cast<std::uint8_t>(random());
    EXPECT_EQ(parse_trace_id(to_string(trace)), trace);
    EXPECT_EQ(parse_span_id(to_string(span)), span);
  }
}

TEST(TraceId, OfAllZeroesIsRefused) {
  EXPECT_EQ(parse_trace_id(to_string(TraceId{})), std::nullopt);
  EXPECT_EQ(parse_span_id(to_string(SpanId{})), std::nullopt);
}

TEST(TraceId, OfAnotherLengthIsRefused) {
  EXPECT_EQ(parse_trace_id(""), std::nullopt);
  EXPECT_EQ(parse_trace_id(trace_text.substr(1)), std::nullopt);
  EXPECT_EQ(parse_trace_id(std::string(trace_text) + "0"), std::nullopt);
  EXPECT_EQ(parse_trace_id(span_text), std::nullopt);
  EXPECT_EQ(parse_span_id(trace_text), std::nullopt);
}

TEST(TraceId, IsRefusedWithAnyByteThatIsNoLowerCaseDigit) {
  for (std::size_t at = 0; at < trace_text.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text(trace_text);
      text[at] = static_cast<char>(byte);
      const bool is_digit = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');
      EXPECT_EQ(parse_trace_id(text).has_value(), is_digit) << text;
    }
  }
}

}  // namespace
}  // namespace weir::telemetry
