#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include <weir/runtime/result.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/storage/internal/range_reader.hpp>
#include <weir/storage/internal/reads_ahead.hpp>

namespace weir::storage::internal {

/// Reads the pieces of a scan, on a thread that may wait and while the piece before is being used.
///
///     idle ──begin──> wanted ──claim──> claimed ──> done ──take──> idle
///
/// A piece that is wanted is read by whoever claims it first: a thread of the blocking pool, or one
/// that may wait and has come for it. Shared by the scan, which alone calls all but `Call`, and the
/// call on the pool, which may outlive it.
class PieceReader {
 public:
  /// `reads` counts the calls.
  PieceReader(RangeReader reader, std::shared_ptr<ReadsAhead> reads);

  /// True if a piece has been begun and not been taken.
  bool is_busy() const noexcept { return state() != State::idle; }
  /// True if it can be taken.
  bool is_done() const noexcept { return state() == State::done; }
  /// Has the next piece read on the blocking pool. Uses the memory of one that has been used.
  static void begin(const std::shared_ptr<PieceReader>& self, RangeReader::Limits limits,
                    RowChunk used);
  /// `co_await reader.done()`: until the piece can be taken.
  [[nodiscard]] SequenceBarrier::Wait done() noexcept { return done_.wait_until(begun_); }
  Result<RowChunk> take();

  /// Reads the next piece, or waits for the one that has been begun; on a thread that may wait.
  Result<RowChunk> read_blocking(RangeReader::Limits limits, RowChunk used);
  /// The next piece as far as it can be had without waiting; only when it is not busy.
  Result<RowChunk> read_now(RangeReader::Limits limits, RowChunk used) {
    return reader_.read(limits, engine::Wait::never, std::move(used));
  }
  /// Nobody comes for the piece any more: it is not read, unless that is under way.
  void abandon() noexcept { claim(); }

 private:
  enum class State : std::uint8_t { idle, wanted, claimed, done };
  class Call;

  State state() const noexcept { return state_.load(std::memory_order_acquire); }
  /// True for one of those who ask.
  bool claim() noexcept;
  void want(RangeReader::Limits limits, RowChunk used);
  void perform() noexcept;
  void finish(Result<RowChunk> piece) noexcept;

  const std::shared_ptr<ReadsAhead> reads_;
  std::atomic<State> state_{State::idle};
  std::uint64_t begun_ = 0;  // pieces; changed when idle
  SequenceBarrier done_;     // so many of them

  // Of the scan when idle or done, of who claimed it otherwise.
  RangeReader reader_;
  RangeReader::Limits limits_{};
  RowChunk used_;
  std::optional<Result<RowChunk>> piece_;
};

}  // namespace weir::storage::internal
