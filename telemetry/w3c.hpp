#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/telemetry/trace_context.hpp>

// The headers in which a trace crosses processes: W3C Trace Context and W3C Baggage.
//
// Reading is strict, and never an error for the request: a header that breaks its grammar or its
// limits is ignored as a whole, and counted.
namespace weir::telemetry {

enum class PropagationHeader : std::uint8_t { traceparent, tracestate, baggage };

/// How many headers of that kind this process has ignored. Any thread may ask.
std::uint64_t malformed_headers(PropagationHeader header) noexcept;

/// `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`: version, trace, span, flags.
///
/// Of a version past 00 the known fields are used, and only `-` may follow them; version ff is
/// refused. Of the flags, the lowest says whether the trace is sampled; the others are reserved.
std::optional<TraceContext> parse_traceparent(std::string_view text);
/// Of a valid context, as version 00.
std::string print_traceparent(const TraceContext& context);

/// What one tracing system has to say to itself further on.
struct TraceStateMember {
  /// Lower case letters, digits and `_-*/@`; begins with a letter or digit.
  std::string key;
  /// Printable ASCII without `,` and `=`; does not end with a space.
  std::string value;

  friend bool operator==(const TraceStateMember&, const TraceStateMember&) = default;
};

/// Most recent first; no key twice.
using TraceState = std::vector<TraceStateMember>;

inline constexpr std::size_t trace_state_members_max = 32;
inline constexpr std::size_t trace_state_bytes_max = 512;

std::optional<TraceState> parse_tracestate(std::string_view text);
/// Nothing if a member or the whole cannot be said in a header.
std::optional<std::string> print_tracestate(const TraceState& state);

struct BaggageProperty {
  std::string key;
  std::optional<std::string> value;

  friend bool operator==(const BaggageProperty&, const BaggageProperty&) = default;
};

/// Something that the application sends along with a request.
struct BaggageMember {
  /// An RFC 7230 token, as the keys of properties are.
  std::string key;
  /// UTF-8, decoded.
  std::string value;
  std::vector<BaggageProperty> properties;

  friend bool operator==(const BaggageMember&, const BaggageMember&) = default;
};

/// In the order of the header, which may name a key more than once.
using Baggage = std::vector<BaggageMember>;

inline constexpr std::size_t baggage_members_max = 180;
inline constexpr std::size_t baggage_bytes_max = 8192;

std::optional<Baggage> parse_baggage(std::string_view text);
/// Nothing if a key is no token, a value no UTF-8, or the whole too long.
std::optional<std::string> print_baggage(const Baggage& baggage);

/// Gives the value of a request's header: without white space around it, several lines of one name
/// joined by commas (RFC 7230, 3.2.2), nothing if there is none. The name is in lower case.
using GetHeader = std::function<std::optional<std::string>(std::string_view name)>;
using SetHeader = std::function<void(std::string_view name, const std::string& value)>;

/// What caused the request; not valid if it says nothing that can be understood, in which case it
/// may still have baggage. A malformed `tracestate` costs only itself, a malformed `traceparent`
/// both.
TraceContext extract(const GetHeader& get);

/// Says to another process what causes a request to it. Calls `set` for what there is to say; what
/// is malformed is not sent, and counted, so that no text can add headers of its own.
void inject(const TraceContext& context, const SetHeader& set);

}  // namespace weir::telemetry
