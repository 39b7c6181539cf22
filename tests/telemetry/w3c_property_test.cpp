#include <random>

#include <gtest/gtest.h>

#include <weir/telemetry/w3c.hpp>

// Generated values and damaged headers, against two properties: what is printed is read back, and
// what is read has one canonical form or is counted.
namespace weir::telemetry {
namespace {

constexpr int values_tried = 2'000;
constexpr int mutations_tried = 20'000;
constexpr std::string_view key_characters = "abcxyz0189_-*/@";
constexpr std::string_view token_characters = "abXYZ019!#$%&'*+-.^_`|~";

class W3cProperty : public testing::Test {
 protected:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  std::string some_of(std::string_view characters, std::size_t size) {
    std::string text;
    while (text.size() < size) text += characters[below(characters.size())];
    return text;
  }

  TraceContext context() {
    TraceContext context;
    for (auto& byte : context.trace.bytes) byte = static_cast<std::uint8_t>(random_());
    for (auto& byte : context.span.bytes) byte = static_cast<std::uint8_t>(random_());
    context.is_sampled = below(2) == 0;
    return context;
  }

  TraceState state() {
    TraceState state(below(trace_state_members_max + 1));
    for (std::size_t i = 0; i < state.size(); ++i) {
      // Each begins with another number, and is therefore unique.
      state[i].key = std::to_string(i) + "_" + some_of(key_characters, below(6));
      state[i].value = some_of(" !\"+-<>~aZ09", below(6)) + "v";
    }
    return state;
  }

  std::string characters() {
    static constexpr std::string_view choice[] = {"a",
                                                  "Z",
                                                  "=",
                                                  " ",
                                                  ",",
                                                  ";",
                                                  "%",
                                                  "\"",
                                                  "\\",
                                                  "\n",
                                                  "\x7F",
                                                  "\xC3\xA4",
                                                  "\xF0\x9F\x98\x80"};
    std::string text;
    for (std::size_t i = below(8); i > 0; --i) text += choice[below(std::size(choice))];
    return text;
  }

  Baggage baggage() {
    Baggage baggage(below(20));
    for (BaggageMember& member : baggage) {
      member.key = some_of(token_characters, 1 + below(8));
      member.value = characters();
      member.properties.resize(below(3));
      for (BaggageProperty& property : member.properties) {
        property.key = some_of(token_characters, 1 + below(4));
        if (below(2) == 0) property.value = characters();
      }
    }
    return baggage;
  }

  // One to three bytes changed, added, removed or repeated.
  std::string damaged(std::string text) {
    for (std::size_t i = 1 + below(3); i > 0; --i) {
      const std::size_t at = below(text.size() + 1);
      const auto byte = static_cast<char>(below(4) == 0 ? below(256) : ",;=-%0af \t"[below(10)]);
      switch (below(4)) {
        case 0: text.insert(at, 1, byte); break;
        case 1: text.insert(at, text.substr(at, below(40))); break;
        case 2: text.erase(at, 1 + below(3)); break;
        default:
          if (at < text.size()) text[at] = byte;
      }
    }
    return text;
  }

  std::mt19937_64::result_type seed_ = std::random_device{}();
  testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
  std::mt19937_64 random_{seed_};
};

// That `text` is counted as malformed, or has one canonical form that reads as the same value.
template <class Parse, class Print>
void expect_canonical_or_counted(PropagationHeader header, const std::string& text, Parse parse,
                                 Print print) {
  const std::uint64_t before = malformed_headers(header);
  const auto value = parse(text);
  ASSERT_EQ(malformed_headers(header) - before, value ? 0u : 1u) << text;
  if (!value) return;
  const auto canonical = print(*value);
  ASSERT_TRUE(canonical) << text;
  const auto again = parse(*canonical);
  ASSERT_TRUE(again) << text;
  ASSERT_EQ(print(*again), canonical) << text;
}

std::optional<std::string> print_context(const TraceContext& context) {
  return print_traceparent(context);
}

TEST_F(W3cProperty, TraceparentReadsWhatItPrints) {
  for (int i = 0; i < values_tried; ++i) {
    const TraceContext printed = context();
    const auto read = parse_traceparent(print_traceparent(printed));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->trace, printed.trace);
    EXPECT_EQ(read->span, printed.span);
    EXPECT_EQ(read->is_sampled, printed.is_sampled);
  }
}

TEST_F(W3cProperty, TracestateReadsWhatItPrints) {
  int printed = 0;
  for (int i = 0; i < values_tried; ++i) {
    const TraceState value = state();
    const auto text = print_tracestate(value);
    if (!text) continue;  // too long
    ++printed;
    EXPECT_EQ(parse_tracestate(*text), value) << *text;
  }
  EXPECT_GT(printed, values_tried / 2);
}

TEST_F(W3cProperty, BaggageReadsWhatItPrints) {
  for (int i = 0; i < values_tried; ++i) {
    const Baggage value = baggage();
    const auto text = print_baggage(value);
    ASSERT_TRUE(text);
    EXPECT_EQ(parse_baggage(*text), value) << *text;
  }
}

TEST_F(W3cProperty, DamagedTraceparentIsCountedOrCanonical) {
  for (int i = 0; i < mutations_tried; ++i) {
    expect_canonical_or_counted(PropagationHeader::traceparent,
                                damaged(print_traceparent(context())), parse_traceparent,
                                print_context);
  }
}

TEST_F(W3cProperty, DamagedTracestateIsCountedOrCanonical) {
  for (int i = 0; i < mutations_tried; ++i) {
    expect_canonical_or_counted(PropagationHeader::tracestate,
                                damaged(print_tracestate(state()).value_or("a=1")),
                                parse_tracestate, print_tracestate);
  }
}

TEST_F(W3cProperty, DamagedBaggageIsCountedOrCanonical) {
  for (int i = 0; i < mutations_tried; ++i) {
    expect_canonical_or_counted(PropagationHeader::baggage,
                                damaged(print_baggage(baggage()).value()), parse_baggage,
                                print_baggage);
  }
}

}  // namespace
}  // namespace weir::telemetry
