#include <weir/telemetry/metric_worker.hpp>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/telemetry/w3c.hpp>

namespace weir::telemetry {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

// What an exporter was given, and how it behaves.
struct Collector {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::vector<MetricRecord>> batches;
  bool accepts = true;
  bool hangs = false;
  bool is_inside = false;
  bool is_shut_down = false;

  void wait_for_batches(std::size_t count) {
    std::unique_lock hold(mutex);
    changed.wait(hold, [&] { return batches.size() >= count; });
  }
  void wait_until_inside() {
    std::unique_lock hold(mutex);
    changed.wait(hold, [&] { return is_inside; });
  }
  /// The value of a counter without attributes in the last batch.
  double last(std::string_view name) {
    const std::scoped_lock hold(mutex);
    if (batches.empty()) return -1;
    for (const MetricRecord& record : batches.back()) {
      if (record.name == name) return std::get<SumPoint>(record.points.at(0).value).value;
    }
    return -1;
  }
};

class CollectingExporter final : public Exporter<MetricRecord> {
 public:
  explicit CollectingExporter(Collector& collector) : collector_(collector) {}

  bool export_batch(std::span<const MetricRecord> batch) override {
    std::unique_lock hold(collector_.mutex);
    collector_.is_inside = true;
    collector_.changed.notify_all();
    collector_.changed.wait(hold, [this] { return !collector_.hangs || collector_.is_shut_down; });
    collector_.batches.emplace_back(batch.begin(), batch.end());
    collector_.changed.notify_all();
    return collector_.accepts;
  }
  void shut_down(milliseconds) override {
    const std::scoped_lock hold(collector_.mutex);
    collector_.is_shut_down = true;
    collector_.changed.notify_all();
  }

 private:
  Collector& collector_;
};

class MetricsOfTelemetry : public testing::Test {
 protected:
  std::unique_ptr<Telemetry> exporting(milliseconds interval) {
    Exporters exporters;
    exporters.metrics = std::make_unique<CollectingExporter>(collector);
    return std::make_unique<Telemetry>(TelemetryOptions{.metric_interval = interval},
                                       std::move(exporters));
  }

  Collector collector;
};

TEST_F(MetricsOfTelemetry, AreExportedEveryInterval) {
  const auto telemetry = exporting(milliseconds(1));
  EXPECT_TRUE(telemetry->measures());
  telemetry->meter().counter("orders", {}).add(3);
  collector.wait_for_batches(3);
  collector.wait_for_batches(5);
  EXPECT_EQ(collector.last("orders"), 3);
}

TEST_F(MetricsOfTelemetry, AreExportedOnceMoreWhenItIsFlushed) {
  const auto telemetry = exporting(minutes(10));
  telemetry->meter().counter("orders", {}).add(3);
  EXPECT_TRUE(telemetry->flush(minutes(1)));
  EXPECT_EQ(collector.last("orders"), 3);
}

TEST_F(MetricsOfTelemetry, AreExportedOnceMoreWhenItShutsDown) {
  const auto telemetry = exporting(minutes(10));
  telemetry->meter().counter("orders", {}).add(4);
  telemetry->shut_down(minutes(1));
  EXPECT_EQ(collector.last("orders"), 4);
  EXPECT_TRUE(collector.is_shut_down);
}

TEST_F(MetricsOfTelemetry, DoNotKeepItFromEndingBesideAnExporterThatHangs) {
  collector.hangs = true;
  const auto telemetry = exporting(milliseconds(1));
  collector.wait_until_inside();
  EXPECT_FALSE(telemetry->flush(milliseconds(1)));
  telemetry->shut_down(milliseconds(1));
  EXPECT_TRUE(collector.is_shut_down);
}

using Counts = std::map<std::pair<std::string, std::string>, double>;

/// By the values of two attributes, as whoever reads the metrics sees it.
Counts counts_of(Telemetry& telemetry, const std::string& name) {
  Counts counts;
  for (const MetricRecord& record : telemetry.collect()) {
    if (record.name != name) continue;
    for (const MetricPoint& point : record.points) {
      std::string values[2];
      for (std::size_t i = 0; i < point.attributes.size(); ++i) {
        values[i] = std::get<std::string>(point.attributes[i].value);
      }
      counts[{values[0], values[1]}] = std::get<SumPoint>(point.value).value;
    }
  }
  return counts;
}

double count_of_metrics(Telemetry& telemetry, const std::string& outcome) {
  Counts counts = counts_of(telemetry, "weir.telemetry.records");
  return counts[{outcome, "metrics"}] + counts[{"metrics", outcome}];
}

TEST_F(MetricsOfTelemetry, AreCountedByWhatBecameOfThem) {
  const auto telemetry = exporting(minutes(10));
  EXPECT_TRUE(telemetry->flush(minutes(1)));
  const std::uint64_t exported = telemetry->metric_counts().exported;
  EXPECT_GT(exported, 0u);
  EXPECT_EQ(telemetry->metric_counts().failed, 0u);
  {
    const std::scoped_lock hold(collector.mutex);
    collector.accepts = false;
  }
  EXPECT_TRUE(telemetry->flush(minutes(1)));
  EXPECT_EQ(telemetry->metric_counts().exported, exported);
  EXPECT_GT(telemetry->metric_counts().failed, 0u);
  EXPECT_EQ(count_of_metrics(*telemetry, "exported"), static_cast<double>(exported));
  EXPECT_EQ(count_of_metrics(*telemetry, "failed"),
            static_cast<double>(telemetry->metric_counts().failed));
}

TEST(Telemetry, ShowsAmongTheMetricsWhichHeadersWereMalformed) {
  Telemetry telemetry({.measures_always = true}, {});
  const Counts before = counts_of(telemetry, "weir.telemetry.headers.malformed");
  ASSERT_EQ(before.size(), 3u);
  const auto nonsense = [](std::string_view) { return std::optional<std::string>("=,="); };
  EXPECT_FALSE(extract(nonsense).is_valid());
  Counts after = counts_of(telemetry, "weir.telemetry.headers.malformed");
  EXPECT_EQ(after.at({"traceparent", ""}), before.at({"traceparent", ""}) + 1);
  EXPECT_EQ(after.at({"baggage", ""}), before.at({"baggage", ""}) + 1);
  EXPECT_EQ(after.at({"tracestate", ""}), before.at({"tracestate", ""})) << "it was not looked at";
}

}  // namespace
}  // namespace weir::telemetry
