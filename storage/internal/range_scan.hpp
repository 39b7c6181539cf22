#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weir/runtime/result.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/storage/internal/piece_reader.hpp>

namespace weir::storage::internal {

class TransactionState;

/// The rows of a range, read piece by piece. Once it is long, the next piece is read while one is
/// being used: two of them are in memory.
class RangeScan {
 public:
  struct Entry {
    std::string_view key;  // without its space
    std::string_view value;
  };
  class Refill;

  /// In a read-write transaction, merged with what that has written so far.
  RangeScan(std::shared_ptr<StoreCore> core, engine::Family family, RowCursor::Range range,
            Version version, TransactionState* transaction);
  /// Every call gives this error.
  explicit RangeScan(Error error) : error_(std::move(error)) {}
  RangeScan(RangeScan&&) noexcept = default;
  RangeScan& operator=(RangeScan&&) = delete;
  ~RangeScan() {
    if (reader_) reader_->abandon();
  }

  /// True if `take` needs no more rows from the store to answer.
  bool has_answer() const noexcept;
  /// The next row; nothing after the last. Views are valid until the next call.
  std::optional<Entry> take();
  /// Reads until there is an answer, on a thread that may wait.
  Result<> read_blocking();

 private:
  RangeReader::Limits limits() const noexcept;
  /// Has the next piece read on the blocking pool.
  void begin_read();
  Result<> accept(Result<RowChunk> piece);
  /// The piece that was read on the pool; has the next one read, if there is one.
  Result<> accept_begun();

  std::shared_ptr<PieceReader> reader_;  // null when moved from, or without a store
  std::string end_;
  TransactionState* transaction_ = nullptr;  // null if it writes nothing
  std::size_t range_index_ = 0;              // what has been read, in the transaction
  std::optional<Error> error_;
  RowChunk chunk_;
  std::size_t position_ = 0;
  std::size_t rows_max_ = 32;
};

class RangeScan::Refill {
 public:
  explicit Refill(RangeScan& scan) noexcept : scan_(scan) {}

  bool try_now();
  bool wait(std::coroutine_handle<> handle);
  Result<> finish();

 private:
  // A wait cannot be moved into place, so it is made there.
  struct Making {
    PieceReader& reader;
    operator SequenceBarrier::Wait() const { return reader.done(); }
  };

  RangeScan& scan_;
  std::optional<SequenceBarrier::Wait> wait_;
};

}  // namespace weir::storage::internal
