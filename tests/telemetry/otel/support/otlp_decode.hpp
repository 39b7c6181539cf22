#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/telemetry/log_record.hpp>
#include <weir/telemetry/metric_record.hpp>
#include <weir/telemetry/span_record.hpp>

// OTLP requests, decoded with the protobuf messages of the OpenTelemetry packages and turned back
// into Weir's records, so that tests compare what they sent with what arrived.

namespace weir::telemetry::otel {

/// Who sent a record, as the collector sees it.
struct Sender {
  Attributes resource;  // by name
  std::string scope;
  std::string scope_version;
};

struct ReceivedSpan {
  SpanRecord span;
  Sender sender;
};

struct ReceivedMetric {
  MetricRecord metric;
  Sender sender;
  bool is_cumulative = false;  // gauges are neither
};

struct ReceivedLog {
  LogRecord log;  // its file and line are among the attributes
  Sender sender;
  std::string severity_text;
};

/// Each throws `std::invalid_argument` if the bytes are no such request.
std::vector<ReceivedSpan> decode_spans(const std::string& bytes);
std::vector<ReceivedMetric> decode_metrics(const std::string& bytes);
std::vector<ReceivedLog> decode_logs(const std::string& bytes);

}  // namespace weir::telemetry::otel
