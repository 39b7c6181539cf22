#include <weir/telemetry/otel/internal/sdk_exporters.hpp>

#include <opentelemetry/exporters/otlp/otlp_grpc_exporter_factory.h>
#include <opentelemetry/exporters/otlp/otlp_grpc_exporter_options.h>
#include <opentelemetry/exporters/otlp/otlp_grpc_log_record_exporter_factory.h>
#include <opentelemetry/exporters/otlp/otlp_grpc_log_record_exporter_options.h>
#include <opentelemetry/exporters/otlp/otlp_grpc_metric_exporter_factory.h>
#include <opentelemetry/exporters/otlp/otlp_grpc_metric_exporter_options.h>
#include <opentelemetry/sdk/logs/exporter.h>
#include <opentelemetry/sdk/metrics/push_metric_exporter.h>
#include <opentelemetry/sdk/trace/exporter.h>

namespace weir::telemetry::otel {
namespace {

namespace otlp = opentelemetry::exporter::otlp;

// The three kinds of options have the same members, and read the environment first.
template <class SdkOptions>
SdkOptions grpc_options(const ExportOptions& options) {
  SdkOptions to;
  to.endpoint = options.endpoint.empty() ? "http://localhost:4317" : options.endpoint;
  to.use_ssl_credentials = to.endpoint.starts_with("https://");
  to.ssl_credentials_cacert_path = options.certificate;
  to.ssl_credentials_cacert_as_string.clear();
  to.timeout = options.timeout;
  to.metadata.clear();
  to.metadata.insert(options.headers.begin(), options.headers.end());
  to.compression = options.uses_gzip ? "gzip" : "none";
  to.retry_policy_max_attempts = 0;
  return to;
}

}  // namespace

SdkSpanExporter grpc_span_exporter(const ExportOptions& options) {
  return otlp::OtlpGrpcExporterFactory::Create(
      grpc_options<otlp::OtlpGrpcExporterOptions>(options));
}

SdkMetricExporter grpc_metric_exporter(const ExportOptions& options) {
  auto to = grpc_options<otlp::OtlpGrpcMetricExporterOptions>(options);
  to.aggregation_temporality = otlp::PreferredAggregationTemporality::kCumulative;
  return otlp::OtlpGrpcMetricExporterFactory::Create(to);
}

SdkLogExporter grpc_log_exporter(const ExportOptions& options) {
  return otlp::OtlpGrpcLogRecordExporterFactory::Create(
      grpc_options<otlp::OtlpGrpcLogRecordExporterOptions>(options));
}

}  // namespace weir::telemetry::otel
