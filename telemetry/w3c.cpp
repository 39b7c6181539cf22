#include <weir/telemetry/w3c.hpp>

#include <array>
#include <atomic>
#include <utility>

#include <weir/telemetry/internal/malformed.hpp>
#include <weir/telemetry/internal/text.hpp>

namespace weir::telemetry {
namespace {

constinit std::array<std::atomic<std::uint64_t>, 3> malformed{};

// `vv-tttttttttttttttttttttttttttttttt-ssssssssssssssss-ff`
constexpr std::size_t trace_at = 3;
constexpr std::size_t span_at = 36;
constexpr std::size_t flags_at = 53;
constexpr std::size_t traceparent_bytes = 55;
constexpr std::uint8_t sampled_flag = 1;
constexpr std::uint8_t version_current = 0x00;
constexpr std::uint8_t version_forbidden = 0xFF;

std::optional<std::uint8_t> parse_byte(std::string_view text) noexcept {
  std::uint8_t byte = 0;
  if (!internal::parse_hex(text, std::span(&byte, 1))) return std::nullopt;
  return byte;
}

// Fields that this version does not know may follow those of a later one.
bool has_shape(std::string_view text) noexcept {
  if (text.size() < traceparent_bytes) return false;
  if (text[trace_at - 1] != '-' || text[span_at - 1] != '-' || text[flags_at - 1] != '-') {
    return false;
  }
  const auto version = parse_byte(text.substr(0, 2));
  if (!version || *version == version_forbidden) return false;
  if (text.size() == traceparent_bytes) return true;
  return *version != version_current && text[traceparent_bytes] == '-';
}

std::optional<TraceContext> read_traceparent(std::string_view text) noexcept {
  if (!has_shape(text)) return std::nullopt;
  const auto trace = parse_trace_id(text.substr(trace_at, span_at - 1 - trace_at));
  const auto span = parse_span_id(text.substr(span_at, flags_at - 1 - span_at));
  const auto flags = parse_byte(text.substr(flags_at, 2));
  if (!trace || !span || !flags) return std::nullopt;
  TraceContext context;
  context.trace = *trace;
  context.span = *span;
  context.is_sampled = (*flags & sampled_flag) != 0;
  return context;
}

// The one way to write what a header says, and empty if it is not to be understood.
std::string canonical_tracestate(std::string_view text) {
  const auto state = parse_tracestate(text);
  return state ? print_tracestate(*state).value_or("") : "";
}

std::string canonical_baggage(std::string_view text) {
  const auto baggage = parse_baggage(text);
  return baggage ? print_baggage(*baggage).value_or("") : "";
}

void set_unless_empty(const SetHeader& set, std::string_view name, const std::string& value) {
  if (!value.empty()) set(name, value);
}

}  // namespace

void internal::count_malformed(PropagationHeader header) noexcept {
  malformed[static_cast<std::size_t>(header)].fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t malformed_headers(PropagationHeader header) noexcept {
  return malformed[static_cast<std::size_t>(header)].load(std::memory_order_relaxed);
}

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  auto context = read_traceparent(text);
  if (!context) internal::count_malformed(PropagationHeader::traceparent);
  return context;
}

std::string print_traceparent(const TraceContext& context) {
  std::string text;
  text.reserve(traceparent_bytes);
  text += "00-";
  internal::append_hex(text, context.trace.bytes);
  text += '-';
  internal::append_hex(text, context.span.bytes);
  text += context.is_sampled ? "-01" : "-00";
  return text;
}

TraceContext extract(const GetHeader& get) {
  TraceContext context;
  TraceBaggage carried;
  if (const auto parent = get("traceparent")) {
    if (auto parsed = parse_traceparent(*parent)) {
      context = *std::move(parsed);
      if (const auto state = get("tracestate")) carried.trace_state = canonical_tracestate(*state);
    }
  }
  if (const auto baggage = get("baggage")) carried.baggage = canonical_baggage(*baggage);
  if (carried != TraceBaggage{}) {
    context.baggage = std::make_shared<const TraceBaggage>(std::move(carried));
  }
  return context;
}

void inject(const TraceContext& context, const SetHeader& set) {
  if (context.is_valid()) set("traceparent", print_traceparent(context));
  if (!context.baggage) return;
  if (context.is_valid()) {
    set_unless_empty(set, "tracestate", canonical_tracestate(context.baggage->trace_state));
  }
  set_unless_empty(set, "baggage", canonical_baggage(context.baggage->baggage));
}

}  // namespace weir::telemetry
