// Uses the component `telemetry_otel` of the installed package.

#include <weir/telemetry/otel/exporters.hpp>

#include <cstdio>
#include <vector>

int main() {
  weir::telemetry::TelemetryOptions options;
  options.traces.exporter = weir::telemetry::ExporterKind::console;
  const auto exporters = weir::telemetry::otel::make_exporters(options);
  const std::vector<weir::telemetry::SpanRecord> spans(1);
  if (!exporters.spans->export_batch(spans)) return 1;
  std::puts("exporting consumer: ok");
}
