// Records as OTLP requests, down to the fields that most collectors do not show.

#include <weir/telemetry/otel/internal/records.hpp>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <opentelemetry/proto/collector/logs/v1/logs_service.pb.h>
#include <opentelemetry/proto/collector/metrics/v1/metrics_service.pb.h>
#include <opentelemetry/proto/collector/trace/v1/trace_service.pb.h>

#include <weir/telemetry/otel/internal/identity.hpp>
#include <weir/telemetry/otel/internal/otlp_exporter.hpp>
#include <weir/tests/telemetry/otel/support/samples.hpp>

namespace weir::telemetry::otel {
namespace {

namespace proto = opentelemetry::proto;

/// Keeps the requests instead of sending them.
class Keeping final : public Transport {
 public:
  explicit Keeping(std::vector<std::string>* requests) : requests_(requests) {}
  bool send(const google::protobuf::Message& request) override {
    requests_->push_back(request.SerializeAsString());
    return true;
  }
  void shut_down(std::chrono::milliseconds) override {}

 private:
  std::vector<std::string>* requests_;
};

class Throwing final : public Transport {
 public:
  bool send(const google::protobuf::Message&) override { throw std::runtime_error("no memory"); }
  void shut_down(std::chrono::milliseconds) override {}
};

template <class Request>
Request only(const std::vector<std::string>& requests) {
  Request request;
  if (requests.size() != 1 || !request.ParseFromString(requests[0])) {
    throw std::runtime_error("not one request, or one that no collector could read");
  }
  return request;
}

proto::trace::v1::Span encoded(const SpanRecord& span) {
  std::vector<std::string> requests;
  const auto exporter = otlp_span_exporter(std::make_unique<Keeping>(&requests), make_identity({}));
  EXPECT_TRUE(exporter->export_batch(std::array{span}));
  const auto request = only<proto::collector::trace::v1::ExportTraceServiceRequest>(requests);
  return request.resource_spans(0).scope_spans(0).spans(0);
}

proto::metrics::v1::Metric encoded(const MetricRecord& metric) {
  std::vector<std::string> requests;
  const auto exporter =
      otlp_metric_exporter(std::make_unique<Keeping>(&requests), make_identity({}));
  EXPECT_TRUE(exporter->export_batch(std::array{metric}));
  const auto request = only<proto::collector::metrics::v1::ExportMetricsServiceRequest>(requests);
  return request.resource_metrics(0).scope_metrics(0).metrics(0);
}

proto::logs::v1::LogRecord encoded(const LogRecord& log) {
  std::vector<std::string> requests;
  const auto exporter = otlp_log_exporter(std::make_unique<Keeping>(&requests), make_identity({}));
  EXPECT_TRUE(exporter->export_batch(std::array{log}));
  const auto request = only<proto::collector::logs::v1::ExportLogsServiceRequest>(requests);
  return request.resource_logs(0).scope_logs(0).log_records(0);
}

TEST(Records, ASpanThatEndsBeforeItBeginsLastsNoTime) {
  SpanRecord span = plain_span();
  span.begin = 1'000;
  span.end = 400;
  EXPECT_EQ(encoded(span).start_time_unix_nano(), 1'000u);
  EXPECT_EQ(encoded(span).end_time_unix_nano(), 1'000u);
}

TEST(Records, TheFlagsOfASpanSayWhetherItIsSampledAndWhereItsParentIs) {
  SpanRecord span = plain_span();
  EXPECT_EQ(encoded(span).flags(), 0x101u);
  span.parent_is_remote = true;
  EXPECT_EQ(encoded(span).flags(), 0x301u);
  span.context.is_sampled = false;
  EXPECT_EQ(encoded(span).flags(), 0x300u);
}

TEST(Records, ALinkCarriesTheTraceStateOfItsContext) {
  SpanRecord span = plain_span();
  span.links = {{rich_span().context, {}}};
  EXPECT_EQ(encoded(span).links(0).trace_state(), "vendor=value,other=1");
  EXPECT_EQ(encoded(span).trace_state(), "");
}

TEST(Records, TextsOfASpanAreRepaired) {
  SpanRecord span = plain_span();
  span.status = SpanStatus::error;
  span.status_message = "f\xFF";
  span.events = {{"event", 1, {{"n\xFF", "v\xFF"}}}};
  span.links = {{context_of(1), {{"l\xFF", "w\xFF"}}}};
  const auto got = encoded(span);
  EXPECT_EQ(got.status().message(), "f\uFFFD");
  EXPECT_EQ(got.events(0).attributes(0).key(), "n\uFFFD");
  EXPECT_EQ(got.events(0).attributes(0).value().string_value(), "v\uFFFD");
  EXPECT_EQ(got.links(0).attributes(0).key(), "l\uFFFD");
  EXPECT_EQ(got.links(0).attributes(0).value().string_value(), "w\uFFFD");
}

TEST(Records, TextsOfAMetricAreRepaired) {
  MetricRecord record = metric("n\xFF", {{{{"a\xFF", "v\xFF"}}, SumPoint{1}}});
  record.description = "d\xFF";
  record.unit = "u\xFF";
  const auto got = encoded(record);
  EXPECT_EQ(got.name(), "n\uFFFD");
  EXPECT_EQ(got.description(), "d\uFFFD");
  EXPECT_EQ(got.unit(), "u\uFFFD");
  const auto& attribute = got.sum().data_points(0).attributes(0);
  EXPECT_EQ(attribute.key(), "a\uFFFD");
  EXPECT_EQ(attribute.value().string_value(), "v\uFFFD");
}

TEST(Records, TextsOfALogAreRepaired) {
  LogRecord log = rich_log();
  log.message = "m\xFF";
  log.attributes = {{"a\xFF", "v\xFF"}};
  log.file = "f\xFF";
  const auto got = encoded(log);
  EXPECT_EQ(got.body().string_value(), "m\uFFFD");
  EXPECT_EQ(got.attributes(0).key(), "a\uFFFD");
  EXPECT_EQ(got.attributes(0).value().string_value(), "v\uFFFD");
  EXPECT_EQ(got.attributes(1).value().string_value(), "f\uFFFD");
}

TEST(Records, AHistogramWithoutValuesHasNeitherLeastNorGreatest) {
  const auto point_of = [](std::uint64_t count) {
    return encoded(metric("wait", {{{}, HistogramPoint{{1}, {count, 0}, count, 0, 0, 0}}}))
        .histogram()
        .data_points(0);
  };
  EXPECT_TRUE(point_of(1).has_min() && point_of(1).has_max());
  EXPECT_FALSE(point_of(0).has_min() || point_of(0).has_max());
}

TEST(Records, ALogIsObservedWhenItIsWritten) {
  EXPECT_EQ(encoded(rich_log()).observed_time_unix_nano(), 1'700'000'000'123'456'789u);
}

TEST(Records, ALogOutsideOfAPlaceOrATraceNamesNone) {
  for (const char* file : {static_cast<const char*>(nullptr), ""}) {
    LogRecord log = rich_log();
    log.attributes.clear();
    log.file = file;
    log.context = {};
    const auto got = encoded(log);
    EXPECT_EQ(got.attributes_size(), 0);
    EXPECT_EQ(got.trace_id() + got.span_id(), "");
  }
}

TEST(Records, ALogWithHalfAPlaceInATraceNamesNone) {
  LogRecord log = rich_log();
  log.context.span = {};
  EXPECT_EQ(encoded(log).trace_id(), "");
  EXPECT_EQ(encoded(log).flags(), 0u);
  log = rich_log();
  log.context.trace = {};
  EXPECT_EQ(encoded(log).span_id(), "");
}

TEST(Records, ALogInATraceThatIsNotSampledSaysSo) {
  LogRecord log = rich_log();
  EXPECT_EQ(encoded(log).flags(), 1u);
  log.context.is_sampled = false;
  EXPECT_EQ(encoded(log).flags(), 0u);
  EXPECT_EQ(encoded(log).trace_id().size(), 16u);
}

TEST(OtlpExporter, SendsNothingForAnEmptyBatch) {
  std::vector<std::string> requests;
  const auto exporter = otlp_span_exporter(std::make_unique<Keeping>(&requests), make_identity({}));
  EXPECT_TRUE(exporter->export_batch({}));
  EXPECT_TRUE(requests.empty());
}

TEST(OtlpExporter, FailsABatchThatItCannotEncodeOrSend) {
  const auto exporter = otlp_span_exporter(std::make_unique<Throwing>(), make_identity({}));
  EXPECT_FALSE(exporter->export_batch(std::array{plain_span()}));
}

}  // namespace
}  // namespace weir::telemetry::otel
