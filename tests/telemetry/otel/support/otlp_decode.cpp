#include <weir/tests/telemetry/otel/support/otlp_decode.hpp>

#include <algorithm>
#include <stdexcept>

#include <opentelemetry/proto/collector/logs/v1/logs_service.pb.h>
#include <opentelemetry/proto/collector/metrics/v1/metrics_service.pb.h>
#include <opentelemetry/proto/collector/trace/v1/trace_service.pb.h>

namespace weir::telemetry::otel {
namespace {

namespace proto = opentelemetry::proto;

template <class Request>
Request parse(const std::string& bytes) {
  Request request;
  if (!request.ParseFromString(bytes)) {
    throw std::invalid_argument("not a " + request.GetTypeName());
  }
  return request;
}

Attribute decode(const proto::common::v1::KeyValue& pair) {
  switch (pair.value().value_case()) {
    case proto::common::v1::AnyValue::kBoolValue: return {pair.key(), pair.value().bool_value()};
    case proto::common::v1::AnyValue::kIntValue: return {pair.key(), pair.value().int_value()};
    case proto::common::v1::AnyValue::kDoubleValue:
      return {pair.key(), pair.value().double_value()};
    case proto::common::v1::AnyValue::kStringValue:
      return {pair.key(), std::string_view(pair.value().string_value())};
    default: throw std::invalid_argument("attribute " + pair.key() + " has an unknown type");
  }
}

template <class Pairs>
Attributes decode_attributes(const Pairs& pairs) {
  Attributes attributes;
  for (const auto& pair : pairs) attributes.push_back(decode(pair));
  return attributes;
}

template <class Id>
Id decode_id(const std::string& bytes) {
  Id id;
  if (bytes.empty()) return id;
  if (bytes.size() != id.bytes.size()) throw std::invalid_argument("an id of a wrong size");
  std::copy(bytes.begin(), bytes.end(), id.bytes.begin());
  return id;
}

template <class Placed>
TraceContext decode_context(const Placed& placed) {
  TraceContext context;
  context.trace = decode_id<TraceId>(placed.trace_id());
  context.span = decode_id<SpanId>(placed.span_id());
  context.is_sampled = (placed.flags() & 1u) != 0;
  if constexpr (requires { placed.trace_state(); }) {
    if (!placed.trace_state().empty()) {
      context.baggage =
          std::make_shared<const TraceBaggage>(TraceBaggage{placed.trace_state(), ""});
    }
  }
  return context;
}

Sender decode_sender(const proto::resource::v1::Resource& resource,
                     const proto::common::v1::InstrumentationScope& scope) {
  Sender sender{decode_attributes(resource.attributes()), scope.name(), scope.version()};
  std::ranges::sort(sender.resource, {}, &Attribute::name);
  return sender;
}

SpanKind decode(proto::trace::v1::Span::SpanKind kind) {
  switch (kind) {
    case proto::trace::v1::Span::SPAN_KIND_INTERNAL: return SpanKind::internal;
    case proto::trace::v1::Span::SPAN_KIND_SERVER: return SpanKind::server;
    case proto::trace::v1::Span::SPAN_KIND_CLIENT: return SpanKind::client;
    case proto::trace::v1::Span::SPAN_KIND_PRODUCER: return SpanKind::producer;
    case proto::trace::v1::Span::SPAN_KIND_CONSUMER: return SpanKind::consumer;
    default: throw std::invalid_argument("an unknown kind of span");
  }
}

SpanStatus decode(proto::trace::v1::Status::StatusCode code) {
  switch (code) {
    case proto::trace::v1::Status::STATUS_CODE_OK: return SpanStatus::ok;
    case proto::trace::v1::Status::STATUS_CODE_ERROR: return SpanStatus::error;
    default: return SpanStatus::unset;
  }
}

SpanRecord decode(const proto::trace::v1::Span& from) {
  SpanRecord span;
  span.name = from.name();
  span.context = decode_context(from);
  span.parent = decode_id<SpanId>(from.parent_span_id());
  span.parent_is_remote = (from.flags() & proto::trace::v1::SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK) != 0;
  span.kind = decode(from.kind());
  span.begin = static_cast<WallTime>(from.start_time_unix_nano());
  span.end = static_cast<WallTime>(from.end_time_unix_nano());
  span.attributes = decode_attributes(from.attributes());
  for (const auto& event : from.events()) {
    span.events.push_back({event.name(), static_cast<WallTime>(event.time_unix_nano()),
                           decode_attributes(event.attributes())});
  }
  for (const auto& link : from.links()) {
    span.links.push_back({decode_context(link), decode_attributes(link.attributes())});
  }
  span.status = decode(from.status().code());
  span.status_message = from.status().message();
  span.dropped_attributes = from.dropped_attributes_count();
  span.dropped_events = from.dropped_events_count();
  span.dropped_links = from.dropped_links_count();
  return span;
}

template <class NumberPoint>
double number(const NumberPoint& point) {
  return point.has_as_int() ? static_cast<double>(point.as_int()) : point.as_double();
}

HistogramPoint decode(const proto::metrics::v1::HistogramDataPoint& from) {
  HistogramPoint point;
  point.bounds.assign(from.explicit_bounds().begin(), from.explicit_bounds().end());
  point.buckets.assign(from.bucket_counts().begin(), from.bucket_counts().end());
  point.count = from.count();
  point.sum = from.sum();
  point.min = from.min();
  point.max = from.max();
  return point;
}

template <class Points, class Decode>
void decode_points(const Points& points, MetricRecord& metric, const Decode& decode_point) {
  for (const auto& point : points) {
    metric.begin = static_cast<WallTime>(point.start_time_unix_nano());
    metric.time = static_cast<WallTime>(point.time_unix_nano());
    metric.points.push_back({decode_attributes(point.attributes()), decode_point(point)});
  }
}

ReceivedMetric decode(const proto::metrics::v1::Metric& from, const Sender& sender) {
  ReceivedMetric received{{}, sender};
  MetricRecord& metric = received.metric;
  metric.name = from.name();
  metric.description = from.description();
  metric.unit = from.unit();
  auto temporality = proto::metrics::v1::AGGREGATION_TEMPORALITY_UNSPECIFIED;
  if (from.has_sum()) {
    temporality = from.sum().aggregation_temporality();
    metric.is_monotonic = from.sum().is_monotonic();
    decode_points(from.sum().data_points(), metric,
                  [](const auto& point) { return SumPoint{number(point)}; });
  } else if (from.has_gauge()) {
    decode_points(from.gauge().data_points(), metric,
                  [](const auto& point) { return GaugePoint{number(point)}; });
  } else if (from.has_histogram()) {
    temporality = from.histogram().aggregation_temporality();
    decode_points(from.histogram().data_points(), metric,
                  [](const auto& point) { return decode(point); });
  }
  received.is_cumulative = temporality == proto::metrics::v1::AGGREGATION_TEMPORALITY_CUMULATIVE;
  return received;
}

Level decode(proto::logs::v1::SeverityNumber severity) {
  switch (severity) {
    case proto::logs::v1::SEVERITY_NUMBER_TRACE: return Level::trace;
    case proto::logs::v1::SEVERITY_NUMBER_DEBUG: return Level::debug;
    case proto::logs::v1::SEVERITY_NUMBER_INFO: return Level::info;
    case proto::logs::v1::SEVERITY_NUMBER_WARN: return Level::warning;
    case proto::logs::v1::SEVERITY_NUMBER_ERROR: return Level::error;
    case proto::logs::v1::SEVERITY_NUMBER_FATAL: return Level::fatal;
    default: throw std::invalid_argument("an unknown severity");
  }
}

ReceivedLog decode(const proto::logs::v1::LogRecord& from, const Sender& sender) {
  ReceivedLog received{{}, sender, from.severity_text()};
  received.log.time = static_cast<WallTime>(from.time_unix_nano());
  received.log.level = decode(from.severity_number());
  received.log.message = from.body().string_value();
  received.log.attributes = decode_attributes(from.attributes());
  received.log.context = decode_context(from);
  return received;
}

}  // namespace

std::vector<ReceivedSpan> decode_spans(const std::string& bytes) {
  std::vector<ReceivedSpan> spans;
  const auto request = parse<proto::collector::trace::v1::ExportTraceServiceRequest>(bytes);
  for (const auto& resource : request.resource_spans()) {
    for (const auto& scope : resource.scope_spans()) {
      const Sender sender = decode_sender(resource.resource(), scope.scope());
      for (const auto& span : scope.spans()) spans.push_back({decode(span), sender});
    }
  }
  return spans;
}

std::vector<ReceivedMetric> decode_metrics(const std::string& bytes) {
  std::vector<ReceivedMetric> metrics;
  const auto request = parse<proto::collector::metrics::v1::ExportMetricsServiceRequest>(bytes);
  for (const auto& resource : request.resource_metrics()) {
    for (const auto& scope : resource.scope_metrics()) {
      const Sender sender = decode_sender(resource.resource(), scope.scope());
      for (const auto& metric : scope.metrics()) metrics.push_back(decode(metric, sender));
    }
  }
  return metrics;
}

std::vector<ReceivedLog> decode_logs(const std::string& bytes) {
  std::vector<ReceivedLog> logs;
  const auto request = parse<proto::collector::logs::v1::ExportLogsServiceRequest>(bytes);
  for (const auto& resource : request.resource_logs()) {
    for (const auto& scope : resource.scope_logs()) {
      const Sender sender = decode_sender(resource.resource(), scope.scope());
      for (const auto& log : scope.log_records()) logs.push_back(decode(log, sender));
    }
  }
  return logs;
}

}  // namespace weir::telemetry::otel
