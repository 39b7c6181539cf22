#pragma once

#include <span>

#include <weir/telemetry/otel/internal/identity.hpp>

// Weir's records as those of OpenTelemetry.

namespace weir::telemetry::otel {

void fill(sdk::trace::Recordable& recordable, const SpanRecord& span, const Identity& identity);
void fill(sdk::logs::Recordable& recordable, const LogRecord& log, const Identity& identity);
sdk::metrics::ResourceMetrics resource_metrics(std::span<const MetricRecord> metrics,
                                               const Identity& identity);

}  // namespace weir::telemetry::otel
