#include <weir/telemetry/otel/internal/otlp_exporter.hpp>

#include <atomic>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <opentelemetry/exporters/otlp/otlp_log_recordable.h>
#include <opentelemetry/exporters/otlp/otlp_metric_utils.h>
#include <opentelemetry/exporters/otlp/otlp_recordable_utils.h>
#include <opentelemetry/proto/collector/logs/v1/logs_service.pb.h>
#include <opentelemetry/proto/collector/metrics/v1/metrics_service.pb.h>
#include <opentelemetry/proto/collector/trace/v1/trace_service.pb.h>
#include <opentelemetry/sdk/metrics/export/metric_producer.h>

#include <weir/telemetry/otel/internal/records.hpp>
#include <weir/telemetry/otel/internal/span_encoder.hpp>

namespace weir::telemetry::otel {
namespace {

namespace collector = opentelemetry::proto::collector;
namespace otlp = opentelemetry::exporter::otlp;

bool send(std::span<const SpanRecord> batch, SpanEncoder& encoder, Transport& transport) {
  return transport.send_encoded(
      encoder.encode(batch), collector::trace::v1::ExportTraceServiceRequest::default_instance());
}

bool send(std::span<const LogRecord> batch, const Identity& identity, Transport& transport) {
  std::deque<std::string> texts;
  std::vector<std::unique_ptr<sdk::logs::Recordable>> recordables;
  recordables.reserve(batch.size());
  for (const LogRecord& log : batch) {
    recordables.push_back(std::make_unique<otlp::OtlpLogRecordable>());
    fill(*recordables.back(), log, identity, texts);
  }
  collector::logs::v1::ExportLogsServiceRequest request;
  otlp::OtlpRecordableUtils::PopulateRequest({recordables.data(), recordables.size()}, &request);
  return transport.send(request);
}

bool send(std::span<const MetricRecord> batch, const Identity& identity, Transport& transport) {
  collector::metrics::v1::ExportMetricsServiceRequest request;
  otlp::OtlpMetricUtils::PopulateRequest(resource_metrics(batch, identity), &request);
  return transport.send(request);
}

// `Encoding` is what it takes to encode a batch: an identity, or an encoder made from it.
template <class Record, class Encoding>
class OtlpExporter final : public Exporter<Record> {
 public:
  OtlpExporter(std::unique_ptr<Transport> transport, const Identity& identity)
      : encoding_(identity), transport_(std::move(transport)) {}

  bool export_batch(std::span<const Record> batch) override {
    if (is_shut_down_.load(std::memory_order_acquire)) return false;
    if (batch.empty()) return true;
    try {
      return send(batch, encoding_, *transport_);
    } catch (...) {
      return false;
    }
  }

  void shut_down(std::chrono::milliseconds within) override {
    is_shut_down_.store(true, std::memory_order_release);
    transport_->shut_down(within);
  }

 private:
  std::atomic<bool> is_shut_down_{false};
  Encoding encoding_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace

bool Transport::send_encoded(std::string_view request, const google::protobuf::Message& form) {
  const std::unique_ptr<google::protobuf::Message> decoded(form.New());
  return decoded->ParseFromArray(request.data(), static_cast<int>(request.size())) &&
         send(*decoded);
}

std::unique_ptr<Exporter<SpanRecord>> otlp_span_exporter(std::unique_ptr<Transport> transport,
                                                         const Identity& identity) {
  return std::make_unique<OtlpExporter<SpanRecord, SpanEncoder>>(std::move(transport), identity);
}

std::unique_ptr<Exporter<MetricRecord>> otlp_metric_exporter(std::unique_ptr<Transport> transport,
                                                             const Identity& identity) {
  return std::make_unique<OtlpExporter<MetricRecord, Identity>>(std::move(transport), identity);
}

std::unique_ptr<Exporter<LogRecord>> otlp_log_exporter(std::unique_ptr<Transport> transport,
                                                       const Identity& identity) {
  return std::make_unique<OtlpExporter<LogRecord, Identity>>(std::move(transport), identity);
}

}  // namespace weir::telemetry::otel
