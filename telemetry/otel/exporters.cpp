#include <weir/telemetry/otel/exporters.hpp>

// The exporters' destructors have to be known here.
#include <opentelemetry/sdk/logs/exporter.h>
#include <opentelemetry/sdk/metrics/push_metric_exporter.h>
#include <opentelemetry/sdk/trace/exporter.h>

#include <weir/telemetry/otel/internal/adapter.hpp>
#include <weir/telemetry/otel/internal/diagnostics.hpp>
#include <weir/telemetry/otel/internal/otlp_exporter.hpp>
#include <weir/telemetry/otel/internal/pem.hpp>
#include <weir/telemetry/otel/internal/sdk_exporters.hpp>

namespace weir::telemetry::otel {
namespace {

constexpr const char* span_method = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
constexpr const char* metric_method =
    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
constexpr const char* log_method = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";

std::unique_ptr<Exporter<SpanRecord>> span_exporter(const ExportOptions& options,
                                                    const Identity& identity) {
  switch (options.exporter) {
    case ExporterKind::none: return nullptr;
    case ExporterKind::otlp_http:
      return otlp_span_exporter(http_transport(options, "/v1/traces"), identity);
    case ExporterKind::otlp_grpc:
      return otlp_span_exporter(grpc_transport(options, span_method), identity);
    case ExporterKind::otlp_file: return otlp_span_exporter(file_transport(options), identity);
    case ExporterKind::console: return adapt(console_span_exporter(), identity);
  }
  return nullptr;
}

std::unique_ptr<Exporter<MetricRecord>> metric_exporter(const ExportOptions& options,
                                                        const Identity& identity) {
  switch (options.exporter) {
    case ExporterKind::none: return nullptr;
    case ExporterKind::otlp_http:
      return otlp_metric_exporter(http_transport(options, "/v1/metrics"), identity);
    case ExporterKind::otlp_grpc:
      return otlp_metric_exporter(grpc_transport(options, metric_method), identity);
    case ExporterKind::otlp_file: return otlp_metric_exporter(file_transport(options), identity);
    case ExporterKind::console: return adapt(console_metric_exporter(), identity);
  }
  return nullptr;
}

std::unique_ptr<Exporter<LogRecord>> log_exporter(const ExportOptions& options,
                                                  const Identity& identity) {
  switch (options.exporter) {
    case ExporterKind::none: return nullptr;
    case ExporterKind::otlp_http:
      return otlp_log_exporter(http_transport(options, "/v1/logs"), identity);
    case ExporterKind::otlp_grpc:
      return otlp_log_exporter(grpc_transport(options, log_method), identity);
    case ExporterKind::otlp_file: return otlp_log_exporter(file_transport(options), identity);
    case ExporterKind::console: return adapt(console_log_exporter(), identity);
  }
  return nullptr;
}

bool sends_otlp(const ExportOptions& options) noexcept {
  return options.exporter == ExporterKind::otlp_http || options.exporter == ExporterKind::otlp_grpc;
}

}  // namespace

Exporters make_exporters(const TelemetryOptions& options) {
  take_library_complaints();
  if (sends_otlp(options.traces)) check_pem_files("traces", options.traces);
  if (sends_otlp(options.metrics)) check_pem_files("metrics", options.metrics);
  if (sends_otlp(options.logs)) check_pem_files("logs", options.logs);
  const Identity identity = make_identity(options);
  return {span_exporter(options.traces, identity), metric_exporter(options.metrics, identity),
          log_exporter(options.logs, identity)};
}

}  // namespace weir::telemetry::otel
