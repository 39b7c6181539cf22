#pragma once

#include <span>
#include <string>
#include <string_view>

#include <weir/telemetry/otel/internal/identity.hpp>
#include <weir/telemetry/otel/internal/wire_writer.hpp>

namespace weir::telemetry::otel {

/// Spans as an OTLP request, written straight from the records: spans are many, and protobuf's
/// messages and OpenTelemetry's recordables make dozens of objects of each.
class SpanEncoder {
 public:
  explicit SpanEncoder(const Identity& identity);

  /// The bytes of an `ExportTraceServiceRequest`, until the next call.
  std::string_view encode(std::span<const SpanRecord> batch);

 private:
  // What all requests have in common, as fields of the messages around the spans.
  std::string resource_;
  std::string scope_;
  WireWriter writer_;
};

}  // namespace weir::telemetry::otel
