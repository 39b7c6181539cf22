#include <weir/telemetry/telemetry.hpp>

#include <condition_variable>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weir::telemetry {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

class NamedSpan final : public PendingSpan {
 public:
  explicit NamedSpan(std::string name) : name_(std::move(name)) {}
  void move_to(SpanRecord& record) override {
    record = {};
    record.name = std::move(name_);
  }

 private:
  std::string name_;
};

// What an exporter was given, and how it behaves.
struct Collector {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::vector<std::string>> batches;
  bool accepts = true;
  bool hangs = false;
  bool is_inside = false;
  bool is_shut_down = false;

  void wait_until_inside() {
    std::unique_lock hold(mutex);
    changed.wait(hold, [this] { return is_inside; });
  }
  /// False if none comes within a minute.
  bool wait_for_batch() {
    std::unique_lock hold(mutex);
    return changed.wait_for(hold, minutes(1), [this] { return !batches.empty(); });
  }
  void let_go() {
    const std::scoped_lock hold(mutex);
    hangs = false;
    changed.notify_all();
  }
};

const std::string& text_of(const SpanRecord& span) { return span.name; }
const std::string& text_of(const LogRecord& line) { return line.message; }
const std::string& text_of(const MetricRecord& metric) { return metric.name; }

template <class Record>
class CollectingExporter final : public Exporter<Record> {
 public:
  explicit CollectingExporter(Collector& collector) : collector_(collector) {}

