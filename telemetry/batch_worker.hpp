#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <weir/telemetry/batch_queue.hpp>
#include <weir/telemetry/export_thread.hpp>
#include <weir/telemetry/exporter.hpp>
#include <weir/telemetry/options.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::telemetry {

/// A queue and the thread that empties it into an exporter. An item is `Queued` and has
/// `void move_to(Record&)`, which is called by that thread.
template <class Item, class Record>
class BatchWorker {
 public:
  BatchWorker(const BatchOptions& options, std::unique_ptr<Exporter<Record>> exporter)
      : options_(options),
        queue_(options.queue_max),
        exporter_(std::move(exporter)),
        thread_(options.delay, [this] { export_all(); }) {}
  BatchWorker(const BatchWorker&) = delete;
  BatchWorker& operator=(const BatchWorker&) = delete;
  ~BatchWorker() { shut_down(std::chrono::milliseconds(0)); }

  /// Never waits for the exporter.
  void push(std::unique_ptr<Item> item) noexcept {
    if (queue_.push(std::move(item)) == options_.batch_max) thread_.ask_for_round();
  }

  /// See `BatchQueue::admits`.
  bool admits() noexcept { return queue_.admits(); }

  /// True if everything pushed before has left by then.
  bool flush(std::chrono::milliseconds within) { return thread_.flush(within); }

  /// What still waits is exported if there is time for it. Repeating it does nothing.
  void shut_down(std::chrono::milliseconds within) {
    thread_.shut_down(within, [this](auto left) { exporter_->shut_down(left); });
  }

  ExportCounts counts() const noexcept {
    return {exported_.load(std::memory_order_relaxed), queue_.dropped(),
            failed_.load(std::memory_order_relaxed)};
  }

 private:
  void export_all() {
    std::size_t count = 0;
    queue_.take_all([&](std::unique_ptr<Item> item) {
      if (count == records_.size()) records_.emplace_back();
      item->move_to(records_[count++]);
      if (count == options_.batch_max) export_first(std::exchange(count, 0));
    });
    if (count > 0) export_first(count);
  }

  void export_first(std::size_t count) {
    const bool is_accepted =
        exporter_->export_batch(std::span<const Record>(records_).first(count));
    (is_accepted ? exported_ : failed_).fetch_add(count, std::memory_order_relaxed);
  }

  const BatchOptions options_;
  BatchQueue<Item> queue_;
  std::unique_ptr<Exporter<Record>> exporter_;
  std::atomic<std::uint64_t> exported_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::vector<Record> records_;  // of one batch; its memory serves the next one too
  ExportThread thread_;
};

}  // namespace weir::telemetry
