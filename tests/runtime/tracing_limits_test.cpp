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

class Talker final : public Actor<Talk> {
 public:
  void on(Talk) {
    Span part = span("part", {{"first", 1}, {"second", 2}});
    for (int i = 0; i < 3; ++i) part.set({"more", i});
    for (int i = 0; i < 7; ++i) part.add_event("event");
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

TEST(TracingLimits, WithinThemNothingIsDropped) {
  const SpanRecord part = part_with({.attributes_max = 5, .events_max = 7});
  EXPECT_EQ(part.attributes.size(), 5u);
  EXPECT_EQ(part.events.size(), 7u);
  EXPECT_EQ(part.dropped_attributes + part.dropped_events, 0u);
}

}  // namespace
}  // namespace weir
