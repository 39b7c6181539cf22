#include <weir/telemetry/otel/internal/span_encoder.hpp>

#include <algorithm>
#include <bit>
#include <memory>
#include <ranges>
#include <variant>
#include <vector>

#include <opentelemetry/exporters/otlp/otlp_recordable.h>
#include <opentelemetry/exporters/otlp/otlp_recordable_utils.h>
#include <opentelemetry/proto/collector/trace/v1/trace_service.pb.h>

#include <weir/telemetry/otel/internal/utf8.hpp>

// Fields come in the opposite order: see `WireWriter`. Those that have their default value are left
// out, as protobuf does.
namespace weir::telemetry::otel {
namespace {

namespace otlp = opentelemetry::exporter::otlp;
namespace proto = opentelemetry::proto;
using proto::collector::trace::v1::ExportTraceServiceRequest;
using proto::common::v1::AnyValue;
using proto::common::v1::KeyValue;
using proto::trace::v1::ResourceSpans;
using proto::trace::v1::ScopeSpans;
using ProtoSpan = proto::trace::v1::Span;
using ProtoStatus = proto::trace::v1::Status;

// Our kinds are in the order of OTLP's, which has another one before them.
static_assert(static_cast<int>(SpanKind::internal) + 1 == ProtoSpan::SPAN_KIND_INTERNAL);
static_assert(static_cast<int>(SpanKind::consumer) + 1 == ProtoSpan::SPAN_KIND_CONSUMER);
static_assert(static_cast<int>(SpanStatus::error) == ProtoStatus::STATUS_CODE_ERROR);

template <class Id>
void write_id(WireWriter& writer, int field, const Id& id) {
  writer.bytes(field, {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
}

void write_text(WireWriter& writer, int field, std::string_view text) {
  if (!text.empty()) writer.bytes(field, Utf8Text(text).view());
}

void write_count(WireWriter& writer, int field, std::uint32_t count) {
  if (count != 0) writer.number(field, count);
}

void write_time(WireWriter& writer, int field, WallTime time) {
  if (time != 0) writer.fixed64(field, static_cast<std::uint64_t>(time));
}

// Written whatever the value is: which field is there says of what type it is.
struct ValueWriter {
  WireWriter& writer;

  void operator()(bool value) const {
    writer.number(AnyValue::kBoolValueFieldNumber, value ? 1 : 0);
  }
  void operator()(std::int64_t value) const {
    writer.number(AnyValue::kIntValueFieldNumber, static_cast<std::uint64_t>(value));
  }
  void operator()(double value) const {
    writer.fixed64(AnyValue::kDoubleValueFieldNumber, std::bit_cast<std::uint64_t>(value));
  }
  void operator()(const std::string& value) const {
    writer.bytes(AnyValue::kStringValueFieldNumber, Utf8Text(value).view());
  }
};

void write_attributes(WireWriter& writer, int field, const Attributes& attributes) {
  for (const Attribute& attribute : std::views::reverse(attributes)) {
    writer.message(field, [&] {
      writer.message(KeyValue::kValueFieldNumber,
                     [&] { std::visit(ValueWriter{writer}, attribute.value); });
      write_text(writer, KeyValue::kKeyFieldNumber, attribute.name);
    });
  }
}

void write_trace_state(WireWriter& writer, int field, const TraceContext& context) {
  if (context.baggage) write_text(writer, field, context.baggage->trace_state);
}

void write_event(WireWriter& writer, const SpanEvent& event) {
  write_attributes(writer, ProtoSpan::Event::kAttributesFieldNumber, event.attributes);
  write_text(writer, ProtoSpan::Event::kNameFieldNumber, event.name);
  write_time(writer, ProtoSpan::Event::kTimeUnixNanoFieldNumber, event.time);
}

void write_link(WireWriter& writer, const SpanLink& link) {
  write_attributes(writer, ProtoSpan::Link::kAttributesFieldNumber, link.attributes);
  write_trace_state(writer, ProtoSpan::Link::kTraceStateFieldNumber, link.context);
  write_id(writer, ProtoSpan::Link::kSpanIdFieldNumber, link.context.span);
  write_id(writer, ProtoSpan::Link::kTraceIdFieldNumber, link.context.trace);
}

void write_status(WireWriter& writer, const SpanRecord& span) {
  write_count(writer, ProtoStatus::kCodeFieldNumber, static_cast<std::uint32_t>(span.status));
  if (span.status == SpanStatus::error) {
    write_text(writer, ProtoStatus::kMessageFieldNumber, span.status_message);
  }
}

std::uint32_t flags_of(const SpanRecord& span) noexcept {
  constexpr std::uint32_t knows_parent = proto::trace::v1::SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK;
  constexpr std::uint32_t is_remote = proto::trace::v1::SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK;
  return (span.context.is_sampled ? 1u : 0u) | knows_parent |
         (span.parent_is_remote ? is_remote : 0u);
}

// The fields after its attributes.
void write_rest(WireWriter& writer, const SpanRecord& span) {
  writer.fixed32(ProtoSpan::kFlagsFieldNumber, flags_of(span));
  writer.message(ProtoSpan::kStatusFieldNumber, [&] { write_status(writer, span); });
  write_count(writer, ProtoSpan::kDroppedLinksCountFieldNumber, span.dropped_links);
  for (const SpanLink& link : std::views::reverse(span.links)) {
    writer.message(ProtoSpan::kLinksFieldNumber, [&] { write_link(writer, link); });
  }
  write_count(writer, ProtoSpan::kDroppedEventsCountFieldNumber, span.dropped_events);
  for (const SpanEvent& event : std::views::reverse(span.events)) {
    writer.message(ProtoSpan::kEventsFieldNumber, [&] { write_event(writer, event); });
  }
  write_count(writer, ProtoSpan::kDroppedAttributesCountFieldNumber, span.dropped_attributes);
}

void write_span(WireWriter& writer, const SpanRecord& span) {
  write_rest(writer, span);
  write_attributes(writer, ProtoSpan::kAttributesFieldNumber, span.attributes);
  write_time(writer, ProtoSpan::kEndTimeUnixNanoFieldNumber, std::max(span.begin, span.end));
  write_time(writer, ProtoSpan::kStartTimeUnixNanoFieldNumber, span.begin);
  writer.number(ProtoSpan::kKindFieldNumber, static_cast<std::uint64_t>(span.kind) + 1);
  write_text(writer, ProtoSpan::kNameFieldNumber, span.name);
  if (span.parent.is_valid()) write_id(writer, ProtoSpan::kParentSpanIdFieldNumber, span.parent);
  write_trace_state(writer, ProtoSpan::kTraceStateFieldNumber, span.context);
  write_id(writer, ProtoSpan::kSpanIdFieldNumber, span.context.span);
  write_id(writer, ProtoSpan::kTraceIdFieldNumber, span.context.trace);
}

// What OpenTelemetry puts around the spans of that sender.
ResourceSpans around_spans(const Identity& identity) {
  std::vector<std::unique_ptr<sdk::trace::Recordable>> one;
  one.push_back(std::make_unique<otlp::OtlpRecordable>());
  one.front()->SetResource(*identity.resource);
  one.front()->SetInstrumentationScope(*identity.scope);
  ExportTraceServiceRequest request;
  otlp::OtlpRecordableUtils::PopulateRequest({one.data(), one.size()}, &request);
  return request.resource_spans(0);
}

}  // namespace

SpanEncoder::SpanEncoder(const Identity& identity) {
  ResourceSpans around = around_spans(identity);
  around.mutable_scope_spans(0)->clear_spans();
  scope_ = around.scope_spans(0).SerializeAsString();
  around.clear_scope_spans();
  resource_ = around.SerializeAsString();
}

std::string_view SpanEncoder::encode(std::span<const SpanRecord> batch) {
  writer_.clear();
  writer_.message(ExportTraceServiceRequest::kResourceSpansFieldNumber, [&] {
    writer_.message(ResourceSpans::kScopeSpansFieldNumber, [&] {
      for (const SpanRecord& span : std::views::reverse(batch)) {
        writer_.message(ScopeSpans::kSpansFieldNumber, [&] { write_span(writer_, span); });
      }
      writer_.fields(scope_);
    });
    writer_.fields(resource_);
  });
  return writer_.written();
}

}  // namespace weir::telemetry::otel
