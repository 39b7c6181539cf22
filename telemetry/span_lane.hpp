#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include <weir/telemetry/plain_span.hpp>

namespace weir::telemetry {

/// A ring from one thread that records to the thread that exports, without a queue that others
/// share. Its room is part of the room of the queue: it is taken from there in pieces, and what
/// finds none goes to the queue itself.
class SpanLane {
 public:
  static constexpr std::size_t spans_max = 4096;
  /// How much room is taken at a time.
  static constexpr std::size_t piece = 16;

  // --- the thread that records
  /// Whether room must be taken before the next span.
  bool needs_room() const noexcept { return room_ == 0; }
  void add_room(std::size_t spans) noexcept { room_ += spans; }

  /// Where the next span is to be written before `push`; null if the ring is full. Call only with
  /// room left.
  PlainSpan* place() noexcept {
    const std::size_t written = written_.load(std::memory_order_relaxed);
    if (written - read_seen_ == spans_max) [[unlikely]] {
      read_seen_ = read_.load(std::memory_order_acquire);
      if (written - read_seen_ == spans_max) return nullptr;
    }
    return &(*spans_)[written % spans_max];
  }
  void push() noexcept {
    --room_;
    written_.store(written_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  /// Where the span after the last one will be, whether there is room for it or not: it can be
  /// fetched before it is needed.
  const PlainSpan* upcoming() const noexcept {
    return &(*spans_)[written_.load(std::memory_order_relaxed) % spans_max];
  }
  /// Nothing comes any more.
  void close() noexcept { is_closed_.store(true, std::memory_order_release); }

  // --- the thread that exports
  bool is_closed() const noexcept { return is_closed_.load(std::memory_order_acquire); }
  /// Room that a lane had left when it was closed.
  std::size_t room_left() const noexcept { return room_; }
  /// How many spans there are, to be taken one after the other.
  std::size_t size() const noexcept {
    return written_.load(std::memory_order_acquire) - read_.load(std::memory_order_relaxed);
  }
  template <class Visit>
  void take(std::size_t spans, Visit visit) {
    for (std::size_t read = read_.load(std::memory_order_relaxed); spans > 0; --spans) {
      const PlainSpan& span = (*spans_)[read % spans_max];
      visit(span);
      read_.store(++read, std::memory_order_release);
    }
  }

 private:
  using Ring = std::array<PlainSpan, spans_max>;

  const std::unique_ptr<Ring> spans_ = std::make_unique<Ring>();

  // Of the thread that records.
  alignas(64) std::atomic<std::size_t> written_{0};
  std::size_t read_seen_ = 0;
  std::size_t room_ = 0;
  std::atomic<bool> is_closed_{false};

  // Of the thread that exports.
  alignas(64) std::atomic<std::size_t> read_{0};
};

}  // namespace weir::telemetry
