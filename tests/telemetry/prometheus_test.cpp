#include <weir/telemetry/prometheus.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <weir/telemetry/meter.hpp>
#include <weir/tests/telemetry/support/prometheus_reader.hpp>
#include <weir/tests/telemetry/support/random.hpp>

namespace weir::telemetry {
namespace {

using testing::PrometheusReader;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr PrometheusFormat formats[] = {PrometheusFormat::text, PrometheusFormat::openmetrics};

MetricRecord make_record(std::string name, std::string unit, std::vector<MetricPoint> points,
                         bool is_monotonic = false) {
  MetricRecord record;
  record.name = std::move(name);
  record.unit = std::move(unit);
  record.is_monotonic = is_monotonic;
  record.points = std::move(points);
  return record;
}

MetricRecord make_counter(std::string name, std::string unit = "", double value = 1) {
  return make_record(std::move(name), std::move(unit), {{{}, SumPoint{value}}}, true);
}

MetricRecord make_gauge(std::string name, std::string unit = "", double value = 1) {
  return make_record(std::move(name), std::move(unit), {{{}, GaugePoint{value}}});
}

PrometheusReader read_back(const std::vector<MetricRecord>& records, PrometheusFormat format) {
  return {prometheus_page(records, format), format == PrometheusFormat::openmetrics};
}

// The name of the only sample.
std::string sample_name(const MetricRecord& record) {
  return read_back({record}, PrometheusFormat::text).samples.begin()->first.first;
}

TEST(Prometheus, WritesThePageThatItsReadersExpect) {
  Meter meter;
  meter.counter("weir.actor.messages", {.unit = "{message}", .description = "Handled."})
      .with({{"actor.type", "Account"}})
      .add(3);
  meter
      .histogram("weir.actor.handle.duration",
                 {.description = "Time \"in\" a\nhandler.", .bounds = {0.5, 1}})
      .record(0.75, 2);
  meter.gauge("weir.load", {.unit = "1"}).set(0.25);
  EXPECT_EQ(prometheus_page(meter.collect(0), PrometheusFormat::text),
            R"(# TYPE weir_actor_handle_duration_seconds histogram
# HELP weir_actor_handle_duration_seconds Time "in" a\nhandler.
weir_actor_handle_duration_seconds_bucket{le="0.5"} 0
weir_actor_handle_duration_seconds_bucket{le="1"} 2
weir_actor_handle_duration_seconds_bucket{le="+Inf"} 2
weir_actor_handle_duration_seconds_sum 1.5
weir_actor_handle_duration_seconds_count 2
# TYPE weir_actor_messages_total counter
# HELP weir_actor_messages_total Handled.
weir_actor_messages_total{actor_type="Account"} 3
# TYPE weir_load_ratio gauge
weir_load_ratio 0.25
)");
  EXPECT_EQ(prometheus_page(meter.collect(0), PrometheusFormat::openmetrics),
            R"(# TYPE weir_actor_handle_duration_seconds histogram
# UNIT weir_actor_handle_duration_seconds seconds
# HELP weir_actor_handle_duration_seconds Time \"in\" a\nhandler.
weir_actor_handle_duration_seconds_bucket{le="0.5"} 0
weir_actor_handle_duration_seconds_bucket{le="1.0"} 2
weir_actor_handle_duration_seconds_bucket{le="+Inf"} 2
weir_actor_handle_duration_seconds_sum 1.5
weir_actor_handle_duration_seconds_count 2
# TYPE weir_actor_messages counter
# HELP weir_actor_messages Handled.
weir_actor_messages_total{actor_type="Account"} 3
# TYPE weir_load_ratio gauge
# UNIT weir_load_ratio ratio
weir_load_ratio 0.25
# EOF
)");
}

TEST(Prometheus, NamesAMetricByItsNameUnitAndKind) {
  EXPECT_EQ(sample_name(make_gauge("a.b-c/d__e", "")), "a_b_c_d_e");
  EXPECT_EQ(sample_name(make_gauge("size", "By")), "size_bytes");
  EXPECT_EQ(sample_name(make_gauge("size.bytes", "By")), "size_bytes");
  EXPECT_EQ(sample_name(make_gauge("kilobytes", "By")), "kilobytes_bytes");
  EXPECT_EQ(sample_name(make_gauge("rate", "By/s")), "rate_bytes_per_second");
  EXPECT_EQ(sample_name(make_gauge("rate", "{message}/s")), "rate_per_second");
  EXPECT_EQ(sample_name(make_gauge("depth", "{message}")), "depth");
  EXPECT_EQ(sample_name(make_gauge("use", "%")), "use_percent");
  EXPECT_EQ(sample_name(make_gauge("use", "1")), "use_ratio");
  EXPECT_EQ(sample_name(make_counter("use", "1")), "use_total");
  EXPECT_EQ(sample_name(make_counter("time", "s")), "time_seconds_total");
  EXPECT_EQ(sample_name(make_counter("time.total", "s")), "time_seconds_total");
  EXPECT_EQ(sample_name(make_counter("time.seconds.total", "s")), "time_seconds_total");
  EXPECT_EQ(sample_name(make_gauge("9lives")), "_9lives");
  EXPECT_EQ(sample_name(make_gauge("\xC3\xA4")), "unnamed");
}

TEST(Prometheus, WritesNumbersThatAreNoneTheirWay) {
  const std::vector<MetricRecord> records{make_gauge("nan", "", std::nan("")),
                                          make_gauge("more", "", infinity),
                                          make_gauge("less", "", -infinity)};
  for (const PrometheusFormat format : formats) {
    const PrometheusReader page = read_back(records, format);
    EXPECT_EQ(page.samples.at({"nan", {}}), "NaN");
    EXPECT_EQ(page.samples.at({"more", {}}), "+Inf");
    EXPECT_EQ(page.samples.at({"less", {}}), "-Inf");
  }
}

TEST(Prometheus, CallsASumThatCannotBeACounterAGauge) {
  for (const double value : {-1.0, std::nan("")}) {
    const PrometheusReader page = read_back({make_counter("c", "", value)}, formats[1]);
    EXPECT_EQ(page.types.at("c"), "gauge");
  }
}

TEST(Prometheus, LeavesOutASumThatMayFallWhereThatIsForbidden) {
  Meter meter;
  meter.histogram("h", {.unit = "", .bounds = {-1, 1}}).record(-5);
  const std::vector<MetricRecord> records = meter.collect(0);
  EXPECT_EQ(read_back(records, PrometheusFormat::text).value("h_sum"), -5);
  EXPECT_FALSE(read_back(records, PrometheusFormat::openmetrics).samples.contains({"h_sum", {}}));
}

TEST(Prometheus, GivesMetricsThatBecomeTheSameNameTheSameNamesInAnyOrder) {
  std::vector<MetricRecord> records{make_gauge("a.b", "", 1), make_gauge("a_b", "", 2),
                                    make_gauge("a/b", "", 3)};
  const std::string page = prometheus_page(records, PrometheusFormat::text);
  std::ranges::reverse(records);
  EXPECT_EQ(prometheus_page(records, PrometheusFormat::text), page);
  const PrometheusReader reader(page, false);
  EXPECT_EQ(reader.samples.size(), 3u);
  EXPECT_EQ(reader.value("a_b"), 1) << "'a.b' sorts first";
}

TEST(Prometheus, KeepsTheSamplesOfOneMetricFromTheNameOfAnother) {
  Meter meter;
  meter.histogram("h", {.unit = ""}).record(1);
  meter.gauge("h.count").set(7);
  meter.counter("c").add(1);
  meter.gauge("c.total").set(8);
  const PrometheusReader page = read_back(meter.collect(0), PrometheusFormat::text);
  EXPECT_EQ(page.value("h_count"), 1);
  EXPECT_EQ(page.value("c_total"), 1);
  EXPECT_EQ(page.types.size(), 4u);
}

TEST(Prometheus, JoinsAttributesThatBecomeTheSameLabel) {
  const MetricRecord record =
      make_record("g", "", {{{{"a_b", "y"}, {"a.b", "x"}, {"none", ""}}, GaugePoint{1}}});
  EXPECT_EQ(read_back({record}, formats[0]).value("g", {{"a_b", "x;y"}}), 1);
}

TEST(Prometheus, TellsPointsApartThatBecomeTheSameSeries) {
  std::vector<MetricPoint> points{{{{"a", "1"}}, GaugePoint{1}},
                                  {{{"a", 1}}, GaugePoint{2}},
                                  {{{"a", 1}, {"b", ""}}, GaugePoint{3}},
                                  {{{"a", 1}, {"duplicate", "2"}}, GaugePoint{4}}};
  const std::string page =
      prometheus_page(std::vector{make_record("g", "", points)}, PrometheusFormat::text);
  EXPECT_EQ(PrometheusReader(page, false).samples.size(), 4u);
  std::ranges::reverse(points);
  EXPECT_EQ(prometheus_page(std::vector{make_record("g", "", points)}, PrometheusFormat::text),
            page);
}

TEST(Prometheus, KeepsTheLabelThatTellsBucketsApart) {
  Meter meter;
  meter.histogram("h", {.unit = "", .bounds = {1}}).with({{"le", "x"}}).record(2);
  const PrometheusReader page = read_back(meter.collect(0), PrometheusFormat::text);
  EXPECT_EQ(page.value("h_bucket", {{"exported_le", "x"}, {"le", "+Inf"}}), 1);
}

TEST(Prometheus, ShowsControlCharactersByTheirNumber) {
  const MetricRecord record =
      make_record("g", "", {{{{"a", "x\ry\x1b\xC2\x9B\xFF\xC3\xA4\n\"\\"}}, GaugePoint{1}}});
  const PrometheusReader page = read_back({record}, formats[0]);
  EXPECT_EQ(page.samples.begin()->first.second.at("a"), "x\\x0dy\\x1b\\u009b\\xff\xC3\xA4\n\"\\");
}

MetricPoint random_point(std::mt19937_64& random, int kind) {
  MetricPoint point;
  for (std::size_t i = testing::pick(random, 4); i > 0; --i) {
    point.attributes.emplace_back(testing::hostile_text(random, 3),
                                  testing::hostile_text(random, 6));
  }
  const double values[] = {0, 1, -1, 0.1, 1e300, infinity, -infinity, std::nan("")};
  const double value = values[testing::pick(random, std::size(values))];
  if (kind == 0) point.value = SumPoint{value};
  if (kind == 1) point.value = GaugePoint{value};
  if (kind == 2) {
    point.value = HistogramPoint{
        .bounds = {0.5, 1}, .buckets = {1, 2, 3}, .count = 6, .sum = value, .min = 0, .max = 9};
  }
  return point;
}

std::size_t samples_expected(const MetricRecord& record, PrometheusFormat format) {
  std::size_t count = 0;
  for (const MetricPoint& point : record.points) {
    const auto* histogram = std::get_if<HistogramPoint>(&point.value);
    if (!histogram) {
      count += 1;
    } else {
      count += format == PrometheusFormat::openmetrics && histogram->sum < 0 ? 3 : 5;
    }
  }
  return count;
}

TEST(Prometheus, LosesNoSampleWhateverTheNamesAndValuesHold) {
  const std::uint64_t seed = testing::test_seed();
  WEIR_TRACE_SEED(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::vector<MetricRecord> records;
    for (std::size_t i = testing::pick(random, 8); i > 0; --i) {
      MetricRecord record;
      record.name = testing::hostile_text(random, 3);
      record.unit = testing::hostile_text(random, 2);
      record.description = testing::hostile_text(random, 8);
      record.is_monotonic = testing::pick(random, 2) == 0;
      const int kind = static_cast<int>(testing::pick(random, 3));
      for (std::size_t p = testing::pick(random, 4); p > 0; --p) {
        record.points.push_back(random_point(random, kind));
      }
      records.push_back(std::move(record));
    }
    for (const PrometheusFormat format : formats) {
      std::size_t expected = 0;
      for (const MetricRecord& record : records) expected += samples_expected(record, format);
      const std::string page = prometheus_page(records, format);
      ASSERT_NO_THROW(read_back(records, format)) << page;
      ASSERT_EQ(read_back(records, format).samples.size(), expected) << page;
    }
  }
}

TEST(Prometheus, WritesABoundThatComesTwiceOnce) {
  std::vector<MetricRecord> records(1);
  records[0].name = "m";
  records[0].points.push_back(
      {{}, HistogramPoint{.bounds = {1, 1, 2}, .buckets = {1, 1, 1, 1}, .count = 4}});
  const std::string page = prometheus_page(records, PrometheusFormat::text);
  const std::string bucket = "m_bucket{le=\"1\"}";
  const std::size_t at = page.find(bucket);
  ASSERT_NE(at, std::string::npos) << page;
  EXPECT_EQ(page.find(bucket, at + 1), std::string::npos) << page;
}

}  // namespace
}  // namespace weir::telemetry
