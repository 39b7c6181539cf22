#pragma once

#include <chrono>
#include <memory>

#include <weir/telemetry/exporter.hpp>
#include <weir/telemetry/log.hpp>
#include <weir/telemetry/meter.hpp>
#include <weir/telemetry/options.hpp>
#include <weir/telemetry/pending_span.hpp>
#include <weir/telemetry/sampler.hpp>
#include <weir/telemetry/span_lane.hpp>

namespace weir::telemetry {

/// How far a signal has come on its way out.
struct ExportCounts {
  std::uint64_t exported = 0;
  /// Found the queue full.
  std::uint64_t dropped = 0;
  /// Were not accepted by the exporter.
  std::uint64_t failed = 0;
};

class MetricWorker;

/// Tells loggers in which span a thread is. Set by the runtime.
using ContextProvider = TraceContext (*)();
void set_context_provider(ContextProvider provider) noexcept;

/// What a process says about itself, and where it goes. Shared by the systems of a process: see
/// `ActorSystemOptions::telemetry`. All functions may be called on any thread.
class Telemetry {
 public:
  /// Lines of the logger go to `sinks` and, if there is one, to the exporter. Throws
  /// `std::invalid_argument` if the options make no sense.
  Telemetry(TelemetryOptions options, Exporters exporters, std::vector<LogSink> sinks = {});
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  /// Exports nothing more: see `shut_down`.
  ~Telemetry();

  const TelemetryOptions& options() const noexcept { return options_; }

  bool records_spans() const noexcept { return spans_ != nullptr; }
  /// Whether a trace that begins here is recorded.
  bool samples_root(const TraceId& trace) const noexcept;
  const Sampler& sampler() const noexcept { return sampler_; }
  /// Whether to record a part of a trace that began elsewhere.
  bool samples_child(const TraceContext& parent) const noexcept;
  /// Whether a span that ended now would find room. If not it need not be made: it is counted as
  /// dropped.
  bool admits_span() noexcept;
  /// Queues a span for export. Never waits.
  void submit(std::unique_ptr<PendingSpan> span) noexcept;
  /// A shorter way for the plain spans of one thread, which closes it at its end. Null if nothing
  /// is recorded, or if the queue is so small that each span counts.
  std::shared_ptr<SpanLane> new_span_lane();
  /// Where the next span of a lane goes, which is then pushed; null if it must be submitted.
  PlainSpan* place_in(SpanLane& lane) noexcept {
    return lane.needs_room() && !add_room(lane) ? nullptr : lane.place();
  }
  ExportCounts span_counts() const noexcept;

  /// Whether anybody looks at metrics.
  bool measures() const noexcept { return metrics_ != nullptr || options_.measures_always; }
  /// Where the runtime's instruments are, and yours.
  Meter& meter() noexcept { return meter_; }
  /// All metrics, now: for a page that Prometheus reads.
  std::vector<MetricRecord> collect();
  /// Of metrics, each counted every time it is exported.
  ExportCounts metric_counts() const noexcept;

  Logger& logger() noexcept { return logger_; }
  ExportCounts log_counts() const noexcept;

  /// Exports what has been recorded so far, and says what the logger has suppressed. False if that
  /// takes longer than allowed.
  bool flush(std::chrono::milliseconds within);
  /// The same, and then nothing more.
  void shut_down(std::chrono::milliseconds within);

 private:
  struct Spans;
  struct Logs;
  LoggerOptions logger_options(std::vector<LogSink> sinks);
  void observe_exports();
  bool add_room(SpanLane& lane) noexcept;

  const TelemetryOptions options_;
  const Sampler sampler_;
  std::unique_ptr<Spans> spans_;
  std::unique_ptr<Logs> logs_;
  Logger logger_;
  Meter meter_;
  std::vector<Observation> observations_;
  std::unique_ptr<MetricWorker> metrics_;
};

}  // namespace weir::telemetry
