#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace weir::telemetry {

/// Sixteen bytes, not all zero, that all spans of a trace share.
struct TraceId {
  std::array<std::uint8_t, 16> bytes{};

  bool is_valid() const noexcept { return *this != TraceId{}; }
  friend auto operator<=>(const TraceId&, const TraceId&) = default;
};

/// Eight bytes, not all zero, that name one span of a trace.
struct SpanId {
  std::array<std::uint8_t, 8> bytes{};

  bool is_valid() const noexcept { return *this != SpanId{}; }
  friend auto operator<=>(const SpanId&, const SpanId&) = default;
};

/// Lower case hexadecimal digits, as everywhere that traces are shown.
std::string to_string(const TraceId& id);
std::string to_string(const SpanId& id);

/// Exactly what `to_string` gives for a valid id; nothing for any other text.
std::optional<TraceId> parse_trace_id(std::string_view text) noexcept;
std::optional<SpanId> parse_span_id(std::string_view text) noexcept;

/// What travels along with the ids, and is seldom there: shared by all who carry it.
struct TraceBaggage {
  /// The `tracestate` header, checked.
  std::string trace_state;
  /// The `baggage` header, checked.
  std::string baggage;

  friend bool operator==(const TraceBaggage&, const TraceBaggage&) = default;
};

/// A place in a trace: what a message, a request to another process or a row of the change log
/// carries to say what caused it.
struct TraceContext {
  TraceId trace;
  SpanId span;
  bool is_sampled = false;
  std::shared_ptr<const TraceBaggage> baggage;

  bool is_valid() const noexcept { return trace.is_valid() && span.is_valid(); }
};

}  // namespace weir::telemetry
