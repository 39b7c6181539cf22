// How much one span keeps.

#include <string>

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>
#include <weir/runtime/span.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir {
namespace {

using telemetry::SpanRecord;
using testing::RecordedSpans;

struct Talk {};

telemetry::TraceContext elsewhere(std::uint8_t number) {
  telemetry::TraceContext context;
  context.trace.bytes[0] = number;
  context.span.bytes[0] = number;
  return context;
}

class Talker final : public Actor<Talk> {
 public:
  void on(Talk) {
    Span part = span("part", {{"first", 1}, {"second", 2}});
    for (int i = 0; i < 3; ++i) part.set({"more" + std::to_string(i), i});
    part.set({"first", 3});
    for (int i = 0; i < 7; ++i) part.add_event("event");
    for (std::uint8_t i = 1; i <= 3; ++i) part.add_link(elsewhere(i));
    part.add_link({});  // nowhere
  }
};

SpanRecord part_with(telemetry::SpanLimits limits) {
  const RecordedSpans spans({.limits = limits});
  SimulationOptions options;
  options.system.telemetry = spans.telemetry();
  Simulation simulation(options);
  simulation.system().spawn<Talker>().send<Talk>();
  simulation.run_until_idle();
  return spans.one("part");
}

TEST(TracingLimits, AttributesBeyondTheLimitAreCounted) {
  const SpanRecord part = part_with({.attributes_max = 2});
  EXPECT_EQ(part.attributes.size(), 2u);
  EXPECT_EQ(part.attributes[1].name, "second");
  EXPECT_EQ(part.dropped_attributes, 3u);
}

TEST(TracingLimits, AnAttributeHasItsLastValue) {
  const SpanRecord part = part_with({.attributes_max = 2});
  EXPECT_EQ(part.attributes[0], telemetry::Attribute("first", 3));
  EXPECT_EQ(part.attributes[1], telemetry::Attribute("second", 2));
}

TEST(TracingLimits, EventsBeyondTheLimitAreCounted) {
  const SpanRecord part = part_with({.events_max = 4});
  EXPECT_EQ(part.events.size(), 4u);
  EXPECT_EQ(part.dropped_events, 3u);
}

TEST(TracingLimits, LinksBeyondTheLimitAreCounted) {
  const SpanRecord part = part_with({.links_max = 2});
  ASSERT_EQ(part.links.size(), 2u);
  EXPECT_EQ(part.links[1].context.trace, elsewhere(2).trace);
  EXPECT_EQ(part.links[1].context.span, elsewhere(2).span);
  EXPECT_EQ(part.dropped_links, 1u);
}

TEST(TracingLimits, WithinThemNothingIsDropped) {
  const SpanRecord part = part_with({.attributes_max = 5, .events_max = 7});
  EXPECT_EQ(part.attributes.size(), 5u);
  EXPECT_EQ(part.events.size(), 7u);
  EXPECT_EQ(part.links.size(), 3u);
  EXPECT_EQ(part.dropped_attributes + part.dropped_events + part.dropped_links, 0u);
}

struct Say {
  std::string text;
};
struct Hear {};

class Speaker final : public Actor<Say, Hear> {
 public:
  void on(Say say) {
    set_attribute({"said", say.text});
    set_attribute({"length", say.text.size()});
    add_event("spoke", {{"said", say.text}});
    self().send<Hear>();
    throw std::runtime_error(say.text);
  }
  void on(Hear) {}
};

class TracingLimitsOfTexts : public ::testing::Test {
 protected:
  explicit TracingLimitsOfTexts(telemetry::SpanLimits limits = {.text_bytes_max = 4})
      : spans_({.limits = limits}) {
    SimulationOptions options;
    options.system.telemetry = spans_.telemetry();
    options.system.on_failure = [](const ActorFailure&) {};
    Simulation simulation(options);
    const SpawnOptions restarted{.supervision = {.directive = Supervision::Directive::restart}};
    simulation.system().spawn<Speaker>(restarted).send<Say>("a long text");
    simulation.run_until_idle();
  }

  static std::string text(const telemetry::Attributes& attributes, std::string_view name) {
    for (const auto& attribute : attributes) {
      if (attribute.name == name) return std::get<std::string>(attribute.value);
    }
    return "none";
  }

  RecordedSpans spans_;
};

TEST_F(TracingLimitsOfTexts, ValuesOfAttributesAreCut) {
  const SpanRecord said = spans_.one("Say");
  EXPECT_EQ(text(said.attributes, "said"), "a lo");
  ASSERT_EQ(said.events.size(), 2u);
  EXPECT_EQ(text(said.events[0].attributes, "said"), "a lo");
  EXPECT_EQ(text(said.events[1].attributes, "exception.message"), "a lo");
  EXPECT_EQ(text(spans_.one("restart").attributes, "exception.message"), "a lo");
}

TEST_F(TracingLimitsOfTexts, WhatIsNoSuchValueIsKept) {
  const SpanRecord said = spans_.one("Say");
  EXPECT_EQ(*RecordedSpans::attribute(said, "length"), telemetry::AttributeValue(std::int64_t{11}));
  EXPECT_EQ(said.events[0].name, "spoke");
  EXPECT_EQ(said.status_message, "a long text");
}

class TracingWithoutLinks : public TracingLimitsOfTexts {
 protected:
  TracingWithoutLinks() : TracingLimitsOfTexts({.links_max = 0}) {}
};

TEST_F(TracingLimitsOfTexts, ALinkIsKept) {
  EXPECT_EQ(spans_.one("Hear").links.size(), 1u);
  EXPECT_EQ(spans_.one("Hear").dropped_links, 0u);
}

TEST_F(TracingWithoutLinks, ALinkIsCountedAndItsParentKept) {
  const SpanRecord heard = spans_.one("Hear");
  EXPECT_TRUE(heard.links.empty());
  EXPECT_EQ(heard.dropped_links, 1u);
  EXPECT_EQ(heard.parent, spans_.one("Say").context.span);
  EXPECT_EQ(spans_.one("Say").dropped_links, 0u);
}

}  // namespace
}  // namespace weir
