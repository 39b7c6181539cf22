#pragma once

#include <weir/telemetry/otel/internal/identity.hpp>

namespace weir::telemetry::otel {

/// Weir's interface over an exporter of OpenTelemetry. None for none.
std::unique_ptr<Exporter<SpanRecord>> adapt(SdkSpanExporter exporter, const Identity& identity);
std::unique_ptr<Exporter<MetricRecord>> adapt(SdkMetricExporter exporter, const Identity& identity);
std::unique_ptr<Exporter<LogRecord>> adapt(SdkLogExporter exporter, const Identity& identity);

}  // namespace weir::telemetry::otel
