#pragma once

#include <weir/telemetry/log_record.hpp>
#include <weir/telemetry/metric_record.hpp>
#include <weir/telemetry/span_record.hpp>

// Records in which every field has a value of its own.

namespace weir::telemetry::otel {

inline TraceContext context_of(std::uint8_t first_byte) {
  TraceContext context;
  for (std::uint8_t i = 0; i < 16; ++i) context.trace.bytes[i] = first_byte + i;
  for (std::uint8_t i = 0; i < 8; ++i) context.span.bytes[i] = first_byte + 0x40 + i;
  context.is_sampled = true;
  return context;
}

inline Attributes one_of_each() {
  return {{"is.set", true}, {"count", -42}, {"ratio", 0.25}, {"text", "a \"quoted\" text"}};
}

inline SpanRecord rich_span() {
  SpanRecord span;
  span.name = "Account Deposit";
  span.context = context_of(1);
  span.context.baggage =
      std::make_shared<const TraceBaggage>(TraceBaggage{"vendor=value,other=1", ""});
  span.parent.bytes = {9, 8, 7, 6, 5, 4, 3, 2};
  span.parent_is_remote = true;
  span.kind = SpanKind::consumer;
  span.begin = 1'700'000'000'123'456'789;
  span.end = 1'700'000'000'987'654'321;
  span.attributes = one_of_each();
  span.events = {{"phase entered", 1'700'000'000'200'000'001, {{"phase", "open"}}},
                 {"restart", 1'700'000'000'200'000'002, {}}};
  span.links = {{context_of(0x80), {{"cause", "send"}}}};
  span.status = SpanStatus::error;
  span.status_message = "insufficient funds";
  span.dropped_attributes = 3;
  span.dropped_events = 4;
  span.dropped_links = 5;
  return span;
}

inline SpanRecord plain_span() {
  SpanRecord span;
  span.name = "plain";
  span.context = context_of(0x20);
  span.begin = span.end = 1;
  return span;
}

inline MetricRecord metric(std::string name, std::vector<MetricPoint> points) {
  MetricRecord record;
  record.name = std::move(name);
  record.description = "What it measures.";
  record.unit = "{message}";
  record.begin = 1'700'000'000'000'000'001;
  record.time = 1'700'000'060'000'000'002;
  record.points = std::move(points);
  return record;
}

inline LogRecord rich_log() {
  LogRecord log;
  log.time = 1'700'000'000'123'456'789;
  log.level = Level::warning;
  log.message = "the account is low";
  log.attributes = one_of_each();
  log.context = context_of(3);
  log.file = "bank/account.cpp";
  log.line = 17;
  return log;
}

}  // namespace weir::telemetry::otel
