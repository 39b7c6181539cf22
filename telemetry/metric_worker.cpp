#include <weir/telemetry/metric_worker.hpp>

#include <algorithm>

namespace weir::telemetry {

MetricWorker::MetricWorker(std::chrono::milliseconds interval, Collect collect,
                           std::unique_ptr<Exporter<MetricRecord>> exporter)
    : interval_(interval),
      collect_(std::move(collect)),
      exporter_(std::move(exporter)),
      thread_([this] { work(); }) {}

bool MetricWorker::flush(std::chrono::milliseconds within) {
  std::unique_lock hold(mutex_);
  const std::uint64_t wanted = ++rounds_wanted_;
  changed_.notify_all();
  return changed_.wait_for(hold, within, [&] { return rounds_done_ >= wanted; });
}

void MetricWorker::shut_down(std::chrono::milliseconds within) {
  if (!thread_.joinable()) return;
  const auto begin = std::chrono::steady_clock::now();
  flush(within);
  const auto used = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin);
  {
    const std::scoped_lock hold(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  exporter_->shut_down(std::max(within - used, std::chrono::milliseconds(0)));
  thread_.join();
}

void MetricWorker::work() {
  std::unique_lock hold(mutex_);
  while (!ends_) {
    changed_.wait_for(hold, interval_, [&] { return ends_ || rounds_wanted_ > rounds_done_; });
    if (ends_) return;
    const std::uint64_t round = rounds_wanted_;
    hold.unlock();
    static_cast<void>(exporter_->export_batch(collect_()));
    hold.lock();
    rounds_done_ = round;
    changed_.notify_all();
  }
}

}  // namespace weir::telemetry