  bool export_batch(std::span<const Record> batch) override {
    std::unique_lock hold(collector_.mutex);
    collector_.is_inside = true;
    collector_.changed.notify_all();
    collector_.changed.wait(hold, [this] { return !collector_.hangs || collector_.is_shut_down; });
    auto& texts = collector_.batches.emplace_back();
    for (const Record& record : batch) texts.push_back(text_of(record));
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

std::unique_ptr<Telemetry> collecting(Collector& collector, TelemetryOptions options = {}) {
  Exporters exporters;
  exporters.spans = std::make_unique<CollectingExporter<SpanRecord>>(collector);
  return std::make_unique<Telemetry>(std::move(options), std::move(exporters));
}

// So that only a full batch or a flush makes it export.
TelemetryOptions small_batches() {
  return {.span_batches = {.queue_max = 8, .batch_max = 4, .delay = minutes(10)}};
}

void submit(Telemetry& telemetry, int count) {
  for (int i = 0; i < count; ++i) {
    telemetry.submit(std::make_unique<NamedSpan>(std::to_string(i)));
  }
}

TEST(Telemetry, IsOffWithoutAnExporter) {
  Telemetry telemetry({}, {});
  EXPECT_FALSE(telemetry.records_spans());
  EXPECT_FALSE(telemetry.samples_root({}));
  submit(telemetry, 3);
  EXPECT_TRUE(telemetry.flush(milliseconds(0)));
  EXPECT_EQ(telemetry.span_counts().exported, 0u);
}

TEST(Telemetry, FlushesWhatWasSubmittedInOrder) {
  Collector collector;
  auto telemetry = collecting(collector, small_batches());
  submit(*telemetry, 3);
  EXPECT_TRUE(telemetry->flush(minutes(1)));
  const std::scoped_lock hold(collector.mutex);
  ASSERT_EQ(collector.batches.size(), 1u);
  EXPECT_EQ(collector.batches[0], (std::vector<std::string>{"0", "1", "2"}));
}

TEST(Telemetry, ExportsAFullBatchUnasked) {
  Collector collector;
  auto telemetry = collecting(collector, small_batches());
  submit(*telemetry, 4);
  std::unique_lock hold(collector.mutex);
  collector.changed.wait(hold, [&] { return collector.is_inside; });
}

TEST(Telemetry, DropsAndCountsWhatAnExporterThatHangsLeavesNoRoomFor) {
  Collector collector;
  collector.hangs = true;
  auto telemetry = collecting(collector, small_batches());
  submit(*telemetry, 4);
  collector.wait_until_inside();  // with these four
  submit(*telemetry, 20);         // and room for eight
  EXPECT_EQ(telemetry->span_counts().dropped, 12u);
  EXPECT_FALSE(telemetry->flush(milliseconds(1)));
  collector.let_go();
  EXPECT_TRUE(telemetry->flush(minutes(1)));
  EXPECT_EQ(telemetry->span_counts().exported, 12u);
}

TEST(Telemetry, CountsWhatTheExporterDidNotAccept) {
  Collector collector;
  collector.accepts = false;
  auto telemetry = collecting(collector, small_batches());
  submit(*telemetry, 3);
  EXPECT_TRUE(telemetry->flush(minutes(1)));
  EXPECT_EQ(telemetry->span_counts().failed, 3u);
  EXPECT_EQ(telemetry->span_counts().exported, 0u);
}

/// By outcome, as whoever reads the metrics sees it.
std::map<std::string, double> records_by_outcome(Telemetry& telemetry, const std::string& of) {
  std::map<std::string, double> counts;
  for (const MetricRecord& record : telemetry.collect()) {
    if (record.name != "weir.telemetry.records") continue;
    for (const MetricPoint& point : record.points) {
      std::string outcome;
      for (const auto& [name, value] : point.attributes) {
        if (name == "weir.outcome") outcome = std::get<std::string>(value);
        if (name == "weir.signal") EXPECT_EQ(value, AttributeValue(of));
      }
      counts[outcome] += std::get<SumPoint>(point.value).value;
    }
  }
  return counts;
}

TEST(Telemetry, ShowsAmongTheMetricsWhatBecameOfSpans) {
  Collector collector;
  collector.hangs = true;
  auto telemetry = collecting(collector, small_batches());
  submit(*telemetry, 4);
  collector.wait_until_inside();
  submit(*telemetry, 11);  // three too many
  collector.let_go();
  EXPECT_TRUE(telemetry->flush(minutes(1)));
  {
    const std::scoped_lock hold(collector.mutex);
    collector.accepts = false;
  }
  submit(*telemetry, 2);
  EXPECT_TRUE(telemetry->flush(minutes(1)));
  EXPECT_EQ(records_by_outcome(*telemetry, "spans"),
            (std::map<std::string, double>{{"exported", 12}, {"dropped", 3}, {"failed", 2}}));
}

TEST(Telemetry, ShowsAmongTheMetricsWhatBecameOfLogLines) {
  Collector collector;
  collector.hangs = true;
  Exporters exporters;
  exporters.logs = std::make_unique<CollectingExporter<LogRecord>>(collector);
  Telemetry telemetry({.log_batches = {.queue_max = 8, .batch_max = 4, .delay = minutes(10)},
                       .log_lines_per_second = 0},
                      std::move(exporters));
  const auto log = [&](int count) {
    for (int i = 0; i < count; ++i) telemetry.logger().info("line");
  };
  log(4);
  collector.wait_until_inside();
  log(11);  // three too many
  EXPECT_EQ(records_by_outcome(telemetry, "logs"),
            (std::map<std::string, double>{{"exported", 0}, {"dropped", 3}, {"failed", 0}}));
  collector.let_go();
  EXPECT_TRUE(telemetry.flush(minutes(1)));
  EXPECT_EQ(records_by_outcome(telemetry, "logs"),
            (std::map<std::string, double>{{"exported", 12}, {"dropped", 3}, {"failed", 0}}));
}

/// All signals, each to a collector of its own, of which that of spans hangs until it is let go.
/// Nothing is exported unasked.
class HalfHanging {
 public:
  HalfHanging() : telemetry_(options(), exporters()) {
    spans.hangs = true;
    submit(telemetry_, 1);
    telemetry_.logger().info("line");
  }

  Telemetry& telemetry() { return telemetry_; }

  Collector spans;
  Collector logs;
  Collector metrics;

 private:
  static TelemetryOptions options() {
    TelemetryOptions made{.metric_interval = minutes(10)};
    made.span_batches.delay = made.log_batches.delay = minutes(10);
    return made;
  }
  Exporters exporters() {
    return {.spans = std::make_unique<CollectingExporter<SpanRecord>>(spans),
            .metrics = std::make_unique<CollectingExporter<MetricRecord>>(metrics),
            .logs = std::make_unique<CollectingExporter<LogRecord>>(logs)};
  }

  Telemetry telemetry_;
};

TEST(Telemetry, FlushesTheOtherSignalsWhileTheCollectorOfSpansHangs) {
  HalfHanging half;
  auto flushed = std::async(std::launch::async, [&] { return half.telemetry().flush(minutes(9)); });
  EXPECT_TRUE(half.logs.wait_for_batch());
  EXPECT_TRUE(half.metrics.wait_for_batch());
  EXPECT_EQ(half.telemetry().span_counts().exported, 0u);
  half.spans.let_go();
  EXPECT_TRUE(flushed.get());
  EXPECT_EQ(half.telemetry().span_counts().exported, 1u);
}

TEST(Telemetry, ExportsTheOtherSignalsWhenItShutsDownWhileTheCollectorOfSpansHangs) {
  HalfHanging half;
  auto ended = std::async(std::launch::async, [&] { half.telemetry().shut_down(minutes(9)); });
  EXPECT_TRUE(half.logs.wait_for_batch());
  EXPECT_TRUE(half.metrics.wait_for_batch());
  EXPECT_EQ(half.telemetry().span_counts().exported, 0u);
  half.spans.let_go();
  ended.get();
  EXPECT_EQ(half.telemetry().span_counts().exported, 1u);
}

TEST(Telemetry, HasNothingToFlushAfterItsEnd) {
  Collector collector;
  auto telemetry = collecting(collector, small_batches());
  telemetry->shut_down(minutes(1));
  submit(*telemetry, 1);
  EXPECT_FALSE(telemetry->flush(minutes(9))) << "nobody would ever export it";
}

TEST(Telemetry, ShutsDownBesideAnExporterThatHangs) {
  Collector collector;
  collector.hangs = true;
  auto telemetry = collecting(collector, small_batches());
  submit(*telemetry, 4);
  collector.wait_until_inside();
  telemetry->shut_down(milliseconds(1));
  EXPECT_TRUE(collector.is_shut_down);
  telemetry->shut_down(milliseconds(1));  // nothing more
}

TEST(Telemetry, ExportsWhatWaitsWhenItShutsDown) {
  Collector collector;
  auto telemetry = collecting(collector, small_batches());
  submit(*telemetry, 2);
  telemetry->shut_down(minutes(1));
  EXPECT_EQ(telemetry->span_counts().exported, 2u);
}

/// What has been logged so far, of one place that writes too much.
class FloodedLog {
 public:
  FloodedLog() : telemetry_({}, {}, {[this](const LogRecord& line) { note(line); }}) {
    for (int i = 0; i < 15; ++i) telemetry_.logger().info("flood");
  }

  Telemetry& telemetry() { return telemetry_; }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  void note(const LogRecord& line) { lines_.push_back(line.message); }

  std::vector<std::string> lines_;
  Telemetry telemetry_;
};

TEST(Telemetry, LogsFromTheLevelAndAsOftenAsTheOptionsSay) {
  std::vector<std::string> lines;
  Telemetry telemetry({.log_level = Level::debug, .log_lines_per_second = 0}, {},
                      {[&](const LogRecord& line) { lines.push_back(line.message); }});
  for (int i = 0; i < 100; ++i) telemetry.logger().debug("all of them");
  telemetry.logger().trace("below");
  EXPECT_EQ(lines, std::vector<std::string>(100, "all of them"));
  Telemetry quiet({.log_level = Level::error, .log_lines_per_second = 1}, {},
                  {[&](const LogRecord& line) { lines.push_back(line.message); }});
  lines.clear();
  quiet.logger().warning("below");
  EXPECT_TRUE(lines.empty());
}

TEST(Telemetry, SaysWhatWasSuppressedWhenItIsFlushed) {
  FloodedLog log;
  const std::size_t written = log.lines().size();
  EXPECT_LT(written, 15u);
  EXPECT_TRUE(log.telemetry().flush(minutes(1)));
  ASSERT_EQ(log.lines().size(), written + 1);
  EXPECT_TRUE(log.lines().back().ends_with("suppressed"));
  EXPECT_TRUE(log.telemetry().flush(minutes(1)));
  EXPECT_EQ(log.lines().size(), written + 1);
}

TEST(Telemetry, SaysWhatWasSuppressedWhenItShutsDown) {
  FloodedLog log;
  log.telemetry().shut_down(minutes(1));
  EXPECT_TRUE(log.lines().back().ends_with("suppressed"));
}

}  // namespace
}  // namespace weir::telemetry
