#include <weir/telemetry/w3c.hpp>

#include <array>
#include <map>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

namespace weir::telemetry {
namespace {

using Headers = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view trace_text = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr std::string_view span_text = "00f067aa0ba902b7";
constexpr std::string_view traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TraceContext extract_from(const Headers& headers) {
  return extract([&](std::string_view name) -> std::optional<std::string> {
    const auto at = headers.find(name);
    if (at == headers.end()) return std::nullopt;
    return at->second;
  });
}

Headers injected(const TraceContext& context) {
  Headers headers;
  inject(context, [&](std::string_view name, const std::string& value) {
    EXPECT_TRUE(headers.emplace(name, value).second) << name;
  });
  return headers;
}

std::string with_version(std::string_view version, std::string_view end = "") {
  return std::string(version) + std::string(traceparent.substr(2)) + std::string(end);
}

// How many headers of one kind have been ignored since this was made.
class Ignored {
 public:
  explicit Ignored(PropagationHeader header) : header_(header) {}
  std::uint64_t count() const { return malformed_headers(header_) - before_; }

 private:
  PropagationHeader header_;
  std::uint64_t before_ = malformed_headers(header_);
};

TEST(Traceparent, SaysTraceSpanAndWhetherSampled) {
  const auto context = parse_traceparent(traceparent);
  ASSERT_TRUE(context);
  EXPECT_EQ(to_string(context->trace), trace_text);
  EXPECT_EQ(to_string(context->span), span_text);
  EXPECT_TRUE(context->is_sampled);
  EXPECT_EQ(context->baggage, nullptr);
  EXPECT_EQ(print_traceparent(*context), traceparent);
}

TEST(Traceparent, OfItsFlagsOnlyTheLowestIsReadAndWritten) {
  for (int flags = 0; flags < 256; ++flags) {
    std::string text(traceparent.substr(0, 53));
    text += "0123456789abcdef"[flags / 16];
    text += "0123456789abcdef"[flags % 16];
    const auto context = parse_traceparent(text);
    ASSERT_TRUE(context) << text;
    EXPECT_EQ(context->is_sampled, flags % 2 == 1) << text;
    EXPECT_EQ(print_traceparent(*context).substr(53), flags % 2 == 1 ? "01" : "00");
  }
}

TEST(Traceparent, OfALaterVersionIsReadAndWrittenAsThisOne) {
  for (const char* version : {"01", "cc", "fe", "0f", "f0"}) {
    for (const char* end : {"", "-", "-what-the-future-will-be-like", "-\xFF"}) {
      const auto context = parse_traceparent(with_version(version, end));
      ASSERT_TRUE(context) << version << end;
      EXPECT_EQ(print_traceparent(*context), traceparent);
    }
  }
}

TEST(Traceparent, OfALaterVersionIsRefusedIfSomethingElseFollowsTheKnownFields) {
  for (const char* end : {".what", "0", " ", "01-"}) {
    EXPECT_FALSE(parse_traceparent(with_version("cc", end))) << end;
  }
}

TEST(Traceparent, OfThisVersionIsRefusedIfAnythingFollows) {
  for (const char* end : {"-", "-00", ".", " ", "0"}) {
    EXPECT_FALSE(parse_traceparent(with_version("00", end))) << end;
  }
}

TEST(Traceparent, OfVersionFfIsRefused) {
  EXPECT_FALSE(parse_traceparent(with_version("ff")));
  EXPECT_FALSE(parse_traceparent(with_version("ff", "-more")));
}

TEST(Traceparent, IsRefusedWhateverOfItIsCutOff) {
  for (std::size_t size = 0; size < traceparent.size(); ++size) {
    EXPECT_FALSE(parse_traceparent(traceparent.substr(0, size))) << size;
    EXPECT_FALSE(parse_traceparent(traceparent.substr(traceparent.size() - size))) << size;
  }
}

TEST(Traceparent, IsRefusedWithIdsOfZeroes) {
  EXPECT_FALSE(parse_traceparent("00-00000000000000000000000000000000-00f067aa0ba902b7-01"));
  EXPECT_FALSE(parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"));
}

TEST(Traceparent, IsRefusedWithAnyOtherCharacterInAnyPlace) {
  for (std::size_t at = 0; at < traceparent.size(); ++at) {
    for (const char c : std::string("ABCDEFGghz. \t\n\0_+,\x80\xFF", 20)) {
      std::string text(traceparent);
      text[at] = c;
      EXPECT_FALSE(parse_traceparent(text)) << text;
    }
  }
}

TEST(Traceparent, ThatIsRefusedIsCounted) {
  const Ignored ignored(PropagationHeader::traceparent);
  EXPECT_FALSE(parse_traceparent("nonsense"));
  EXPECT_FALSE(parse_traceparent(""));
  EXPECT_TRUE(parse_traceparent(traceparent));
  EXPECT_EQ(ignored.count(), 2u);
}

TEST(Traceparent, IsCountedByAllThreadsTogether) {
  const Ignored ignored(PropagationHeader::traceparent);
  {
    std::array<std::jthread, 4> threads;
    for (std::jthread& thread : threads) {
      thread = std::jthread([] {
        for (int n = 0; n < 1000; ++n) EXPECT_FALSE(parse_traceparent("nonsense"));
      });
    }
  }
  EXPECT_EQ(ignored.count(), 4000u);
}

TEST(Extract, GivesNothingForARequestWithoutHeaders) {
  const Ignored ignored(PropagationHeader::traceparent);
  const TraceContext context = extract_from({});
  EXPECT_FALSE(context.is_valid());
  EXPECT_EQ(context.baggage, nullptr);
  EXPECT_EQ(ignored.count(), 0u);
}

TEST(Extract, ReadsAllThreeHeadersAndInjectWritesThem) {
  const Headers headers = {{"traceparent", std::string(traceparent)},
                           {"tracestate", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"},
                           {"baggage", "userId=alice,serverNode=DF%2028;cached"}};
  EXPECT_EQ(injected(extract_from(headers)), headers);
}

TEST(Extract, KeepsTheCanonicalFormOfWhatItRead) {
  const TraceContext context = extract_from({{"traceparent", with_version("cc", "-more")},
                                             {"tracestate", " a=1 ,\t, b= 2 "},
                                             {"baggage", "user = %61lice ; p = %3b , k="}});
  ASSERT_TRUE(context.baggage);
  EXPECT_EQ(context.baggage->trace_state, "a=1,b= 2");
  EXPECT_EQ(context.baggage->baggage, "user=alice;p=%3B,k=");
}

TEST(Extract, DropsOnlyTheTracestateIfThatIsMalformed) {
  const Ignored ignored(PropagationHeader::tracestate);
  const TraceContext context = extract_from(
      {{"traceparent", std::string(traceparent)}, {"tracestate", "a=1,a=2"}, {"baggage", "k=v"}});
  EXPECT_EQ(print_traceparent(context), traceparent);
  ASSERT_TRUE(context.baggage);
  EXPECT_EQ(context.baggage->trace_state, "");
  EXPECT_EQ(context.baggage->baggage, "k=v");
  EXPECT_EQ(ignored.count(), 1u);
}

TEST(Extract, DropsTheTracestateOfAMalformedTraceparentWithoutLookingAtIt) {
  const Ignored ignored(PropagationHeader::traceparent);
  const Ignored ignored_state(PropagationHeader::tracestate);
  const TraceContext context =
      extract_from({{"traceparent", "00-1-2-3"}, {"tracestate", "!"}, {"baggage", "k=v"}});
  EXPECT_FALSE(context.is_valid());
  ASSERT_TRUE(context.baggage);
  EXPECT_EQ(*context.baggage, (TraceBaggage{"", "k=v"}));
  EXPECT_EQ(ignored.count(), 1u);
  EXPECT_EQ(ignored_state.count(), 0u);
}

TEST(Extract, DropsATracestateThatComesAlone) {
  EXPECT_EQ(extract_from({{"tracestate", "a=1"}}).baggage, nullptr);
}

TEST(Extract, RefusesTwoTraceparentsJoinedAsHttpJoinsLines) {
  const std::string twice = std::string(traceparent) + ", " + std::string(traceparent);
  EXPECT_FALSE(extract_from({{"traceparent", twice}}).is_valid());
}

TEST(Inject, WritesNothingForAContextThatIsNone) {
  TraceContext context;
  EXPECT_EQ(injected(context), Headers{});
  context.baggage = std::make_shared<TraceBaggage>(TraceBaggage{"a=1", "k=v"});
  EXPECT_EQ(injected(context), (Headers{{"baggage", "k=v"}}));
}

TEST(Inject, NeverWritesATextThatCouldAddHeaders) {
  TraceContext context = parse_traceparent(traceparent).value();
  context.baggage = std::make_shared<TraceBaggage>(
      TraceBaggage{"a=1\r\nauthorization: x", "k=v\r\nauthorization: x"});
  const Ignored states(PropagationHeader::tracestate);
  const Ignored baggage(PropagationHeader::baggage);
  EXPECT_EQ(injected(context), (Headers{{"traceparent", std::string(traceparent)}}));
  EXPECT_EQ(states.count(), 1u);
  EXPECT_EQ(baggage.count(), 1u);
}

}  // namespace
}  // namespace weir::telemetry
