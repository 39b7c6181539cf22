#include <weir/storage/internal/range_reader.hpp>

#include <utility>

#include <weir/storage/errc.hpp>

namespace weir::storage::internal {

void RowChunk::add(std::string_view row_key, std::string_view value) {
  bytes_.append(row_key);
  ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  bytes_.append(value);
  ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
}

void RowChunk::clear() noexcept {
  bytes_.clear();
  ends_.clear();
  is_last = false;
}

RowChunk::Entry RowChunk::operator[](std::size_t index) const noexcept {
  const std::string_view bytes = bytes_;
  const std::size_t begin = index == 0 ? 0 : ends_[2 * index - 1];
  const std::size_t middle = ends_[2 * index];
  return {bytes.substr(begin, middle - begin), bytes.substr(middle, ends_[2 * index + 1] - middle)};
}

RangeReader::RangeReader(std::shared_ptr<StoreCore> core, engine::Family family,
                         RowCursor::Range range, Version version, std::vector<OwnWrite> own)
    : core_(std::move(core)),
      family_(family),
      rest_(std::move(range)),
      version_(version),
      own_(std::move(own)) {}

std::unique_ptr<RangeReader::Place> RangeReader::make_place(engine::Wait wait) const {
  auto place = std::make_unique<Place>(RowCursor(*core_, family_, rest_, version_, wait), false);
  place->has_row = place->cursor.next();
  return place;
}

Result<RowChunk> RangeReader::read(Limits limits, engine::Wait wait, RowChunk used) {
  used.clear();
  if (wait == engine::Wait::never) {
    waiting_place_.reset();  // it would stay behind
    const auto place = make_place(wait);
    return take(*place, limits, std::move(used));
  }
  if (!waiting_place_) waiting_place_ = make_place(wait);
  auto chunk = take(*waiting_place_, limits, std::move(used));
  if (!chunk || chunk->is_last) waiting_place_.reset();
  return chunk;
}

bool RangeReader::is_own_next(const Place& place) const noexcept {
  if (own_taken_ == own_.size()) return false;
  return !place.has_row || own_[own_taken_].row_key <= place.cursor.row_key();
}

/// What the transaction wrote takes the place of what is stored.
void RangeReader::take_own(Place& place, RowChunk& chunk) {
  const OwnWrite& own = own_[own_taken_++];
  if (place.has_row && own.row_key == place.cursor.row_key()) place.has_row = place.cursor.next();
  if (own.value) chunk.add(own.row_key, *own.value);
  rest_.begin = after_row(own.row_key);
}

Result<RowChunk> RangeReader::take(Place& place, Limits limits, RowChunk chunk) {
  bool is_row_last = false;
  while (chunk.size() < limits.rows_max && chunk.bytes() < limits.bytes_max) {
    if (!place.has_row) {
      // What comes after the place where a cursor failed is not known.
      if (auto status = place.cursor.status(); !status) {
        if (status.error() == Errc::would_block && chunk.size() > 0) break;
        return status.error();
      }
    }
    is_row_last = !is_own_next(place) && place.has_row;
    if (is_row_last) {
      chunk.add(place.cursor.row_key(), place.cursor.value());
      place.has_row = place.cursor.next();
    } else if (is_own_next(place)) {
      take_own(place, chunk);
    } else {
      chunk.is_last = true;
      return chunk;
    }
  }
  // Once for all rows: it costs as much as reading one.
  if (is_row_last) rest_.begin = after_row(chunk[chunk.size() - 1].row_key);
  chunk.rest_begin = rest_.begin;
  return chunk;
}

}  // namespace weir::storage::internal
