#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
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

/// For items that all go through the queue.
template <class Item, class Record>
struct NoLanes {
  template <class Visit, class GiveBack>
  void take_all(Visit, GiveBack) {}
  void write(Item& item, Record& record, std::size_t) { item.move_to(record); }
};

/// A queue and the thread that empties it into an exporter. An item is `Queued` and has
/// `void move_to(Record&)`, which is called by that thread. `Lanes` has what comes on other ways.
template <class Item, class Record, class Lanes = NoLanes<Item, Record>>
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
  void push(std::unique_ptr<Item> item) noexcept { ask_at(queue_.push(std::move(item)), 1); }

  /// Room in the queue for items that are in a lane; false if there is not enough.
  bool reserve(std::size_t items) noexcept {
    const std::size_t size = queue_.reserve(items);
    ask_at(size, items);
    return size > 0;
  }
  Lanes& lanes() noexcept { return lanes_; }
  /// When so many items wait, the thread is woken.
  std::size_t asked_at() const noexcept { return options_.batch_max; }

  /// See `BatchQueue::admits`.
  bool admits() noexcept { return queue_.admits(); }

  /// Has everything exported that was pushed before; `await_flush` takes the result.
  std::uint64_t begin_flush() { return thread_.begin_flush(); }
  /// True if all that has left by then.
  bool await_flush(std::uint64_t round, std::chrono::milliseconds within) {
    return thread_.await_flush(round, within);
  }

  /// What still waits is exported if there is time for it. Repeating it does nothing.
  void shut_down(std::chrono::milliseconds within) {
    thread_.shut_down(within, [this](auto left) { exporter_->shut_down(left); });
  }

  ExportCounts counts() const noexcept {
    return {exported_.load(std::memory_order_relaxed), queue_.dropped(),
            failed_.load(std::memory_order_relaxed)};
  }

 private:
  // Of the number of items that wait, so many have just come.
  void ask_at(std::size_t size, std::size_t added) noexcept {
    if (size >= asked_at() && size - added < asked_at()) thread_.ask_for_round();
  }

  void export_all() {
    std::size_t count = 0;
    std::size_t taken = 0;
    const auto take = [&](auto& item) {
      if (count == records_.size()) records_.emplace_back();
      lanes_.write(item, records_[count], count);
      ++taken;
      if (++count == options_.batch_max) export_first(std::exchange(count, 0));
    };
    lanes_.take_all(take, [this](std::size_t items) { queue_.give_back(items); });
    queue_.take_all([&](std::unique_ptr<Item> item) { take(*item); });
    if (count > 0) export_first(count);
    // Meanwhile so many may have come that their number never was below the one to ask at.
    if (taken >= asked_at() && queue_.size() >= asked_at()) thread_.ask_for_round();
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
  Lanes lanes_;
  std::vector<Record> records_;  // of one batch; its memory serves the next one too
  ExportThread thread_;
};

}  // namespace weir::telemetry
