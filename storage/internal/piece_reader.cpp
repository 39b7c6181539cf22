#include <weir/storage/internal/piece_reader.hpp>

#include <exception>
#include <utility>

#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/error.hpp>
#include <weir/storage/errc.hpp>

namespace weir::storage::internal {

/// What is called on the pool.
class PieceReader::Call {
 public:
  explicit Call(std::shared_ptr<PieceReader> reader)
      : ticket_(reader->reads_), reader_(std::move(reader)) {}
  Call(Call&&) noexcept = default;
  Call& operator=(Call&&) = delete;
  ~Call() {
    if (reader_ && reader_->claim())
      reader_->finish(Error(weir::Errc::stopped, "the system stops"));
  }

  /// Lets go of the reader, and with it maybe of the store, before the ticket.
  void operator()() noexcept {
    const ReadsAhead::Ticket ticket = std::move(ticket_);
    const std::shared_ptr<PieceReader> reader = std::move(reader_);
    if (reader->claim()) reader->perform();
  }

 private:
  ReadsAhead::Ticket ticket_;
  std::shared_ptr<PieceReader> reader_;
};

PieceReader::PieceReader(RangeReader reader, std::shared_ptr<ReadsAhead> reads)
    : reads_(std::move(reads)), reader_(std::move(reader)) {}

bool PieceReader::claim() noexcept {
  State expected = State::wanted;
  return state_.compare_exchange_strong(expected, State::claimed);
}

void PieceReader::want(RangeReader::Limits limits, RowChunk used) {
  limits_ = limits;
  used_ = std::move(used);
  ++begun_;
  state_.store(State::wanted, std::memory_order_release);
}

void PieceReader::begin(const std::shared_ptr<PieceReader>& self, RangeReader::Limits limits,
                        RowChunk used) {
  self->want(limits, std::move(used));
  begin_on_blocking_pool(Call(self));
}

void PieceReader::perform() noexcept {
  try {
    finish(reader_.read(limits_, engine::Wait::allowed, std::move(used_)));
  } catch (const std::exception& thrown) {
    finish(Error(Errc::io_error, thrown.what()));
  }
}

void PieceReader::finish(Result<RowChunk> piece) noexcept {
  const std::uint64_t number = begun_;
  piece_ = std::move(piece);
  state_.store(State::done, std::memory_order_release);
  state_.notify_all();
  // From here on the scan may begin the next one.
  done_.publish(number);
}

Result<RowChunk> PieceReader::take() {
  Result<RowChunk> piece = *std::exchange(piece_, std::nullopt);
  state_.store(State::idle, std::memory_order_release);
  return piece;
}

Result<RowChunk> PieceReader::read_blocking(RangeReader::Limits limits, RowChunk used) {
  if (!is_busy()) return reader_.read(limits, engine::Wait::allowed, std::move(used));
  if (claim()) perform();
  state_.wait(State::claimed, std::memory_order_acquire);
  return take();
}

}  // namespace weir::storage::internal
