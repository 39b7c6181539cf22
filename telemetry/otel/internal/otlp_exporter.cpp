#include <weir/telemetry/otel/internal/otlp_exporter.hpp>

#include <atomic>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <opentelemetry/exporters/otlp/otlp_log_recordable.h>
#include <opentelemetry/exporters/otlp/otlp_metric_utils.h>
#include <opentelemetry/exporters/otlp/otlp_recordable.h>
#include <opentelemetry/exporters/otlp/otlp_recordable_utils.h>
#include <opentelemetry/proto/collector/logs/v1/logs_service.pb.h>
#include <opentelemetry/proto/collector/metrics/v1/metrics_service.pb.h>
#include <opentelemetry/proto/collector/trace/v1/trace_service.pb.h>
#include <opentelemetry/sdk/metrics/export/metric_producer.h>

#include <weir/telemetry/otel/internal/records.hpp>

namespace weir::telemetry::otel {
namespace {

namespace collector = opentelemetry::proto::collector;
namespace otlp = opentelemetry::exporter::otlp;

void encode(std::span<const SpanRecord> batch, const Identity& identity,
            collector::trace::v1::ExportTraceServiceRequest& request) {
  std::vector<std::unique_ptr<sdk::trace::Recordable>> recordables;
  recordables.reserve(batch.size());
  for (const SpanRecord& span : batch) {
    recordables.push_back(std::make_unique<otlp::OtlpRecordable>());
    fill(*recordables.back(), span, identity);
  }
  otlp::OtlpRecordableUtils::PopulateRequest({recordables.data(), recordables.size()}, &request);
}

void encode(std::span<const LogRecord> batch, const Identity& identity,
            collector::logs::v1::ExportLogsServiceRequest& request) {
  std::deque<std::string> texts;
  std::vector<std::unique_ptr<sdk::logs::Recordable>> recordables;
  recordables.reserve(batch.size());
  for (const LogRecord& log : batch) {
    recordables.push_back(std::make_unique<otlp::OtlpLogRecordable>());
    fill(*recordables.back(), log, identity, texts);
  }
  otlp::OtlpRecordableUtils::PopulateRequest({recordables.data(), recordables.size()}, &request);
}

void encode(std::span<const MetricRecord> batch, const Identity& identity,
            collector::metrics::v1::ExportMetricsServiceRequest& request) {
  otlp::OtlpMetricUtils::PopulateRequest(resource_metrics(batch, identity), &request);
}

template <class Record, class Request>
class OtlpExporter final : public Exporter<Record> {
 public:
  OtlpExporter(std::unique_ptr<Transport> transport, Identity identity)
      : identity_(std::move(identity)), transport_(std::move(transport)) {}

  bool export_batch(std::span<const Record> batch) override {
    if (is_shut_down_.load(std::memory_order_acquire)) return false;
    if (batch.empty()) return true;
    try {
      Request request;
      encode(batch, identity_, request);
      return transport_->send(request);
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
  Identity identity_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace

std::unique_ptr<Exporter<SpanRecord>> otlp_span_exporter(std::unique_ptr<Transport> transport,
                                                         Identity identity) {
  return std::make_unique<
      OtlpExporter<SpanRecord, collector::trace::v1::ExportTraceServiceRequest>>(
      std::move(transport), std::move(identity));
}

std::unique_ptr<Exporter<MetricRecord>> otlp_metric_exporter(std::unique_ptr<Transport> transport,
                                                             Identity identity) {
  return std::make_unique<
      OtlpExporter<MetricRecord, collector::metrics::v1::ExportMetricsServiceRequest>>(
      std::move(transport), std::move(identity));
}

std::unique_ptr<Exporter<LogRecord>> otlp_log_exporter(std::unique_ptr<Transport> transport,
                                                       Identity identity) {
  return std::make_unique<OtlpExporter<LogRecord, collector::logs::v1::ExportLogsServiceRequest>>(
      std::move(transport), std::move(identity));
}

}  // namespace weir::telemetry::otel
