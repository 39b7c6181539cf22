#include <weir/telemetry/otel/internal/sdk_exporters.hpp>

#include <iostream>

#include <opentelemetry/exporters/ostream/log_record_exporter_factory.h>
#include <opentelemetry/exporters/ostream/metric_exporter_factory.h>
#include <opentelemetry/exporters/ostream/span_exporter_factory.h>
#include <opentelemetry/sdk/logs/exporter.h>
#include <opentelemetry/sdk/metrics/push_metric_exporter.h>
#include <opentelemetry/sdk/trace/exporter.h>

namespace weir::telemetry::otel {

SdkSpanExporter console_span_exporter() {
  return opentelemetry::exporter::trace::OStreamSpanExporterFactory::Create(std::cout);
}

SdkMetricExporter console_metric_exporter() {
  return opentelemetry::exporter::metrics::OStreamMetricExporterFactory::Create(std::cout);
}

SdkLogExporter console_log_exporter() {
  return opentelemetry::exporter::logs::OStreamLogRecordExporterFactory::Create(std::cout);
}

}  // namespace weir::telemetry::otel
