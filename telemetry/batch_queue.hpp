#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace weir::telemetry {

/// The first part of everything that waits in a `BatchQueue`.
template <class Item>
class Queued {
  friend Item;
  template <class>
  friend class BatchQueue;

  Queued() = default;
  ~Queued() = default;

  Item* next_ = nullptr;
};

/// A bounded queue from many threads to one. Nobody waits: what finds it full is dropped and
/// counted. An item is `Queued`.
template <class Item>
class BatchQueue {
 public:
  explicit BatchQueue(std::size_t size_max) noexcept : size_max_(size_max) {}
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;
  ~BatchQueue() {
    take_all([](std::unique_ptr<Item>) {});
  }

  /// The number of items now waiting; zero if this one was dropped.
  std::size_t push(std::unique_ptr<Item> item) noexcept {
    const std::size_t size = size_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (size > size_max_) {
      size_.fetch_sub(1, std::memory_order_relaxed);
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return 0;
    }
    Item* node = item.release();
    node->next_ = newest_.load(std::memory_order_relaxed);
    while (!newest_.compare_exchange_weak(node->next_, node, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
    return size;
  }

  /// Takes room for items that are kept elsewhere. The number that waits then; zero if there is not
  /// enough room.
  std::size_t reserve(std::size_t items) noexcept {
    const std::size_t size = size_.fetch_add(items, std::memory_order_relaxed) + items;
    if (size <= size_max_) return size;
    give_back(items);
    return 0;
  }
  void give_back(std::size_t items) noexcept { size_.fetch_sub(items, std::memory_order_relaxed); }

  /// Whether an item would find room now. One that would not, and so need not be made, is counted
  /// as dropped.
  bool admits() noexcept {
    if (size_.load(std::memory_order_relaxed) < size_max_) [[likely]]
      return true;
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }

  /// Calls `visit(std::unique_ptr<Item>)` for all that wait, oldest first. One thread at a time.
  template <class Visit>
  void take_all(Visit visit) {
    Item* item = reverse(newest_.exchange(nullptr, std::memory_order_acquire));
    while (item) {
      std::unique_ptr<Item> taken(std::exchange(item, item->next_));
      visit(std::move(taken));
    }
  }

  std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  /// How many found the queue full.
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  // What has been taken, oldest first. Whoever adds looks at the size too, so it changes only once.
  Item* reverse(Item* newest) noexcept {
    Item* oldest = nullptr;
    std::size_t count = 0;
    for (; newest; ++count) {
      // To the next item it is a long way; what is behind the beginning of this one comes
      // meanwhile.
      __builtin_prefetch(reinterpret_cast<const char*>(newest) + 64);
      Item* next = std::exchange(newest->next_, oldest);
      oldest = std::exchange(newest, next);
    }
    size_.fetch_sub(count, std::memory_order_relaxed);
    return oldest;
  }

  const std::size_t size_max_;
  alignas(64) std::atomic<Item*> newest_{nullptr};
  alignas(64) std::atomic<std::size_t> size_{0};
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace weir::telemetry
