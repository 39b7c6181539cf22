#include <weir/telemetry/observer.hpp>

#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include <weir/tests/telemetry/support/metrics.hpp>

namespace weir::telemetry {
namespace {

using testing::point_of;
using testing::points_of;
using testing::sum_of;

TEST(Observation, IsAskedAtEveryCollection) {
  Meter meter;
  double depth = 3;
  const Observation observation =
      meter.observe_gauge("depth", {}, [&](Observer& observer) { observer.report(depth); });
  EXPECT_EQ(point_of<GaugePoint>(meter, "depth").value, 3);
  depth = 4;
  EXPECT_EQ(point_of<GaugePoint>(meter, "depth").value, 4);
}

TEST(Observation, AddsUpSumsAndKeepsTheLastGauge) {
  Meter meter;
  const auto report_two = [](Observer& observer) {
    observer.report(1, {{"a", 1}, {"b", 2}});
    observer.report(2, {{"b", 2}, {"a", 1}});
  };
  const Observation sums = meter.observe_counter("sum", {}, report_two);
  const Observation more_sums = meter.observe_counter("sum", {}, report_two);
  const Observation gauges = meter.observe_gauge("gauge", {}, report_two);
  EXPECT_EQ(sum_of(meter, "sum", {{"a", 1}, {"b", 2}}), 6);
  EXPECT_EQ(point_of<GaugePoint>(meter, "gauge", {{"a", 1}, {"b", 2}}).value, 2);
}

TEST(Observation, IsOverWhenItsHandleGoes) {
  Meter meter;
  {
    const Observation observation =
        meter.observe_counter("c", {}, [](Observer& observer) { observer.report(1); });
    EXPECT_EQ(points_of(meter, "c").size(), 1u);
  }
  EXPECT_TRUE(points_of(meter, "c").empty());
}

TEST(Observation, LetsGoOfWhatItsCallbackHolds) {
  Meter meter;
  auto held = std::make_shared<int>(0);
  Observation observation = meter.observe_counter("c", {}, [held](Observer&) {});
  EXPECT_EQ(held.use_count(), 2);
  observation = Observation();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Observation, MayOutliveItsMeter) {
  auto meter = std::make_unique<Meter>();
  Observation observation = meter->observe_counter("c", {}, [](Observer&) {});
  meter.reset();
  observation.remove();
}

TEST(Observation, MayLetItselfGo) {
  Meter meter;
  std::optional<Observation> observation;
  int runs = 0;
  auto held = std::make_shared<int>(0);
  observation = meter.observe_counter("c", {}, [&runs, &observation, held](Observer& observer) {
    observation.reset();
    observer.report(++runs);
  });
  EXPECT_EQ(sum_of(meter, "c"), 1);
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_TRUE(points_of(meter, "c").empty());
  EXPECT_EQ(runs, 1);
}

TEST(Observation, ThatCollectsDoesNotCallItself) {
  Meter meter;
  int runs = 0;
  const Observation observation = meter.observe_counter("c", {}, [&](Observer& observer) {
    ++runs;
    observer.report(static_cast<double>(meter.collect(0).size()));
  });
  EXPECT_EQ(sum_of(meter, "c"), 0);
  EXPECT_EQ(runs, 1);
}

TEST(Observation, ThatThrowsIsCountedAndSpoilsNoOther) {
  Meter meter;
  const Observation broken = meter.observe_counter("c", {}, [](Observer& observer) {
    observer.report(1);
    throw std::runtime_error("no");
  });
  const Observation fine =
      meter.observe_counter("c", {}, [](Observer& observer) { observer.report(10); });
  EXPECT_EQ(sum_of(meter, "c"), 10);
  EXPECT_EQ(sum_of(meter, "weir.telemetry.metric.problems",
                   {{"metric.name", "c"}, {"problem", "callback_threw"}}),
            1);
}

TEST(Observation, ReportsWhatIsBeyondTheLimitTogether) {
  Meter meter({.series_max = 2});
  const Observation observation = meter.observe_counter("c", {}, [](Observer& observer) {
    for (int i = 0; i < 6; ++i) observer.report(1, {{"user", i}});
  });
  EXPECT_EQ(points_of(meter, "c").size(), 3u);
  EXPECT_EQ(sum_of(meter, "c", {{"otel.metric.overflow", true}}), 4);
}

TEST(Observation, WithoutACallbackIsRefused) {
  Meter meter;
  EXPECT_THROW(meter.observe_counter("c", {}, nullptr).remove(), std::invalid_argument);
}

TEST(Observation, WaitsForItsCallbackOnAnotherThread) {
  Meter meter;
  std::latch runs(1);
  std::latch may_end(1);
  std::atomic<bool> is_running{false};
  std::optional<Observation> observation = meter.observe_counter("c", {}, [&](Observer&) {
    is_running = true;
    runs.count_down();
    may_end.wait();
    is_running = false;
  });
  std::thread collector([&] { meter.collect(0); });
  runs.wait();
  std::thread releaser([&] { may_end.count_down(); });
  observation.reset();
  EXPECT_FALSE(is_running);
  collector.join();
  releaser.join();
}

TEST(Observation, ComesAndGoesWhileOthersCollect) {
  Meter meter;
  std::atomic<bool> is_over{false};
  std::thread collector([&] {
    while (!is_over) meter.collect(0);
  });
  for (int i = 0; i < 2'000; ++i) {
    auto state = std::make_unique<int>(i);
    const Observation observation =
        meter.observe_counter("c", {}, [&state](Observer& observer) { observer.report(*state); });
    if (i % 16 == 0) meter.collect(0);
  }
  is_over = true;
  collector.join();
  EXPECT_TRUE(points_of(meter, "c").empty());
}

}  // namespace
}  // namespace weir::telemetry
