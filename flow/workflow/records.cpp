#include <weir/flow/workflow/records.hpp>

#include <cstdint>
#include <numeric>
#include <type_traits>

namespace weir::flow::workflow {

std::uint64_t StateCounts::total() const {
  return std::accumulate(by_state.begin(), by_state.end(), std::uint64_t{0});
}

std::uint64_t StateCounts::terminal() const {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < by_state.size(); ++i) {
    if (is_terminal(static_cast<PublicState>(i + 1))) count += by_state[i];
  }
  return count;
}

WorkflowProgress Workflow::progress() const {
  switch (state) {
    case WorkflowState::completed: return WorkflowProgress::completed;
    case WorkflowState::failed: return WorkflowProgress::failed;
    case WorkflowState::cancelled: return WorkflowProgress::cancelled;
    case WorkflowState::open: break;
  }
  if (counts[PublicState::active] > 0) return WorkflowProgress::running;
  const std::uint64_t waiting = counts[PublicState::suspended] + counts[PublicState::delayed] +
                                counts[PublicState::rate_limited] +
                                counts[PublicState::waiting_children];
  return waiting > 0 ? WorkflowProgress::blocked : WorkflowProgress::open;
}

}  // namespace weir::flow::workflow

namespace weir::storage {
namespace {

using flow::workflow::ExecutionSpec;

// Persisted: as in the change log.
constexpr std::uint8_t trace_is_present = 1;
constexpr std::uint8_t trace_is_sampled = 2;

template <class T>
using CodecOf = ValueCodec<std::remove_cvref_t<T>>;

/// The fields as a tuple, which has their signature.
template <class... Fields>
std::string signature_of(std::tuple<Fields&...>) {
  return ValueCodec<std::tuple<std::remove_cvref_t<Fields>...>>::signature();
}

void append_trace(const telemetry::TraceContext& trace, std::string& out) {
  out.push_back(static_cast<char>(trace_is_present | (trace.is_sampled ? trace_is_sampled : 0)));
  CodecOf<decltype(trace.trace.bytes)>::encode(trace.trace.bytes, out);
  CodecOf<decltype(trace.span.bytes)>::encode(trace.span.bytes, out);
}

bool take_trace(std::string_view& in, telemetry::TraceContext& trace) {
  const auto flags = static_cast<std::uint8_t>(in.front());
  if ((flags & ~trace_is_sampled) != trace_is_present) return false;
  in.remove_prefix(1);
  trace.is_sampled = (flags & trace_is_sampled) != 0;
  return CodecOf<decltype(trace.trace.bytes)>::decode(in, trace.trace.bytes) &&
         CodecOf<decltype(trace.span.bytes)>::decode(in, trace.span.bytes) && trace.is_valid();
}

}  // namespace

void ValueCodec<ExecutionSpec>::encode(const ExecutionSpec& value, std::string& out) {
  std::apply(
      [&out](const auto&... fields) { (CodecOf<decltype(fields)>::encode(fields, out), ...); },
      ExecutionSpec::weir_fields(value));
  if (value.trace.is_valid()) append_trace(value.trace, out);
}

bool ValueCodec<ExecutionSpec>::decode(std::string_view& in, ExecutionSpec& value) {
  const bool has_fields = std::apply(
      [&in](auto&... fields) { return (CodecOf<decltype(fields)>::decode(in, fields) && ...); },
      ExecutionSpec::weir_fields(value));
  value.trace = {};
  return has_fields && (in.empty() || take_trace(in, value.trace));
}

std::string ValueCodec<ExecutionSpec>::signature() {
  ExecutionSpec spec;
  return signature_of(ExecutionSpec::weir_fields(spec));
}

}  // namespace weir::storage
