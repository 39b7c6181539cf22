#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/telemetry/attribute.hpp>
#include <weir/telemetry/trace_context.hpp>

namespace weir::telemetry {

/// Nanoseconds since 1970, UTC.
using WallTime = std::int64_t;

enum class SpanKind : std::uint8_t { internal, server, client, producer, consumer };

struct SpanEvent {
  std::string name;
  WallTime time = 0;
  Attributes attributes;
};

/// Another span that caused this one without waiting for it.
struct SpanLink {
  TraceContext context;
  Attributes attributes;
};

enum class SpanStatus : std::uint8_t { unset, ok, error };

/// A span that has ended.
struct SpanRecord {
  std::string name;
  TraceContext context;
  SpanId parent;  // zero for the first of a trace
  bool parent_is_remote = false;
  SpanKind kind = SpanKind::internal;
  WallTime begin = 0;
  WallTime end = 0;
  Attributes attributes;
  std::vector<SpanEvent> events;
  std::vector<SpanLink> links;
  SpanStatus status = SpanStatus::unset;
  std::string status_message;
  /// What could not be kept, because a span holds only so much.
  std::uint32_t dropped_attributes = 0;
  std::uint32_t dropped_events = 0;
  std::uint32_t dropped_links = 0;
};

}  // namespace weir::telemetry
