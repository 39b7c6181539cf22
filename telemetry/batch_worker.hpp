#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <weir/telemetry/batch_queue.hpp>
#include <weir/telemetry/exporter.hpp>
#include <weir/telemetry/options.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::telemetry {

/// A queue and the thread that empties it into an exporter. An item is `Queued` and has
/// `Record take_record()`, which is called by that thread.
template <class Item, class Record>
class BatchWorker {
 public:
  BatchWorker(const BatchOptions& options, std::unique_ptr<Exporter<Record>> exporter)
      : options_(options),
        queue_(options.queue_max),
        exporter_(std::move(exporter)),
        thread_([this] { work(); }) {}
  BatchWorker(const BatchWorker&) = delete;
  BatchWorker& operator=(const BatchWorker&) = delete;
  ~BatchWorker() { shut_down(std::chrono::milliseconds(0)); }

  /// Never waits for the exporter.
  void push(std::unique_ptr<Item> item) noexcept {
    if (queue_.push(std::move(item)) != options_.batch_max) return;
    const std::scoped_lock hold(mutex_);
    is_due_ = true;
    changed_.notify_all();
  }

  /// True if everything pushed before has left by then.
  bool flush(std::chrono::milliseconds within) {
    std::unique_lock hold(mutex_);
    const std::uint64_t wanted = ++rounds_wanted_;
    changed_.notify_all();
    return changed_.wait_for(hold, within, [&] { return rounds_done_ >= wanted; });
  }

  /// What still waits is exported if there is time for it. Repeating it does nothing.
  void shut_down(std::chrono::milliseconds within) {
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

  ExportCounts counts() const noexcept {
    return {exported_.load(std::memory_order_relaxed), queue_.dropped(),
            failed_.load(std::memory_order_relaxed)};
  }

 private:
  void work() {
    std::unique_lock hold(mutex_);
    while (!ends_) {
      changed_.wait_for(hold, options_.delay,
                        [&] { return ends_ || is_due_ || rounds_wanted_ > rounds_done_; });
      if (ends_) return;
      is_due_ = false;
      const std::uint64_t round = rounds_wanted_;
      hold.unlock();
      export_all();
      hold.lock();
      rounds_done_ = round;
      changed_.notify_all();
    }
  }

  void export_all() {
    std::vector<Record> records;
    queue_.take_all([&](std::unique_ptr<Item> item) { records.push_back(item->take_record()); });
    for (std::size_t at = 0; at < records.size(); at += options_.batch_max) {
      const std::size_t count = std::min(options_.batch_max, records.size() - at);
      const bool is_accepted =
          exporter_->export_batch(std::span<const Record>(records).subspan(at, count));
      (is_accepted ? exported_ : failed_).fetch_add(count, std::memory_order_relaxed);
    }
  }

  const BatchOptions options_;
  BatchQueue<Item> queue_;
  std::unique_ptr<Exporter<Record>> exporter_;
  std::atomic<std::uint64_t> exported_{0};
  std::atomic<std::uint64_t> failed_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_due_ = false;
  bool ends_ = false;
  std::uint64_t rounds_wanted_ = 0;
  std::uint64_t rounds_done_ = 0;

  std::thread thread_;
};

}  // namespace weir::telemetry
