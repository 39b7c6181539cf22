#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <weir/telemetry/export_thread.hpp>
#include <weir/telemetry/exporter.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::telemetry {

/// Collects metrics every so often and exports them.
class MetricWorker {
 public:
  using Collect = std::function<std::vector<MetricRecord>()>;

  MetricWorker(std::chrono::milliseconds interval, Collect collect,
               std::unique_ptr<Exporter<MetricRecord>> exporter)
      : collect_(std::move(collect)),
        exporter_(std::move(exporter)),
        thread_(interval, [this] { export_now(); }) {}
  MetricWorker(const MetricWorker&) = delete;
  MetricWorker& operator=(const MetricWorker&) = delete;
  ~MetricWorker() { shut_down(std::chrono::milliseconds(0)); }

  /// Has everything collected and exported; `await_flush` takes the result.
  std::uint64_t begin_flush() { return thread_.begin_flush(); }
  /// False if that takes longer than allowed.
  bool await_flush(std::uint64_t round, std::chrono::milliseconds within) {
    return thread_.await_flush(round, within);
  }
  /// Exports once more if there is time. Repeating it does nothing.
  void shut_down(std::chrono::milliseconds within) {
    thread_.shut_down(within, [this](auto left) { exporter_->shut_down(left); });
  }

  ExportCounts counts() const noexcept {
    return {.exported = exported_.load(std::memory_order_relaxed),
            .failed = failed_.load(std::memory_order_relaxed)};
  }

 private:
  void export_now() {
    const std::vector<MetricRecord> metrics = collect_();
    const bool is_accepted = exporter_->export_batch(metrics);
    (is_accepted ? exported_ : failed_).fetch_add(metrics.size(), std::memory_order_relaxed);
  }

  const Collect collect_;
  std::unique_ptr<Exporter<MetricRecord>> exporter_;
  std::atomic<std::uint64_t> exported_{0};
  std::atomic<std::uint64_t> failed_{0};
  ExportThread thread_;
};

}  // namespace weir::telemetry
