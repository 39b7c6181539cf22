#include <weir/telemetry/otel/exporters.hpp>

#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <opentelemetry/proto/collector/logs/v1/logs_service.grpc.pb.h>
#include <opentelemetry/proto/collector/metrics/v1/metrics_service.grpc.pb.h>
#include <opentelemetry/proto/collector/trace/v1/trace_service.grpc.pb.h>

#include <weir/tests/telemetry/otel/support/otlp_decode.hpp>
#include <weir/tests/telemetry/otel/support/samples.hpp>

namespace weir::telemetry::otel {
namespace {

using namespace std::chrono_literals;
namespace collector = opentelemetry::proto::collector;

// Keeps the requests of one signal as bytes, and the metadata of the last.
template <class Service, class Request, class Response>
class Collecting final : public Service {
 public:
  grpc::Status Export(grpc::ServerContext* context, const Request* request, Response*) override {
    const std::lock_guard lock(mutex_);
    bodies_.push_back(request->SerializeAsString());
    for (const auto& [name, value] : context->client_metadata()) {
      metadata_[std::string(name.data(), name.size())] = std::string(value.data(), value.size());
    }
    return status_;
  }

  void answer(grpc::Status status) {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
  }

  std::vector<std::string> bodies() const {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }
  std::map<std::string, std::string> metadata() const {
    const std::lock_guard lock(mutex_);
    return metadata_;
  }

 private:
  mutable std::mutex mutex_;
  grpc::Status status_ = grpc::Status::OK;
  std::vector<std::string> bodies_;
  std::map<std::string, std::string> metadata_;
};

class OtlpGrpc : public testing::Test {
 protected:
  explicit OtlpGrpc(bool knows_gzip = true) {
    grpc::ServerBuilder builder;
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, knows_gzip);
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&spans_);
    builder.RegisterService(&metrics_);
    builder.RegisterService(&logs_);
    server_ = builder.BuildAndStart();
  }
  ~OtlpGrpc() override { server_->Shutdown(); }

  TelemetryOptions options() const {
    TelemetryOptions options;
    for (ExportOptions* signal : {&options.traces, &options.metrics, &options.logs}) {
      signal->exporter = ExporterKind::otlp_grpc;
      signal->endpoint = "http://127.0.0.1:" + std::to_string(port_);
    }
    return options;
  }

  Collecting<collector::trace::v1::TraceService::Service,
             collector::trace::v1::ExportTraceServiceRequest,
             collector::trace::v1::ExportTraceServiceResponse>
      spans_;
  Collecting<collector::metrics::v1::MetricsService::Service,
             collector::metrics::v1::ExportMetricsServiceRequest,
             collector::metrics::v1::ExportMetricsServiceResponse>
      metrics_;
  Collecting<collector::logs::v1::LogsService::Service,
             collector::logs::v1::ExportLogsServiceRequest,
             collector::logs::v1::ExportLogsServiceResponse>
      logs_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

class OtlpGrpcWithoutGzip : public OtlpGrpc {
 protected:
  OtlpGrpcWithoutGzip() : OtlpGrpc(false) {}
};

TEST_F(OtlpGrpc, CarriesEachSignal) {
  auto exporters = make_exporters(options());
  ASSERT_TRUE(exporters.spans->export_batch(std::array{rich_span()}));
  ASSERT_TRUE(exporters.metrics->export_batch(std::array{metric("m", {{{}, SumPoint{7}}})}));
  ASSERT_TRUE(exporters.logs->export_batch(std::array{rich_log()}));

  const auto spans = decode_spans(spans_.bodies().at(0));
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].span.name, "Account Deposit");
  EXPECT_EQ(spans[0].span.attributes, one_of_each());
  EXPECT_EQ(spans[0].span.dropped_links, 5u);
  EXPECT_EQ(spans[0].sender.scope, "weir");
  const auto metrics = decode_metrics(metrics_.bodies().at(0));
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(std::get<SumPoint>(metrics[0].metric.points.at(0).value).value, 7);
  const auto logs = decode_logs(logs_.bodies().at(0));
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_EQ(logs[0].log.message, "the account is low");
}

TEST_F(OtlpGrpc, SendsHeadersAndCompresses) {
  auto options = this->options();
  options.traces.headers = {{"x-tenant", "seven"}};
  options.traces.uses_gzip = true;
  auto exporters = make_exporters(options);
  ASSERT_TRUE(exporters.spans->export_batch(std::array{rich_span()}));
  EXPECT_EQ(spans_.metadata()["x-tenant"], "seven");
  EXPECT_EQ(decode_spans(spans_.bodies().at(0)).size(), 1u);
}

