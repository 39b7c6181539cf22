#include <weir/telemetry/trace_context.hpp>

#include <weir/telemetry/internal/text.hpp>

namespace weir::telemetry {
namespace {

template <class Id>
std::string hex(const Id& id) {
  std::string text;
  text.reserve(2 * id.bytes.size());
  internal::append_hex(text, id.bytes);
  return text;
}

template <class Id>
std::optional<Id> parse(std::string_view text) noexcept {
  Id id;
  if (!internal::parse_hex(text, id.bytes) || !id.is_valid()) return std::nullopt;
  return id;
}

}  // namespace

std::string to_string(const TraceId& id) { return hex(id); }
std::string to_string(const SpanId& id) { return hex(id); }

std::optional<TraceId> parse_trace_id(std::string_view text) noexcept {
  return parse<TraceId>(text);
}
std::optional<SpanId> parse_span_id(std::string_view text) noexcept { return parse<SpanId>(text); }

}  // namespace weir::telemetry
