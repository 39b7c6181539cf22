#include <weir/telemetry/otel/exporters.hpp>

// The exporters' destructors have to be known here.
#include <opentelemetry/sdk/logs/exporter.h>
#include <opentelemetry/sdk/metrics/push_metric_exporter.h>
#include <opentelemetry/sdk/trace/exporter.h>

#include <weir/telemetry/otel/internal/adapter.hpp>
#include <weir/telemetry/otel/internal/diagnostics.hpp>
#include <weir/telemetry/otel/internal/otlp_exporter.hpp>
#include <weir/telemetry/otel/internal/sdk_exporters.hpp>

namespace weir::telemetry::otel {
namespace {

std::unique_ptr<Exporter<SpanRecord>> span_exporter(const ExportOptions& options,
                                                    const Identity& identity) {
  switch (options.exporter) {
    case ExporterKind::none: return nullptr;
    case ExporterKind::otlp_http:
      return otlp_span_exporter(http_transport(options, "/v1/traces"), identity);
    case ExporterKind::otlp_grpc: return adapt(grpc_span_exporter(options), identity);
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
    case ExporterKind::otlp_grpc: return adapt(grpc_metric_exporter(options), identity);
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
    case ExporterKind::otlp_grpc: return adapt(grpc_log_exporter(options), identity);
    case ExporterKind::otlp_file: return otlp_log_exporter(file_transport(options), identity);
    case ExporterKind::console: return adapt(console_log_exporter(), identity);
  }
  return nullptr;
}

}  // namespace

Exporters make_exporters(const TelemetryOptions& options) {
  take_library_complaints();
  const Identity identity = make_identity(options);
  return {span_exporter(options.traces, identity), metric_exporter(options.metrics, identity),
          log_exporter(options.logs, identity)};
}

}  // namespace weir::telemetry::otel
