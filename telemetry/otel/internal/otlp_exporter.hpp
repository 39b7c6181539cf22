#pragma once

#include <weir/telemetry/otel/internal/identity.hpp>
#include <weir/telemetry/otel/internal/transport.hpp>

namespace weir::telemetry::otel {

/// Encodes batches as OTLP, spans by `SpanEncoder` and the rest with the code of OpenTelemetry, and
/// hands them to a transport.
///
/// OpenTelemetry's own HTTP exporter is not used: that of 1.19 reports success whatever the
/// collector answers, and its shutdown waits for a collector that hangs. Its file exporter is not
/// in the Debian package.
std::unique_ptr<Exporter<SpanRecord>> otlp_span_exporter(std::unique_ptr<Transport> transport,
                                                         const Identity& identity);
std::unique_ptr<Exporter<MetricRecord>> otlp_metric_exporter(std::unique_ptr<Transport> transport,
                                                             const Identity& identity);
std::unique_ptr<Exporter<LogRecord>> otlp_log_exporter(std::unique_ptr<Transport> transport,
                                                       const Identity& identity);

}  // namespace weir::telemetry::otel
