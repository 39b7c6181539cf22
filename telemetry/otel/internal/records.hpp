#pragma once

#include <deque>
#include <span>
#include <string>

#include <weir/telemetry/otel/internal/identity.hpp>

// Weir's records as those of OpenTelemetry.

namespace weir::telemetry::otel {

void fill(sdk::trace::Recordable& recordable, const SpanRecord& span, const Identity& identity);
/// The console's record keeps views: it must not outlive `log`, nor `texts`, which is given what
/// had to be repaired.
void fill(sdk::logs::Recordable& recordable, const LogRecord& log, const Identity& identity,
          std::deque<std::string>& texts);
sdk::metrics::ResourceMetrics resource_metrics(std::span<const MetricRecord> metrics,
                                               const Identity& identity);

}  // namespace weir::telemetry::otel
