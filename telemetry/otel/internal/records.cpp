#include <weir/telemetry/otel/internal/records.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <variant>

#include <opentelemetry/common/key_value_iterable.h>
#include <opentelemetry/exporters/otlp/otlp_recordable.h>
#include <opentelemetry/logs/severity.h>
#include <opentelemetry/sdk/logs/recordable.h>
#include <opentelemetry/sdk/metrics/export/metric_producer.h>
#include <opentelemetry/sdk/trace/recordable.h>
#include <opentelemetry/trace/span_context.h>
#include <opentelemetry/trace/trace_state.h>

#include <weir/telemetry/otel/internal/utf8.hpp>

namespace weir::telemetry::otel {
namespace {

namespace api = opentelemetry;
namespace nostd = opentelemetry::nostd;

nostd::string_view to_sdk(std::string_view text) noexcept { return {text.data(), text.size()}; }

api::common::SystemTimestamp to_sdk(WallTime time) noexcept {
  return api::common::SystemTimestamp(std::chrono::nanoseconds(time));
}

// Calls `use(name, value)` with views that live as long as the call.
template <class Use>
void with_attribute(const Attribute& attribute, const Use& use) {
  const Utf8Text name(attribute.name);
  if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    const Utf8Text value(*text);
    return use(to_sdk(name.view()), api::common::AttributeValue(to_sdk(value.view())));
  }
  std::visit(
      [&](const auto& value) {
        if constexpr (!std::is_same_v<decltype(value), const std::string&>) {
          use(to_sdk(name.view()), api::common::AttributeValue(value));
        }
      },
      attribute.value);
}

// As UTF-8, in a place that lasts: where it was, or in `texts`.
nostd::string_view lasting(std::string_view text, std::deque<std::string>& texts) {
  const Utf8Text utf8(text);
  if (utf8.view().data() == text.data()) return to_sdk(text);
  return to_sdk(texts.emplace_back(utf8.view()));
}

class AttributesView final : public api::common::KeyValueIterable {
 public:
  explicit AttributesView(const Attributes& attributes) : attributes_(attributes) {}

  bool ForEachKeyValue(nostd::function_ref<bool(nostd::string_view, api::common::AttributeValue)>
                           callback) const noexcept override {
    bool wants_more = true;
    for (const Attribute& attribute : attributes_) {
      if (!wants_more) break;
      with_attribute(attribute, [&](nostd::string_view name, const auto& value) {
        wants_more = callback(name, value);
      });
    }
    return wants_more;
  }
  std::size_t size() const noexcept override { return attributes_.size(); }

