// Where the ids of traces and spans come from.

#include <array>
#include <set>

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>
#include <weir/telemetry/sampler.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir {
namespace {

using testing::RecordedSpans;

struct Draw {};

class Gambler final : public Actor<Draw> {
 public:
  explicit Gambler(std::vector<std::uint64_t>* drawn) : drawn_(drawn) {}
  void on(Draw) { drawn_->push_back(random()); }

 private:
  std::vector<std::uint64_t>* drawn_;
};

std::vector<std::uint64_t> draw(telemetry::Telemetry* telemetry, std::uint64_t seed = 1,
                                int times = 64) {
  std::vector<std::uint64_t> drawn;
  SimulationOptions options{.seed = seed};
  options.system.telemetry = telemetry;
  Simulation simulation(options);
  auto gambler = simulation.system().spawn<Gambler>(&drawn);
  for (int i = 0; i < times; ++i) gambler.send<Draw>();
  simulation.run_until_idle();
  return drawn;
}

TEST(TracingIds, AreNotDrawnFromTheNumbersOfActors) {
  const RecordedSpans spans;
  EXPECT_EQ(draw(spans.telemetry()), draw(nullptr));
  EXPECT_EQ(spans.all().size(), 64u);
}

TEST(TracingIds, DependOnTheSeedAlone) {
  const RecordedSpans first;
  const RecordedSpans again;
  const RecordedSpans other;
  draw(first.telemetry());
  draw(again.telemetry());
  draw(other.telemetry(), 2);
  const auto ids = [](const RecordedSpans& spans) {
    std::vector<telemetry::SpanId> all;
    for (const auto& span : spans.all()) all.push_back(span.context.span);
    return all;
  };
  EXPECT_EQ(ids(first), ids(again));
  EXPECT_NE(ids(first), ids(other));
}

TEST(TracingIds, OfWhatIsRecordedByRatioAreThoseThatEveryProcessWouldRecord) {
  const telemetry::SamplerOptions half{.kind = telemetry::SamplerKind::ratio, .ratio = 0.5};
  telemetry::TelemetryOptions options;
  options.sampler = half;
  const RecordedSpans spans(options);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) draw(spans.telemetry(), seed);
  const auto all = spans.all();
  EXPECT_NEAR(static_cast<double>(all.size()), 20 * 64 * 0.5, 100);
  const telemetry::Sampler sampler(half);
  for (const auto& span : all) EXPECT_TRUE(sampler.samples(span.context.trace));
}

telemetry::TelemetryOptions sampling(double ratio) {
  telemetry::TelemetryOptions options;
  options.sampler = {.kind = telemetry::SamplerKind::ratio, .ratio = ratio};
  return options;
}

/// The part of their trace that decides.
std::vector<std::vector<std::uint8_t>> numbers(const std::vector<telemetry::SpanRecord>& spans) {
  std::vector<std::vector<std::uint8_t>> all;
  for (const auto& span : spans) {
    const auto& bytes = span.context.trace.bytes;
    all.emplace_back(bytes.begin() + 8, bytes.end());
  }
  return all;
}

TEST(TracingIds, WhatIsRecordedByASmallRatioIsThatPartOfAllThere) {
  constexpr int times = 500;
  for (const double ratio : {0.0, 0.001, 0.02, 0.3, 1.0}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const RecordedSpans all;
      const RecordedSpans some(sampling(ratio));
      draw(all.telemetry(), seed, times);
      draw(some.telemetry(), seed, times);
      std::vector<telemetry::SpanRecord> expected = all.all();
      EXPECT_EQ(expected.size(), std::size_t{times});
      const telemetry::Sampler sampler(sampling(ratio).sampler);
      std::erase_if(expected,
                    [&](const auto& span) { return !sampler.samples(span.context.trace); });
      EXPECT_EQ(numbers(some.all()), numbers(expected)) << ratio << ", seed " << seed;
    }
  }
}

struct Tick {};

/// Armed outside of any trace: each of its messages begins one.
class Clockwork final : public Actor<Tick> {
 public:
  void on_start() { schedule_every<Tick>(std::chrono::seconds(1)); }
  void on(Tick) {}
};

TEST(TracingIds, EachMessageOfATimerThatNothingCausedIsDecidedUpon) {
  constexpr std::size_t ticks = 200;
  const RecordedSpans spans(sampling(0.1));
  SimulationOptions options;
  options.system.telemetry = spans.telemetry();
  Simulation simulation(options);
  simulation.system().spawn<Clockwork>();
  simulation.run_for(std::chrono::seconds(ticks));
  EXPECT_NEAR(static_cast<double>(spans.named("Tick").size()), ticks * 0.1, ticks * 0.08);
}

TEST(TracingIds, DifferBetweenNodesOfOneSimulation) {
  const RecordedSpans spans;
  std::vector<std::uint64_t> drawn;
  SimulationOptions options;
  options.system.telemetry = spans.telemetry();
  Simulation simulation(options);
  const auto boot = [&](ActorSystem& system) { system.spawn<Gambler>(&drawn).send<Draw>(); };
  boot(simulation.system());
  simulation.add_node("other", boot);
  simulation.run_until_idle();
  const auto all = spans.all();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_NE(all[0].context.trace, all[1].context.trace);
  EXPECT_NE(all[0].context.span, all[1].context.span);
}

/// How many values the byte has that takes the fewest.
template <class Ids>
std::size_t fewest_values(const Ids& ids) {
  std::array<std::set<std::uint8_t>, 16> values;
  std::size_t length = 0;
  for (const auto& id : ids) {
    length = id.bytes.size();
    for (std::size_t i = 0; i < length; ++i) values[i].insert(id.bytes[i]);
  }
  std::size_t fewest = 256;
  for (std::size_t i = 0; i < length; ++i) fewest = std::min(fewest, values[i].size());
  return fewest;
}

TEST(TracingIds, VaryInEachByte) {
  const RecordedSpans spans;
  draw(spans.telemetry());
  std::vector<telemetry::TraceId> traces;
  std::vector<telemetry::SpanId> ids;
  for (const auto& span : spans.all()) {
    EXPECT_TRUE(span.context.is_sampled);
    traces.push_back(span.context.trace);
    ids.push_back(span.context.span);
  }
  EXPECT_GT(fewest_values(traces), 32u);
  EXPECT_GT(fewest_values(ids), 32u);
}

}  // namespace
}  // namespace weir
