#include <weir/telemetry/otel/internal/adapter.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <opentelemetry/sdk/logs/exporter.h>
#include <opentelemetry/sdk/logs/recordable.h>
#include <opentelemetry/sdk/metrics/export/metric_producer.h>
#include <opentelemetry/sdk/metrics/push_metric_exporter.h>
#include <opentelemetry/sdk/trace/exporter.h>
#include <opentelemetry/sdk/trace/recordable.h>

#include <weir/telemetry/otel/internal/quiet_writing.hpp>
#include <weir/telemetry/otel/internal/records.hpp>

namespace weir::telemetry::otel {
namespace {

using sdk::common::ExportResult;

ExportResult export_to(sdk::trace::SpanExporter& exporter, std::span<const SpanRecord> batch,
                       const Identity& identity) {
  std::vector<std::unique_ptr<sdk::trace::Recordable>> recordables;
  recordables.reserve(batch.size());
  for (const SpanRecord& span : batch) {
    recordables.push_back(exporter.MakeRecordable());
    if (!recordables.back()) return ExportResult::kFailure;
    fill(*recordables.back(), span, identity);
  }
  return exporter.Export({recordables.data(), recordables.size()});
}

ExportResult export_to(sdk::logs::LogRecordExporter& exporter, std::span<const LogRecord> batch,
                       const Identity& identity) {
  std::deque<std::string> texts;
  std::vector<std::unique_ptr<sdk::logs::Recordable>> recordables;
  recordables.reserve(batch.size());
  for (const LogRecord& log : batch) {
    recordables.push_back(exporter.MakeRecordable());
    if (!recordables.back()) return ExportResult::kFailure;
    fill(*recordables.back(), log, identity, texts);
  }
  return exporter.Export({recordables.data(), recordables.size()});
}

ExportResult export_to(sdk::metrics::PushMetricExporter& exporter,
                       std::span<const MetricRecord> batch, const Identity& identity) {
  return exporter.Export(resource_metrics(batch, identity));
}

template <class Record, class SdkExporter>
class Adapter final : public Exporter<Record> {
 public:
  Adapter(std::unique_ptr<SdkExporter> exporter, Identity identity)
      : identity_(std::move(identity)), exporter_(std::move(exporter)) {}
  ~Adapter() override { Adapter::shut_down(std::chrono::milliseconds{1}); }

  bool export_batch(std::span<const Record> batch) override {
    if (is_shut_down_.load(std::memory_order_acquire)) return false;
    if (batch.empty()) return true;
    const QuietWriting quiet;
    try {
      return export_to(*exporter_, batch, identity_) == ExportResult::kSuccess;
    } catch (...) {
      return false;
    }
  }

  void shut_down(std::chrono::milliseconds within) override {
    if (is_shut_down_.exchange(true, std::memory_order_acq_rel)) return;
    const QuietWriting quiet;
    // To OpenTelemetry zero means forever.
    exporter_->Shutdown(std::max(within, std::chrono::milliseconds{1}));
  }

 private:
  std::atomic<bool> is_shut_down_{false};
  Identity identity_;
  std::unique_ptr<SdkExporter> exporter_;
};

template <class Record, class SdkExporter>
std::unique_ptr<Exporter<Record>> make_adapter(std::unique_ptr<SdkExporter> exporter,
                                               const Identity& identity) {
  if (!exporter) return nullptr;
  return std::make_unique<Adapter<Record, SdkExporter>>(std::move(exporter), identity);
}

}  // namespace

std::unique_ptr<Exporter<SpanRecord>> adapt(SdkSpanExporter exporter, const Identity& identity) {
  return make_adapter<SpanRecord>(std::move(exporter), identity);
}

std::unique_ptr<Exporter<MetricRecord>> adapt(SdkMetricExporter exporter,
                                              const Identity& identity) {
  return make_adapter<MetricRecord>(std::move(exporter), identity);
}

std::unique_ptr<Exporter<LogRecord>> adapt(SdkLogExporter exporter, const Identity& identity) {
  return make_adapter<LogRecord>(std::move(exporter), identity);
}

}  // namespace weir::telemetry::otel
