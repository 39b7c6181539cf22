#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <weir/telemetry/exporter.hpp>

namespace weir::telemetry {

/// The thread that collects metrics every so often and exports them.
class MetricWorker {
 public:
  using Collect = std::function<std::vector<MetricRecord>()>;

  MetricWorker(std::chrono::milliseconds interval, Collect collect,
               std::unique_ptr<Exporter<MetricRecord>> exporter);
  MetricWorker(const MetricWorker&) = delete;
  MetricWorker& operator=(const MetricWorker&) = delete;
  ~MetricWorker() { shut_down(std::chrono::milliseconds(0)); }

  /// Exports now. False if that takes longer than allowed.
  bool flush(std::chrono::milliseconds within);
  /// Exports once more if there is time. Repeating it does nothing.
  void shut_down(std::chrono::milliseconds within);

 private:
  void work();

  const std::chrono::milliseconds interval_;
  const Collect collect_;
  std::unique_ptr<Exporter<MetricRecord>> exporter_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::uint64_t rounds_wanted_ = 0;
  std::uint64_t rounds_done_ = 0;

  std::thread thread_;
};

}  // namespace weir::telemetry
