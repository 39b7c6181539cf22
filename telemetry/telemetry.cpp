#include <weir/telemetry/telemetry.hpp>

#include <weir/telemetry/batch_worker.hpp>

namespace weir::telemetry {
namespace {

bool samples(const SamplerOptions& sampler, const TraceId& trace) noexcept {
  if (sampler.kind == SamplerKind::always_on) return true;
  if (sampler.kind == SamplerKind::always_off) return false;
  std::uint64_t low = 0;
  for (std::size_t i = 8; i < 16; ++i) low = (low << 8) | trace.bytes[i];
  return static_cast<double>(low >> 11) < sampler.ratio * 0x1p53;
}

}  // namespace

struct Telemetry::Spans : BatchWorker<PendingSpan, SpanRecord> {
  using BatchWorker::BatchWorker;
};

Telemetry::Telemetry(TelemetryOptions options, Exporters exporters) : options_(std::move(options)) {
  if (exporters.spans) {
    spans_ = std::make_unique<Spans>(options_.span_batches, std::move(exporters.spans));
  }
}

Telemetry::~Telemetry() = default;

bool Telemetry::samples_root(const TraceId& trace) const noexcept {
  return spans_ && samples(options_.sampler, trace);
}

bool Telemetry::samples_child(const TraceContext& parent) const noexcept {
  if (!spans_) return false;
  return options_.sampler.is_parent_based ? parent.is_sampled
                                          : samples(options_.sampler, parent.trace);
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
