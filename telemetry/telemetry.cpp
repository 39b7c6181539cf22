#include <weir/telemetry/telemetry.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include <weir/telemetry/batch_worker.hpp>
#include <weir/telemetry/metric_worker.hpp>
#include <weir/telemetry/pending_log.hpp>
#include <weir/telemetry/span_lanes.hpp>
#include <weir/telemetry/w3c.hpp>

namespace weir::telemetry {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::atomic<ContextProvider> context_provider{nullptr};

// The room that lanes hold and do not use is part of the queue's: it must not matter, neither for
// what is dropped nor for when the thread that exports is woken.
constexpr std::size_t queue_with_lanes_min = SpanLane::piece * 64;
constexpr std::size_t woken_at_for_each_lane = SpanLane::piece * 2;

TraceContext current_context() {
  const ContextProvider provider = context_provider.load(std::memory_order_acquire);
  return provider ? provider() : TraceContext();
}

WallTime wall_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::nanoseconds(now).count();
}

milliseconds time_until(steady_clock::time_point end) {
  const auto left = std::chrono::duration_cast<milliseconds>(end - steady_clock::now());
  return std::max(left, milliseconds(0));
}

void report_malformed(Observer& observer) {
  constexpr std::pair<PropagationHeader, const char*> headers[] = {
      {PropagationHeader::traceparent, "traceparent"},
      {PropagationHeader::tracestate, "tracestate"},
      {PropagationHeader::baggage, "baggage"}};
  for (const auto& [header, name] : headers) {
    observer.report(static_cast<double>(malformed_headers(header)), {{"weir.header", name}});
  }
}

template <class Worker>
std::uint64_t begin_flush(const std::unique_ptr<Worker>& worker) {
  return worker ? worker->begin_flush() : 0;
}

template <class Worker>
bool await_flush(const std::unique_ptr<Worker>& worker, std::uint64_t round,
                 steady_clock::time_point end) {
  return !worker || worker->await_flush(round, time_until(end));
}

TelemetryOptions checked(TelemetryOptions options) {
  check_options(options);
  return options;
}

}  // namespace

void set_context_provider(ContextProvider provider) noexcept {
  context_provider.store(provider, std::memory_order_release);
}

struct Telemetry::Spans : BatchWorker<PendingSpan, SpanRecord, SpanLanes> {
  using BatchWorker::BatchWorker;
};

struct Telemetry::Logs : BatchWorker<PendingLog, LogRecord> {
  using BatchWorker::BatchWorker;
};

Telemetry::Telemetry(TelemetryOptions options, Exporters exporters, std::vector<LogSink> sinks)
    : options_(checked(std::move(options))),
      sampler_(options_.sampler),
      spans_(exporters.spans
                 ? std::make_unique<Spans>(options_.span_batches, std::move(exporters.spans))
                 : nullptr),
      logs_(exporters.logs ? std::make_unique<Logs>(options_.log_batches, std::move(exporters.logs))
                           : nullptr),
      logger_(logger_options(std::move(sinks))),
      meter_({.begin = wall_time()}) {
  if (exporters.metrics) {
    metrics_ = std::make_unique<MetricWorker>(
        options_.metric_interval, [this] { return collect(); }, std::move(exporters.metrics));
  }
  observe_exports();  // the metrics' thread reads `metrics_` from then on
}

Telemetry::~Telemetry() {
  if (metrics_) metrics_->shut_down(milliseconds(0));  // while it can be read
}

LoggerOptions Telemetry::logger_options(std::vector<LogSink> sinks) {
  LoggerOptions made;
  made.sinks = std::move(sinks);
  made.context = current_context;
  made.level = options_.log_level;
  made.lines_per_second = options_.log_lines_per_second;
  if (logs_) {
    made.sinks.push_back(
        [this](const LogRecord& record) { logs_->push(std::make_unique<PendingLog>(record)); });
  }
  return made;
}

void Telemetry::observe_exports() {
  const auto report = [](Observer& observer, const char* signal, const ExportCounts& counts) {
    const auto add = [&](const char* outcome, std::uint64_t value) {
      observer.report(static_cast<double>(value),
                      {{"weir.signal", signal}, {"weir.outcome", outcome}});
    };
    add("exported", counts.exported);
    add("dropped", counts.dropped);
    add("failed", counts.failed);
  };
  observations_.push_back(meter_.observe_counter(
      "weir.telemetry.records",
      {.unit = "{record}", .description = "Spans, log lines and metrics, by what became of them."},
      [this, report](Observer& observer) {
        if (spans_) report(observer, "spans", spans_->counts());
        if (logs_) report(observer, "logs", logs_->counts());
        if (metrics_) report(observer, "metrics", metrics_->counts());
      }));
  observations_.push_back(meter_.observe_counter(
      "weir.telemetry.headers.malformed",
      {.unit = "{header}", .description = "W3C headers that were ignored, by their name."},
      &report_malformed));
}

std::vector<MetricRecord> Telemetry::collect() { return meter_.collect(wall_time()); }

ExportCounts Telemetry::metric_counts() const noexcept {
  return metrics_ ? metrics_->counts() : ExportCounts{};
}

ExportCounts Telemetry::log_counts() const noexcept {
  return logs_ ? logs_->counts() : ExportCounts{};
}

bool Telemetry::samples_root(const TraceId& trace) const noexcept {
  return spans_ && sampler_.samples(trace);
}

bool Telemetry::samples_child(const TraceContext& parent) const noexcept {
  return spans_ && sampler_.samples_child_of(parent);
}

bool Telemetry::admits_span() noexcept { return spans_ && spans_->admits(); }

void Telemetry::submit(std::unique_ptr<PendingSpan> span) noexcept {
  if (spans_) spans_->push(std::move(span));
}

std::shared_ptr<SpanLane> Telemetry::new_span_lane() {
  if (!spans_ || options_.span_batches.queue_max < queue_with_lanes_min) return nullptr;
  return spans_->lanes().add(spans_->asked_at() / woken_at_for_each_lane);
}

bool Telemetry::add_room(SpanLane& lane) noexcept {
  if (!spans_->reserve(SpanLane::piece)) return false;
  lane.add_room(SpanLane::piece);
  return true;
}

ExportCounts Telemetry::span_counts() const noexcept {
  return spans_ ? spans_->counts() : ExportCounts{};
}

bool Telemetry::flush(milliseconds within) {
  const auto end = steady_clock::now() + within;
  logger_.report_suppressed();
  // All before the first wait: a collector that hangs must not take the time of the others.
  const std::uint64_t spans = begin_flush(spans_);
  const std::uint64_t logs = begin_flush(logs_);
  const std::uint64_t metrics = begin_flush(metrics_);
  const bool spans_left = await_flush(spans_, spans, end);
  const bool logs_left = await_flush(logs_, logs, end);
  const bool metrics_left = await_flush(metrics_, metrics, end);
  return spans_left && logs_left && metrics_left;
}

void Telemetry::shut_down(milliseconds within) {
  const auto end = steady_clock::now() + within;
  // What comes meanwhile, and what became of it, is for the last rounds below, if there is time.
  flush(within);
  if (spans_) spans_->shut_down(time_until(end));
  if (logs_) logs_->shut_down(time_until(end));
  if (metrics_) metrics_->shut_down(time_until(end));
}

}  // namespace weir::telemetry
