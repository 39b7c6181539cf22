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

RowChunk::Entry RowChunk::operator[](std::size_t index) const noexcept {
  const std::string_view bytes = bytes_;
  const std::size_t begin = index == 0 ? 0 : ends_[2 * index - 1];
  const std::size_t middle = ends_[2 * index];
  return {bytes.substr(begin, middle - begin), bytes.substr(middle, ends_[2 * index + 1] - middle)};
}

RangeReader::RangeReader(std::shared_ptr<StoreCore> core, engine::Family family,
                         RowCursor::Range range, Version version)
    : core_(std::move(core)), family_(family), rest_(std::move(range)), version_(version) {}

Result<RowChunk> RangeReader::read(std::size_t rows_max, std::size_t bytes_max, engine::Wait wait) {
  if (wait == engine::Wait::never) {
    cursor_.reset();  // it would be left behind
    RowCursor cursor(*core_, family_, rest_, version_, wait);
    return take(cursor, rows_max, bytes_max);
  }
  if (!cursor_) cursor_ = std::make_unique<RowCursor>(*core_, family_, rest_, version_, wait);
  auto chunk = take(*cursor_, rows_max, bytes_max);
  if (!chunk || chunk->is_last) cursor_.reset();
  return chunk;
}

Result<RowChunk> RangeReader::take(RowCursor& cursor, std::size_t rows_max, std::size_t bytes_max) {
  RowChunk chunk;
  bool has_more = true;
  while (has_more && chunk.size() < rows_max && chunk.bytes() < bytes_max) {
    has_more = cursor.next();
    if (has_more) chunk.add(cursor.row_key(), cursor.value());
  }
  if (chunk.size() > 0) rest_.begin = after_row(chunk[chunk.size() - 1].row_key);
  if (has_more) return chunk;
  auto status = cursor.status();
  if (status) {
    chunk.is_last = true;
    return chunk;
  }
  if (status.error() == Errc::would_block && chunk.size() > 0) return chunk;
  return status.error();
}

}  // namespace weir::storage::internal