 private:
  const Attributes& attributes_;
};

void set_attributes(sdk::trace::Recordable& recordable, const Attributes& attributes) {
  for (const Attribute& attribute : attributes) {
    with_attribute(attribute, [&](nostd::string_view name, const auto& value) {
      recordable.SetAttribute(name, value);
    });
  }
}

api::trace::TraceId to_sdk(const TraceId& id) noexcept {
  return api::trace::TraceId(nostd::span<const std::uint8_t, 16>(id.bytes.data(), 16));
}

api::trace::SpanId to_sdk(const SpanId& id) noexcept {
  return api::trace::SpanId(nostd::span<const std::uint8_t, 8>(id.bytes.data(), 8));
}

api::trace::TraceFlags flags_of(const TraceContext& context) noexcept {
  return api::trace::TraceFlags(context.is_sampled ? api::trace::TraceFlags::kIsSampled : 0);
}

api::trace::SpanContext to_sdk(const TraceContext& context) {
  auto state = context.baggage && !context.baggage->trace_state.empty()
                   ? api::trace::TraceState::FromHeader(to_sdk(context.baggage->trace_state))
                   : api::trace::TraceState::GetDefault();
  return api::trace::SpanContext(to_sdk(context.trace), to_sdk(context.span), flags_of(context),
                                 false, std::move(state));
}

api::trace::SpanKind to_sdk(SpanKind kind) noexcept {
  switch (kind) {
    case SpanKind::internal: return api::trace::SpanKind::kInternal;
    case SpanKind::server: return api::trace::SpanKind::kServer;
    case SpanKind::client: return api::trace::SpanKind::kClient;
    case SpanKind::producer: return api::trace::SpanKind::kProducer;
    case SpanKind::consumer: return api::trace::SpanKind::kConsumer;
  }
  return api::trace::SpanKind::kInternal;
}

api::trace::StatusCode to_sdk(SpanStatus status) noexcept {
  switch (status) {
    case SpanStatus::unset: return api::trace::StatusCode::kUnset;
    case SpanStatus::ok: return api::trace::StatusCode::kOk;
    case SpanStatus::error: return api::trace::StatusCode::kError;
  }
  return api::trace::StatusCode::kUnset;
}

api::logs::Severity to_sdk(Level level) noexcept {
  switch (level) {
    case Level::trace: return api::logs::Severity::kTrace;
    case Level::debug: return api::logs::Severity::kDebug;
    case Level::info: return api::logs::Severity::kInfo;
    case Level::warning: return api::logs::Severity::kWarn;
    case Level::error: return api::logs::Severity::kError;
    case Level::fatal: return api::logs::Severity::kFatal;
  }
  return api::logs::Severity::kInvalid;
}

// What OTLP can say and the recordables of OpenTelemetry C++ cannot.
void fill_otlp(api::exporter::otlp::OtlpRecordable& recordable, const SpanRecord& span) {
  // Bits of opentelemetry.proto.trace.v1.SpanFlags.
  constexpr std::uint32_t has_is_remote = 0x100;
  constexpr std::uint32_t is_remote = 0x200;
  auto& proto = recordable.span();
  proto.set_flags((span.context.is_sampled ? 1u : 0u) | has_is_remote |
                  (span.parent_is_remote ? is_remote : 0u));
  proto.set_dropped_attributes_count(span.dropped_attributes);
  proto.set_dropped_events_count(span.dropped_events);
  proto.set_dropped_links_count(span.dropped_links);
}

sdk::metrics::PointType to_sdk(const SumPoint& point, const MetricRecord& metric) {
  sdk::metrics::SumPointData data;
  data.value_ = point.value;
  data.is_monotonic_ = metric.is_monotonic;
  return data;
}

sdk::metrics::PointType to_sdk(const GaugePoint& point, const MetricRecord& metric) {
  sdk::metrics::LastValuePointData data;
  data.value_ = point.value;
  data.is_lastvalue_valid_ = true;
  data.sample_ts_ = to_sdk(metric.time);
  return data;
}

sdk::metrics::PointType to_sdk(const HistogramPoint& point, const MetricRecord&) {
  sdk::metrics::HistogramPointData data;
  data.boundaries_ = point.bounds;
  data.counts_ = point.buckets;
  data.count_ = point.count;
  data.sum_ = point.sum;
  data.min_ = point.min;
  data.max_ = point.max;
  data.record_min_max_ = point.count > 0;
  return data;
}

sdk::metrics::InstrumentType instrument_type(const MetricRecord& metric) noexcept {
  const auto& value = metric.points.front().value;
  if (std::holds_alternative<HistogramPoint>(value)) {
    return sdk::metrics::InstrumentType::kHistogram;
  }
  if (std::holds_alternative<GaugePoint>(value)) return sdk::metrics::InstrumentType::kGauge;
  return metric.is_monotonic ? sdk::metrics::InstrumentType::kCounter
                             : sdk::metrics::InstrumentType::kUpDownCounter;
}

sdk::metrics::MetricData to_sdk(const MetricRecord& metric) {
  sdk::metrics::MetricData data;
  data.instrument_descriptor = {std::string(Utf8Text(metric.name).view()),
                                std::string(Utf8Text(metric.description).view()),
                                std::string(Utf8Text(metric.unit).view()), instrument_type(metric),
                                sdk::metrics::InstrumentValueType::kDouble};
  data.aggregation_temporality = sdk::metrics::AggregationTemporality::kCumulative;
  data.start_ts = to_sdk(metric.begin);
  data.end_ts = to_sdk(metric.time);
  for (const MetricPoint& point : metric.points) {
    data.point_data_attr_.push_back(
        {sdk::metrics::PointAttributes(AttributesView(point.attributes)),
         std::visit([&](const auto& value) { return to_sdk(value, metric); }, point.value)});
  }
  return data;
}

}  // namespace

