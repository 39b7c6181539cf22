#include <weir/storage/internal/range_scan.hpp>

#include <algorithm>
#include <utility>

#include <weir/storage/engine/errc.hpp>
#include <weir/storage/internal/transaction_state.hpp>

namespace weir::storage::internal {
namespace {

constexpr std::size_t chunk_rows_max = 16 * 1024;
constexpr std::size_t chunk_bytes_max = std::size_t{1} << 20;
// So many rows are read on the actor's thread before others get a turn.
constexpr std::size_t inline_rows_max = 256;

}  // namespace

RangeScan::RangeScan(std::shared_ptr<StoreCore> core, engine::Family family, RowCursor::Range range,
                     Version version, TransactionState* transaction)
    : reader_(std::make_shared<RangeReader>(std::move(core), family, range, version)),
      range_(std::move(range)),
      transaction_(transaction) {
  if (transaction_) range_index_ = transaction_->begin_range(range_.begin);
}

bool RangeScan::has_answer() {
  while (transaction_ && position_ < chunk_.size() &&
         transaction_->removes(chunk_[position_].row_key)) {
    ++position_;
  }
  return error_ || position_ < chunk_.size() || chunk_.is_last;
}

std::optional<RangeScan::Entry> RangeScan::take() {
  for (;;) {
    const bool has_stored = position_ < chunk_.size();
    const TransactionState::Own* own = nullptr;
    if (transaction_) {
      own = transaction_->own_write_after(has_begun_ ? last_key_ : range_.begin, has_begun_,
                                          range_.end);
    }
    if (!has_stored && !own) return std::nullopt;
    if (own && (!has_stored || own->first <= chunk_[position_].row_key)) {
      if (has_stored && own->first == chunk_[position_].row_key) ++position_;
      last_key_ = own->first;
      has_begun_ = true;
      if (!own->second.value) continue;
      return Entry{key_of(own->first), *own->second.value};
    }
    const auto entry = chunk_[position_++];
    if (transaction_) {
      last_key_ = entry.row_key;
      has_begun_ = true;
    }
    return Entry{key_of(entry.row_key), entry.value};
  }
}

Result<RowChunk> RangeScan::ChunkRead::operator()() const {
  for (;;) {
    auto chunk = reader->read(rows_max, chunk_bytes_max, engine::Wait::allowed);
    if (!chunk || is_enough(*chunk)) return chunk;
  }
}

Result<RowChunk> RangeScan::ChunkRead::try_now() const {
  auto chunk = reader->read(rows_max, chunk_bytes_max, engine::Wait::never);
  if (!chunk || is_enough(*chunk)) return chunk;
  return Error(engine::Errc::would_block);  // for others to get a turn
}

bool RangeScan::ChunkRead::is_enough(const RowChunk& chunk) const {
  if (chunk.is_last || removed.empty()) return true;
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    if (!std::binary_search(removed.begin(), removed.end(), chunk[i].row_key)) return true;
  }
  return false;
}

RangeScan::ChunkRead RangeScan::next_read() const {
  ChunkRead read{reader_, rows_max_, {}};
  if (transaction_) read.removed = transaction_->removed_within(reader_->rest());
  return read;
}

Result<> RangeScan::accept(Result<RowChunk> chunk) {
  if (!chunk) {
    error_ = chunk.error();
    return chunk.error();
  }
  chunk_ = *std::move(chunk);
  position_ = 0;
  rows_max_ = std::min(rows_max_ * 4, chunk_rows_max);
  if (transaction_) {
    transaction_->extend_range(range_index_, chunk_.is_last ? range_.end : reader_->rest().begin);
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
  return awaiter_.try_now([&] { return scan_.next_read().try_now(); });
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
