#pragma once

#include <cstddef>
#include <cstdint>

#include <weir/telemetry/options.hpp>
#include <weir/telemetry/trace_context.hpp>

namespace weir::telemetry {

/// Decides which traces are recorded. May be asked by any thread.
///
/// By ratio it looks at nothing but the trace id: processes that use the same ratio choose the same
/// traces, and what is sampled at a ratio is sampled at every larger one. The rule is that of
/// OpenTelemetry's `TraceIdRatioBased` as Go, Python and Rust have it: the last eight bytes, as a
/// big-endian number, lie below that part of all numbers.
class Sampler {
 public:
  explicit Sampler(const SamplerOptions& options) noexcept;

  /// For the first span of a trace.
  bool samples(const TraceId& trace) const noexcept { return randomness_of(trace) < bound_; }

  /// What `samples` compares with: a trace whose id ends with `number` is sampled if half of that
  /// is below. For those who draw the number before they make an id of it.
  std::uint64_t bound() const noexcept { return bound_; }

  /// For a span below a valid `parent`, which may be of another process.
  bool samples_child_of(const TraceContext& parent) const noexcept {
    return is_parent_based_ ? parent.is_sampled : samples(parent.trace);
  }

 private:
  static constexpr std::uint64_t everything = std::uint64_t{1} << 63;

  // 63 bits: the part of all 64-bit numbers that a double names is then a 64-bit number itself,
  // even when it is all of them.
  static std::uint64_t randomness_of(const TraceId& trace) noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = 8; i < 16; ++i) number = number << 8 | trace.bytes[i];
    return number >> 1;
  }
  static std::uint64_t bound_of(const SamplerOptions& options) noexcept;

  std::uint64_t bound_;
  bool is_parent_based_;
};

}  // namespace weir::telemetry