void fill(sdk::trace::Recordable& recordable, const SpanRecord& span, const Identity& identity) {
  recordable.SetResource(*identity.resource);
  recordable.SetInstrumentationScope(*identity.scope);
  recordable.SetIdentity(to_sdk(span.context), to_sdk(span.parent));
  recordable.SetTraceFlags(flags_of(span.context));
  recordable.SetName(to_sdk(Utf8Text(span.name).view()));
  recordable.SetSpanKind(to_sdk(span.kind));
  recordable.SetStartTime(to_sdk(span.begin));
  recordable.SetDuration(std::chrono::nanoseconds(std::max<WallTime>(span.end - span.begin, 0)));
  set_attributes(recordable, span.attributes);
  for (const SpanEvent& event : span.events) {
    recordable.AddEvent(to_sdk(Utf8Text(event.name).view()), to_sdk(event.time),
                        AttributesView(event.attributes));
  }
  for (const SpanLink& link : span.links) {
    recordable.AddLink(to_sdk(link.context), AttributesView(link.attributes));
  }
  recordable.SetStatus(to_sdk(span.status), to_sdk(Utf8Text(span.status_message).view()));
  if (auto* otlp = dynamic_cast<api::exporter::otlp::OtlpRecordable*>(&recordable)) {
    fill_otlp(*otlp, span);
  }
}

void fill(sdk::logs::Recordable& recordable, const LogRecord& log, const Identity& identity,
          std::deque<std::string>& texts) {
  recordable.SetResource(*identity.resource);
  recordable.SetInstrumentationScope(*identity.scope);
  recordable.SetTimestamp(to_sdk(log.time));
  recordable.SetObservedTimestamp(to_sdk(log.time));
  recordable.SetSeverity(to_sdk(log.level));
  recordable.SetBody(lasting(log.message, texts));
  for (const Attribute& attribute : log.attributes) {
    const nostd::string_view name = lasting(attribute.name, texts);
    if (const auto* text = std::get_if<std::string>(&attribute.value)) {
      recordable.SetAttribute(name, lasting(*text, texts));
    } else {
      with_attribute(attribute,
                     [&](auto, const auto& value) { recordable.SetAttribute(name, value); });
    }
  }
  if (log.file != nullptr && *log.file != '\0') {
    recordable.SetAttribute("code.file.path", lasting(log.file, texts));
    recordable.SetAttribute("code.line.number", std::int64_t{log.line});
  }
  if (log.context.is_valid()) {
    recordable.SetTraceId(to_sdk(log.context.trace));
    recordable.SetSpanId(to_sdk(log.context.span));
    recordable.SetTraceFlags(flags_of(log.context));
  }
}

sdk::metrics::ResourceMetrics resource_metrics(std::span<const MetricRecord> metrics,
                                               const Identity& identity) {
  std::vector<sdk::metrics::MetricData> data;
  data.reserve(metrics.size());
  for (const MetricRecord& metric : metrics) {
    // OTLP has no metric without a kind, and the kind is that of the points.
    if (!metric.points.empty()) data.push_back(to_sdk(metric));
  }
  sdk::metrics::ScopeMetrics scope(identity.scope.get(), std::move(data));
  return sdk::metrics::ResourceMetrics(identity.resource.get(),
                                       std::vector<sdk::metrics::ScopeMetrics>{std::move(scope)});
}

}  // namespace weir::telemetry::otel
