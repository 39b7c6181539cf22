#pragma once

#include <chrono>
#include <memory>

#include <weir/telemetry/exporter.hpp>
#include <weir/telemetry/options.hpp>
#include <weir/telemetry/pending_span.hpp>
#include <weir/telemetry/sampler.hpp>

namespace weir::telemetry {

/// How far a signal has come on its way out.
struct ExportCounts {
  std::uint64_t exported = 0;
  /// Found the queue full.
  std::uint64_t dropped = 0;
  /// Were not accepted by the exporter.
  std::uint64_t failed = 0;
};

/// What a process says about itself, and where it goes. Shared by the systems of a process: see
/// `ActorSystemOptions::telemetry`. All functions may be called on any thread.
class Telemetry {
 public:
  /// Throws `std::invalid_argument` if the options make no sense.
  Telemetry(TelemetryOptions options, Exporters exporters);
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  /// Exports nothing more: see `shut_down`.
  ~Telemetry();

  const TelemetryOptions& options() const noexcept { return options_; }

  bool records_spans() const noexcept { return spans_ != nullptr; }
  /// Whether a trace that begins here is recorded.
  bool samples_root(const TraceId& trace) const noexcept;
  /// Whether to record a part of a trace that began elsewhere.
  bool samples_child(const TraceContext& parent) const noexcept;
  /// Queues a span for export. Never waits.
  void submit(std::unique_ptr<PendingSpan> span) noexcept;
  ExportCounts span_counts() const noexcept;

  /// Exports what has been recorded so far. False if that takes longer than allowed.
  bool flush(std::chrono::milliseconds within);
  /// The same, and then nothing more.
  void shut_down(std::chrono::milliseconds within);

 private:
  struct Spans;

  const TelemetryOptions options_;
  const Sampler sampler_;
  std::unique_ptr<Spans> spans_;
};

}  // namespace weir::telemetry
