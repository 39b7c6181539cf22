#pragma once

#include <weir/telemetry/otel/internal/sdk.hpp>

// Those exporters of OpenTelemetry that are used as they are.

namespace weir::telemetry::otel {

SdkSpanExporter grpc_span_exporter(const ExportOptions& options);
SdkMetricExporter grpc_metric_exporter(const ExportOptions& options);
SdkLogExporter grpc_log_exporter(const ExportOptions& options);

SdkSpanExporter console_span_exporter();
SdkMetricExporter console_metric_exporter();
SdkLogExporter console_log_exporter();

}  // namespace weir::telemetry::otel
