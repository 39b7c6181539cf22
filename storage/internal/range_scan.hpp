#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weir/runtime/result.hpp>
#include <weir/storage/internal/range_reader.hpp>
#include <weir/storage/internal/read.hpp>

namespace weir::storage::internal {

class TransactionState;

/// The rows of a range, read piece by piece.
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

  /// True if `take` needs no more rows from the store to answer.
  bool has_answer() const noexcept;
  /// The next row; nothing after the last. Views are valid until the next call.
  std::optional<Entry> take();
  /// Reads until there is an answer, on a thread that may wait.
  Result<> read_blocking();

 private:
  struct ChunkRead {
    std::shared_ptr<RangeReader> reader;
    RangeReader::Limits limits;
    RowChunk used;
    Result<RowChunk> operator()();
  };
  RangeReader::Limits limits() const noexcept;
  /// To be made on a thread that may wait.
  ChunkRead next_read();
  Result<> accept(Result<RowChunk> chunk);

  std::shared_ptr<RangeReader> reader_;
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
  RangeScan& scan_;
  bool is_used_ = false;
  DiskAwaiter<ChunkRead, RowChunk> awaiter_;
};

}  // namespace weir::storage::internal
