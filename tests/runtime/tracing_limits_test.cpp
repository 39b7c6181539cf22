// How much one span keeps.

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
    for (int i = 0; i < 3; ++i) part.set({"more", i});
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

}  // namespace
}  // namespace weir