TEST_F(OtlpGrpc, SendsEveryHeaderThatItsCheckAccepts) {
  auto options = this->options();
  decltype(options.traces.headers) accepted;
  for (int character = 1; character < 256; ++character) {
    const std::string text = "x" + std::string(1, static_cast<char>(character));
    const std::string number = std::to_string(character);
    for (const auto& header : {std::pair(text, number), std::pair("value-" + number, text)}) {
      options.traces.headers = {header};
      try {
        check_options(options);
      } catch (const std::invalid_argument&) {
        EXPECT_THROW(static_cast<void>(make_exporters(options)), std::invalid_argument) << text;
        continue;
      }
      accepted.push_back(header);
    }
  }
  options.traces.headers = accepted;
  options.traces.headers.emplace_back("X-Key", "of upper case");
  options.traces.headers.emplace_back("x-bin", "encoded on the way");
  auto exporters = make_exporters(options);
  ASSERT_TRUE(exporters.spans->export_batch(std::array{plain_span()}));
  EXPECT_EQ(spans_.metadata()["x-key"], "of upper case");
  EXPECT_EQ(spans_.metadata()["x-bin"], "encoded on the way");
  EXPECT_EQ(spans_.metadata()["value-126"], "x~");
  for (const char* name : {"xa", "x0", "x-", "x_", "x."}) {
    EXPECT_EQ(spans_.metadata().count(name), 1u) << name;
  }
}

TEST_F(OtlpGrpcWithoutGzip, RefusesWhatIsCompressedAndTakesWhatIsNot) {
  auto options = this->options();
  ASSERT_TRUE(make_exporters(options).spans->export_batch(std::array{rich_span()}));
  options.traces.uses_gzip = true;
  EXPECT_FALSE(make_exporters(options).spans->export_batch(std::array{rich_span()}));
  EXPECT_EQ(spans_.bodies().size(), 1u);
}

TEST_F(OtlpGrpc, TakesHeadersFromTheOptionsAlone) {
  ::setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-stray=1", 1);
  auto exporters = make_exporters(options());
  ::unsetenv("OTEL_EXPORTER_OTLP_HEADERS");
  ASSERT_TRUE(exporters.spans->export_batch(std::array{rich_span()}));
  EXPECT_EQ(spans_.metadata().count("x-stray"), 0u);
}

// What is not sent is counted and left to the next batch: nobody waits behind one that is repeated.
TEST_F(OtlpGrpc, FailsABatchAtTheFirstRefusal) {
  spans_.answer(grpc::Status(grpc::StatusCode::UNAVAILABLE, "later"));
  auto exporters = make_exporters(options());
  EXPECT_FALSE(exporters.spans->export_batch(std::array{rich_span()}));
  EXPECT_EQ(spans_.bodies().size(), 1u);
}

TEST_F(OtlpGrpc, SendsNothingInTheClearToASecureEndpoint) {
  auto options = this->options();
  options.traces.endpoint.replace(0, 4, "https");
  options.traces.timeout = 200ms;
  auto exporters = make_exporters(options);
  EXPECT_FALSE(exporters.spans->export_batch(std::array{rich_span()}));
  EXPECT_TRUE(spans_.bodies().empty());
}

TEST_F(OtlpGrpc, SendsNothingForAnEmptyBatch) {
  auto exporters = make_exporters(options());
  EXPECT_TRUE(exporters.spans->export_batch({}));
  EXPECT_TRUE(exporters.metrics->export_batch({}));
  EXPECT_TRUE(exporters.logs->export_batch({}));
  EXPECT_TRUE(spans_.bodies().empty() && metrics_.bodies().empty() && logs_.bodies().empty());
}

TEST_F(OtlpGrpc, FailsWhenTheCollectorIsGone) {
  auto options = this->options();
  options.traces.timeout = 200ms;
  auto exporters = make_exporters(options);
  server_->Shutdown();
  EXPECT_FALSE(exporters.spans->export_batch(std::array{rich_span()}));
  exporters.spans->shut_down(100ms);
  EXPECT_FALSE(exporters.spans->export_batch(std::array{rich_span()}));
}

}  // namespace
}  // namespace weir::telemetry::otel
