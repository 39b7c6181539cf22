#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <weir/telemetry/export_thread.hpp>
#include <weir/telemetry/exporter.hpp>

namespace weir::telemetry {

/// Collects metrics every so often and exports them.
class MetricWorker {
 public:
  using Collect = std::function<std::vector<MetricRecord>()>;

  MetricWorker(std::chrono::milliseconds interval, Collect collect,
               std::unique_ptr<Exporter<MetricRecord>> exporter)
      : collect_(std::move(collect)),
        exporter_(std::move(exporter)),
        thread_(interval, [this] { static_cast<void>(exporter_->export_batch(collect_())); }) {}
  MetricWorker(const MetricWorker&) = delete;
  MetricWorker& operator=(const MetricWorker&) = delete;
  ~MetricWorker() { shut_down(std::chrono::milliseconds(0)); }

  /// Exports now. False if that takes longer than allowed.
  bool flush(std::chrono::milliseconds within) { return thread_.flush(within); }
  /// Exports once more if there is time. Repeating it does nothing.
  void shut_down(std::chrono::milliseconds within) {
    thread_.shut_down(within, [this](auto left) { exporter_->shut_down(left); });
  }

 private:
  const Collect collect_;
  std::unique_ptr<Exporter<MetricRecord>> exporter_;
  ExportThread thread_;
};

}  // namespace weir::telemetry
