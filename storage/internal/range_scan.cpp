#include <weir/storage/internal/range_scan.hpp>

#include <algorithm>
#include <utility>

#include <weir/storage/errc.hpp>
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
  auto reads = core->reads_ahead;
  reader_ = std::make_shared<PieceReader>(
      RangeReader(std::move(core), family, std::move(range), version, std::move(own)),
      std::move(reads));
}

bool RangeScan::has_answer() const noexcept {
  return error_ || position_ < chunk_.size() || chunk_.is_last;
}

std::optional<RangeScan::Entry> RangeScan::take() {
  if (position_ == chunk_.size()) return std::nullopt;
  const auto entry = chunk_[position_++];
  return Entry{key_of(entry.row_key), entry.value};
}

RangeReader::Limits RangeScan::limits() const noexcept { return {rows_max_, chunk_bytes_max}; }

void RangeScan::begin_read() {
  position_ = 0;
  PieceReader::begin(reader_, limits(), std::exchange(chunk_, {}));
}

Result<> RangeScan::accept(Result<RowChunk> piece) {
  if (!piece) {
    error_ = piece.error();
    return piece.error();
  }
  chunk_ = *std::move(piece);
  position_ = 0;
  rows_max_ = std::min(rows_max_ * 4, chunk_rows_max);
  if (transaction_) {
    transaction_->extend_range(range_index_, chunk_.is_last ? end_ : chunk_.rest_begin);
  }
  return {};
}

Result<> RangeScan::accept_begun() {
  RowChunk used = std::exchange(chunk_, {});
  auto accepted = accept(reader_->take());
  // Not before it is long: many are left after their first rows.
  const bool is_long = rows_max_ > inline_rows_max;
  if (!accepted || chunk_.is_last || !is_long) return accepted;
  PieceReader::begin(reader_, limits(), std::move(used));
  return {};
}

Result<> RangeScan::read_blocking() {
  if (error_) return *error_;
  while (!has_answer()) {
    auto piece = reader_->read_blocking(limits(), std::exchange(chunk_, {}));
    if (auto read = accept(std::move(piece)); !read) return read;
  }
  return {};
}

bool RangeScan::Refill::try_now() {
  if (scan_.reader_->is_busy()) {
    if (!scan_.reader_->is_done()) return false;
    (void)scan_.accept_begun();
    return true;
  }
  if (scan_.rows_max_ > inline_rows_max) return false;
  auto piece = scan_.reader_->read_now(scan_.limits(), std::exchange(scan_.chunk_, {}));
  if (!piece && piece.error() == Errc::would_block) return false;
  (void)scan_.accept(std::move(piece));
  return true;
}

bool RangeScan::Refill::wait(std::coroutine_handle<> handle) {
  PieceReader& reader = *scan_.reader_;
  if (!reader.is_busy()) scan_.begin_read();
  wait_.emplace(Making{reader});
  return !wait_->await_ready() && wait_->await_suspend(handle);
}

Result<> RangeScan::Refill::finish() {
  if (wait_) {
    if (auto waited = wait_->await_resume(); !waited) scan_.error_ = waited.error();
    if (!scan_.error_) (void)scan_.accept_begun();
  }
  return scan_.error_ ? Result<>(*scan_.error_) : Result<>();
}

}  // namespace weir::storage::internal
