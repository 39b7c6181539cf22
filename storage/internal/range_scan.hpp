#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/runtime/result.hpp>
#include <weir/storage/internal/range_reader.hpp>
#include <weir/storage/internal/read.hpp>

namespace weir::storage::internal {

class TransactionState;

/// The rows of a range, merged with those that the transaction has written itself.
class RangeScan {
 public:
  struct Entry {
    std::string_view key;  // without its space
    std::string_view value;
  };
  class Refill;

  RangeScan(std::shared_ptr<StoreCore> core, engine::Family family, RowCursor::Range range,
            Version version, TransactionState* transaction);
  /// Every call gives this error.
  explicit RangeScan(Error error) : error_(std::move(error)) {}

  /// True if `take` needs no more rows from the store to answer.
  bool has_answer();
  /// The next row; nothing after the last. Views are valid until the next call.
  std::optional<Entry> take();
  /// Reads until there is an answer, on a thread that may wait.
  Result<> read_blocking();

 private:
  /// Reads until there is a row that the transaction has not removed itself: rows that are not
  /// shown are no answer.
  struct ChunkRead {
    std::shared_ptr<RangeReader> reader;
    std::size_t rows_max;
    std::vector<std::string> removed;  // in order
    Result<RowChunk> operator()() const;
    Result<RowChunk> try_now() const;

   private:
    bool is_enough(const RowChunk& chunk) const;
  };
  ChunkRead next_read() const;
  Result<> accept(Result<RowChunk> chunk);

  std::shared_ptr<RangeReader> reader_;
  RowCursor::Range range_;
  TransactionState* transaction_ = nullptr;  // null if it writes nothing
  std::size_t range_index_ = 0;              // what has been read, in the transaction
  std::optional<Error> error_;
  RowChunk chunk_;
  std::size_t position_ = 0;
  std::size_t rows_max_ = 32;
  std::string last_key_;  // the row that was given last, with its space
  bool has_begun_ = false;
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
