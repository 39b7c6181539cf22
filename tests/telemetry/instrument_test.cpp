#include <weir/telemetry/instrument.hpp>

#include <cmath>
#include <latch>
#include <limits>
#include <map>
#include <thread>

#include <weir/telemetry/meter.hpp>
#include <weir/tests/telemetry/support/allocations.hpp>
#include <weir/tests/telemetry/support/metrics.hpp>
#include <weir/tests/telemetry/support/random.hpp>

namespace weir::telemetry {
namespace {

using testing::point_of;
using testing::points_of;
using testing::sum_of;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Counter, AddsUpWithAndWithoutAttributes) {
  Meter meter;
  const Counter counter = meter.counter("messages");
  counter.add();
  counter.add(4);
  counter.with({{"kind", "a"}}).add(10);
  counter.with({{"kind", "b"}}).add(20);
  counter.with({{"kind", "a"}}).add(1);
  EXPECT_EQ(sum_of(meter, "messages"), 5);
  EXPECT_EQ(sum_of(meter, "messages", {{"kind", "a"}}), 11);
  EXPECT_EQ(sum_of(meter, "messages", {{"kind", "b"}}), 20);
}

TEST(Counter, BoundsTheTextsOfItsSeries) {
  Meter meter;
  const std::string text(2 * Attribute::text_bytes_max, 'x');
  meter.counter("messages").with({{"kind", text}}).add(3);
  const auto points = points_of(meter, "messages");
  ASSERT_EQ(points.size(), 1u);
  ASSERT_EQ(points[0].attributes.size(), 1u);
  EXPECT_EQ(points[0].attributes[0].value,
            AttributeValue(text.substr(0, Attribute::text_bytes_max)));
}

TEST(Counter, OfWhichNothingWasMadeRecordsNothing) {
  Counter().add();
  Counter().with({{"a", 1}}).add();
  UpDownCounter().add(-1);
  Gauge().set(1);
  Histogram().record(1);
  Histogram().with({{"a", 1}}).record(1);
}

TEST(Counter, IsAZeroUntilUsedButNoneBesideSeriesWithAttributes) {
  Meter meter;
  const Counter counter = meter.counter("messages");
  EXPECT_EQ(sum_of(meter, "messages"), 0);
  counter.with({{"kind", "a"}});
  EXPECT_EQ(points_of(meter, "messages").size(), 1u);
  EXPECT_EQ(sum_of(meter, "messages", {{"kind", "a"}}), 0);
}

TEST(UpDownCounter, StaysAtZeroOnceItWasElsewhere) {
  Meter meter;
  const UpDownCounter counter = meter.up_down_counter("connections");
  counter.with({{"kind", "a"}}).add(1);
  counter.add(-3);
  EXPECT_EQ(sum_of(meter, "connections"), -3);
  counter.add(3);
  EXPECT_EQ(sum_of(meter, "connections"), 0);
}

TEST(Series, IsTheSameForTheSameAttributesInAnyOrder) {
  Meter meter;
  const Counter counter = meter.counter("messages");
  counter.with({{"a", 1}, {"b", "x"}}).add(1);
  counter.with({{"b", "x"}, {"a", 1}}).add(2);
  counter.with({{"b", "first"}, {"a", 1}, {"b", "x"}}).add(4);
  EXPECT_EQ(points_of(meter, "messages").size(), 1u);
  EXPECT_EQ(sum_of(meter, "messages", {{"a", 1}, {"b", "x"}}), 7);
}

TEST(Series, DiffersWhereTextsOnlyLookTheSameTogether) {
  Meter meter;
  const Counter counter = meter.counter("messages");
  counter.with({{"a", "bc"}}).add(1);
  counter.with({{"ab", "c"}}).add(2);
  counter.with({{"a", 1}}).add(3);
  counter.with({{"a", "1"}}).add(4);
  counter.with({{"a", true}}).add(5);
  counter.with({{"a", 1.0}}).add(6);
  EXPECT_EQ(points_of(meter, "messages").size(), 6u);
  EXPECT_EQ(sum_of(meter, "messages", {{"ab", "c"}}), 2);
  EXPECT_EQ(sum_of(meter, "messages", {{"a", "1"}}), 4);
}

TEST(Series, BeyondTheLimitIsOneForAllAndTheExcessIsCounted) {
  Meter meter({.series_max = 3});
  const Counter counter = meter.counter("messages");
  for (int i = 0; i < 10; ++i) counter.with({{"user", i}}).add(1);
  counter.with({{"user", 0}}).add(1);
  EXPECT_EQ(points_of(meter, "messages").size(), 4u);
  EXPECT_EQ(sum_of(meter, "messages", {{"user", 0}}), 2);
  EXPECT_EQ(sum_of(meter, "messages", {{"otel.metric.overflow", true}}), 7);
  EXPECT_EQ(sum_of(meter, "weir.telemetry.metric.problems",
                   {{"metric.name", "messages"}, {"problem", "overflow"}}),
            7);
}

TEST(Gauge, KeepsItsLastValueAndHasNoneBefore) {
  Meter meter;
  const Gauge gauge = meter.gauge("temperature", {.unit = "Cel"});
  EXPECT_TRUE(points_of(meter, "temperature").empty());
  gauge.set(0);
  EXPECT_EQ(point_of<GaugePoint>(meter, "temperature").value, 0);
  gauge.set(-infinity);
  EXPECT_EQ(point_of<GaugePoint>(meter, "temperature").value, -infinity);
  gauge.set(std::nan(""));
  EXPECT_TRUE(std::isnan(point_of<GaugePoint>(meter, "temperature").value));
}

TEST(Histogram, CountsABoundInTheBucketBelowIt) {
  Meter meter;
  const Histogram histogram = meter.histogram("size", {.unit = "By", .bounds = {1, 2, 4}});
  for (const double value : {-5.0, 1.0, 1.5, 2.0, 4.0, 4.5, 100.0}) histogram.record(value);
  const auto point = point_of<HistogramPoint>(meter, "size");
  EXPECT_EQ(point.bounds, (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(point.buckets, (std::vector<std::uint64_t>{2, 2, 1, 2}));
  EXPECT_EQ(point.count, 7u);
  EXPECT_EQ(point.sum, 108);
  EXPECT_EQ(point.min, -5);
  EXPECT_EQ(point.max, 100);
}

TEST(Histogram, CountsAWeightedValueThatManyTimes) {
  Meter meter;
  const Histogram histogram = meter.histogram("wait");
  histogram.record(0.5, 64);
  histogram.record(100, 0);
  const auto point = point_of<HistogramPoint>(meter, "wait");
  EXPECT_EQ(point.bounds, duration_bounds());
  EXPECT_EQ(point.count, 64u);
  EXPECT_EQ(point.sum, 32);
  EXPECT_EQ(point.max, 0.5);
}

TEST(Histogram, LeavesOutWhatIsNotFiniteAndCountsThat) {
  Meter meter;
  const Histogram histogram = meter.histogram("wait");
  for (const double value : {infinity, -infinity, std::nan(""), 1.0}) histogram.record(value);
  EXPECT_EQ(point_of<HistogramPoint>(meter, "wait").count, 1u);
  EXPECT_EQ(point_of<HistogramPoint>(meter, "wait").sum, 1);
  EXPECT_EQ(sum_of(meter, "weir.telemetry.metric.problems",
                   {{"metric.name", "wait"}, {"problem", "not_finite"}}),
            3);
}

TEST(Histogram, WithoutBoundsHasOneBucket) {
  Meter meter;
  const Histogram histogram = meter.histogram("size", {.bounds = {}});
  EXPECT_EQ(point_of<HistogramPoint>(meter, "size").count, 0u);
  histogram.record(3);
  EXPECT_EQ(point_of<HistogramPoint>(meter, "size").buckets, std::vector<std::uint64_t>{1});
}

HistogramPoint recomputed(const std::vector<double>& bounds, const std::vector<double>& values) {
  HistogramPoint point;
  point.buckets.resize(bounds.size() + 1);
  for (const double value : values) {
    std::size_t bucket = 0;
    while (bucket < bounds.size() && value > bounds[bucket]) ++bucket;
    ++point.buckets[bucket];
    ++point.count;
    point.sum += value;
    point.min = point.count == 1 ? value : std::min(point.min, value);
    point.max = point.count == 1 ? value : std::max(point.max, value);
  }
  return point;
}

TEST(Histogram, EqualsItsValuesCountedOneByOne) {
  const std::uint64_t seed = testing::test_seed();
  WEIR_TRACE_SEED(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100; ++round) {
    std::vector<double> bounds;
    for (double bound = -20; bounds.size() < testing::pick(random, 80);) {
      bounds.push_back(bound += 1 + static_cast<double>(testing::pick(random, 3)));
    }
    Meter meter;
    const Histogram histogram = meter.histogram("h", {.bounds = bounds});
    std::vector<double> values;
    for (std::size_t i = testing::pick(random, 200); i > 0; --i) {
      values.push_back(static_cast<double>(testing::pick(random, 200)) / 2 - 40);
      histogram.record(values.back());
    }
    const auto point = point_of<HistogramPoint>(meter, "h");
    const HistogramPoint expected = recomputed(bounds, values);
    EXPECT_EQ(point.buckets, expected.buckets);
    EXPECT_EQ(point.count, expected.count);
    EXPECT_EQ(point.sum, expected.sum);
    EXPECT_EQ(point.min, expected.min);
    EXPECT_EQ(point.max, expected.max);
  }
}

TEST(Recording, AllocatesNothing) {
  if (!testing::counts_allocations) GTEST_SKIP() << "a sanitizer has its own operator new";
  Meter meter;
  const Counter counter = meter.counter("c");
  const Counter::Series series = counter.with({{"a", 1}});
  const UpDownCounter up_down = meter.up_down_counter("u");
  const Gauge gauge = meter.gauge("g");
  const Histogram histogram = meter.histogram("h");
  std::uint64_t made = 1;
  std::thread([&] {
    const std::uint64_t before = testing::allocations();
    for (int i = 0; i < 1000; ++i) {
      counter.add();
      series.add(2);
      up_down.add(-1);
      gauge.set(i);
      histogram.record(i);
    }
    made = testing::allocations() - before;
  }).join();
  EXPECT_EQ(made, 0u);
}

// Runs the function on that many threads which are all alive at the same time.
template <class Function>
void run_threads(std::size_t count, Function function) {
  std::latch all_started(static_cast<std::ptrdiff_t>(count));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      all_started.arrive_and_wait();
      function(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Threads that own every slot there is, until it goes.
class SlotOwners {
 public:
  SlotOwners() : all_own_one_(static_cast<std::ptrdiff_t>(internal::owned_slot_count())) {
    for (std::size_t i = 0; i < internal::owned_slot_count(); ++i) {
      threads_.emplace_back([this] {
        internal::current_slot();
        all_own_one_.count_down();
        is_over_.wait();
      });
    }
    all_own_one_.wait();
  }
  ~SlotOwners() {
    is_over_.count_down();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::latch all_own_one_;
  std::latch is_over_{1};
  std::vector<std::thread> threads_;
};

TEST(Recording, LosesNothingWhereThreadsShareASlot) {
  Meter meter;
  const Counter counter = meter.counter("c");
  const UpDownCounter up_down = meter.up_down_counter("u");
  const Histogram histogram = meter.histogram("h", {.bounds = {1}});
  const SlotOwners owners;
  constexpr std::size_t threads = 8;  // two for each shared slot
  constexpr std::size_t rounds = 20'000;
  run_threads(threads, [&](std::size_t thread) {
    EXPECT_FALSE(internal::current_slot().is_owned);
    for (std::size_t i = 0; i < rounds; ++i) {
      counter.add();
      up_down.add(thread % 2 == 0 ? 1 : -2);
      histogram.record(static_cast<double>(thread), 2);
    }
  });
  constexpr double total = threads * rounds;
  EXPECT_EQ(sum_of(meter, "c"), total);
  EXPECT_EQ(sum_of(meter, "u"), -total / 2);
  const auto point = point_of<HistogramPoint>(meter, "h");
  EXPECT_EQ(point.buckets, (std::vector<std::uint64_t>{4 * rounds, 12 * rounds}));
  EXPECT_EQ(point.sum, total * (threads - 1));
  EXPECT_EQ(point.min, 0);
  EXPECT_EQ(point.max, threads - 1);
}

TEST(Recording, ContinuesInTheSlotsOfThreadsThatHaveEnded) {
  Meter meter;
  const Counter counter = meter.counter("c");
  const std::size_t threads = 5 * internal::slot_count();
  std::size_t owners = 0;
  for (std::size_t i = 0; i < threads; ++i) {
    std::thread([&] {
      counter.add();
      owners += internal::current_slot().is_owned ? 1 : 0;
    }).join();
  }
  EXPECT_EQ(sum_of(meter, "c"), static_cast<double>(threads));
  EXPECT_EQ(owners, threads) << "a slot was not given back";
}

struct RecordsLate {
  ~RecordsLate() { counter.add(100); }
  Counter counter;
};

TEST(Recording, WorksWhileItsThreadEndsAndKeepsNoSlot) {
  Meter meter;
  const Counter counter = meter.counter("c");
  const std::size_t threads = 2 * internal::slot_count();
  for (std::size_t i = 0; i < threads; ++i) {
    std::thread([&] {
      static thread_local RecordsLate late;  // constructed first, so destroyed last
      late.counter = counter;
      counter.add(1);
    }).join();
  }
  EXPECT_EQ(sum_of(meter, "c"), 101.0 * static_cast<double>(threads));
  std::thread([] { EXPECT_TRUE(internal::current_slot().is_owned); }).join();
}

TEST(Recording, IsNeverSeenHalfDone) {
  Meter meter;
  const Histogram histogram = meter.histogram("h", {.bounds = {1, 2}});
  const Counter counter = meter.counter("c");
  constexpr std::size_t rounds = 2'000;
  std::atomic<int> recording{3};
  double seen = 0;
  run_threads(4, [&](std::size_t thread) {
    if (thread > 0) {
      for (std::size_t i = 0; i < rounds; ++i) {
        counter.with({{"thread", thread}}).add();
        counter.add();
        histogram.record(1.5);
      }
      --recording;
      return;
    }
    while (recording > 0) {
      const auto point = point_of<HistogramPoint>(meter, "h");
      if (point.count > 0) EXPECT_EQ(point.min, 1.5);
      if (point.count > 0) EXPECT_EQ(point.max, 1.5);
      const double now = sum_of(meter, "c");
      EXPECT_GE(now, seen);
      seen = now;
    }
  });
  EXPECT_EQ(sum_of(meter, "c"), 3.0 * rounds);
  EXPECT_EQ(point_of<HistogramPoint>(meter, "h").sum, 4.5 * rounds);
}

}  // namespace
}  // namespace weir::telemetry
