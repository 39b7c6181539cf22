#pragma once

#include <weir/telemetry/otel/internal/sdk.hpp>

// Those exporters of OpenTelemetry that are used as they are.

namespace weir::telemetry::otel {

SdkSpanExporter console_span_exporter();
SdkMetricExporter console_metric_exporter();
SdkLogExporter console_log_exporter();

}  // namespace weir::telemetry::otel
