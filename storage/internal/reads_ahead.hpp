#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include <weir/runtime/sequence_barrier.hpp>

namespace weir::storage::internal {

/// Counts reads that nobody may be waiting for, so that who closes a store can wait for them all.
///
/// Usable from any thread. Outlives the store, as the last of them may.
class ReadsAhead {
 public:
  /// One of them, from its beginning until it uses nothing of the store any more.
  class Ticket {
   public:
    explicit Ticket(std::shared_ptr<ReadsAhead> reads) noexcept : reads_(std::move(reads)) {
      reads_->begun_.fetch_add(1);
    }
    Ticket(Ticket&&) noexcept = default;
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket() {
      if (reads_) reads_->ended_.publish(reads_->ended_count_.fetch_add(1) + 1);
    }

   private:
    std::shared_ptr<ReadsAhead> reads_;  // null when moved from
  };

  /// `co_await reads.ended()`: until all that have begun have ended.
  [[nodiscard]] SequenceBarrier::Wait ended() noexcept { return ended_.wait_until(begun_.load()); }

 private:
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> ended_count_{0};
  SequenceBarrier ended_;
};

}  // namespace weir::storage::internal
