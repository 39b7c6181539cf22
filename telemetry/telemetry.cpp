#include <weir/telemetry/telemetry.hpp>

#include <weir/telemetry/batch_worker.hpp>

namespace weir::telemetry {

struct Telemetry::Spans : BatchWorker<PendingSpan, SpanRecord> {
  using BatchWorker::BatchWorker;
};

Telemetry::Telemetry(TelemetryOptions options, Exporters exporters)
    : options_(std::move(options)), sampler_(options_.sampler) {
  if (exporters.spans) {
    spans_ = std::make_unique<Spans>(options_.span_batches, std::move(exporters.spans));
  }
}

Telemetry::~Telemetry() = default;

bool Telemetry::samples_root(const TraceId& trace) const noexcept {
  return spans_ && sampler_.samples(trace);
}

bool Telemetry::samples_child(const TraceContext& parent) const noexcept {
  return spans_ && sampler_.samples_child_of(parent);
}

void Telemetry::submit(std::unique_ptr<PendingSpan> span) noexcept {
  if (spans_) spans_->push(std::move(span));
}

ExportCounts Telemetry::span_counts() const noexcept {
  return spans_ ? spans_->counts() : ExportCounts{};
}

bool Telemetry::flush(std::chrono::milliseconds within) { return !spans_ || spans_->flush(within); }

void Telemetry::shut_down(std::chrono::milliseconds within) {
  if (spans_) spans_->shut_down(within);
}

}  // namespace weir::telemetry
