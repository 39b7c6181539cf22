#include <weir/storage/internal/range_scan.hpp>

#include <algorithm>
#include <utility>

#include <weir/storage/internal/transaction_state.hpp>

namespace weir::storage::internal {
namespace {

constexpr std::size_t chunk_rows_max = 4 * 1024;
// Fits into the cache of a core.
constexpr std::size_t chunk_bytes_max = std::size_t{256} << 10;
// So many rows are read on the actor's thread before others get a turn.
constexpr std::size_t inline_rows_max = 256;

}  // namespace

RangeScan::RangeScan(std::shared_ptr<StoreCore> core, engine::Family family, RowCursor::Range range,
                     Version version, TransactionState* transaction)
    : end_(range.end), transaction_(transaction) {
  std::vector<OwnWrite> own;
  if (transaction_) {
    range_index_ = transaction_->begin_range(range.begin);
    own = transaction_->own_writes(range.begin, range.end);
  }
  reader_ = std::make_shared<RangeReader>(std::move(core), family, std::move(range), version,
                                          std::move(own));
}

bool RangeScan::has_answer() const noexcept {
  return error_ || position_ < chunk_.size() || chunk_.is_last;
}

std::optional<RangeScan::Entry> RangeScan::take() {
  if (position_ == chunk_.size()) return std::nullopt;
  const auto entry = chunk_[position_++];
  return Entry{key_of(entry.row_key), entry.value};
}

Result<RowChunk> RangeScan::ChunkRead::operator()() {
  return reader->read(limits, engine::Wait::allowed, std::move(used));
}

RangeReader::Limits RangeScan::limits() const noexcept { return {rows_max_, chunk_bytes_max}; }

RangeScan::ChunkRead RangeScan::next_read() { return {reader_, limits(), std::move(chunk_)}; }

Result<> RangeScan::accept(Result<RowChunk> chunk) {
  if (!chunk) {
    error_ = chunk.error();
    return chunk.error();
  }
  chunk_ = *std::move(chunk);
  position_ = 0;
  rows_max_ = std::min(rows_max_ * 4, chunk_rows_max);
  if (transaction_) {
    transaction_->extend_range(range_index_, chunk_.is_last ? end_ : reader_->rest().begin);
  }
  return {};
}

Result<> RangeScan::read_blocking() {
  if (error_) return *error_;
  while (!has_answer()) {
    if (auto read = accept(next_read()()); !read) return read;
  }
  return {};
}

bool RangeScan::Refill::try_now() {
  is_used_ = true;
  if (scan_.rows_max_ > inline_rows_max) return false;
  return awaiter_.try_now([&] { return scan_.reader_->read(scan_.limits(), engine::Wait::never); });
}

bool RangeScan::Refill::wait(std::coroutine_handle<> handle) {
  return awaiter_.wait(scan_.next_read(), handle);
}

Result<> RangeScan::Refill::finish() {
  if (scan_.error_) return *scan_.error_;
  if (!is_used_) return {};
  return scan_.accept(awaiter_.take());
}

}  // namespace weir::storage::internal
