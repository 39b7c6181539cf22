#include <weir/telemetry/internal/cells.hpp>

#include <new>

namespace weir::telemetry::internal {
namespace {

std::size_t stride_for(std::size_t columns) noexcept {
  return (columns + cells_per_line - 1) / cells_per_line * cells_per_line;
}

}  // namespace

void CellBlock::Free::operator()(Cell* cells) const noexcept {
  ::operator delete(cells, std::align_val_t{line_bytes});
}

CellBlock::CellBlock(std::size_t rows, std::span<const std::uint64_t> row)
    : rows_(rows),
      stride_(stride_for(row.size())),
      cells_(static_cast<Cell*>(
          ::operator new(rows_* stride_ * sizeof(Cell), std::align_val_t{line_bytes}))) {
  for (std::size_t i = 0; i < rows_ * stride_; ++i) {
    const std::size_t column = i % stride_;
    ::new (&cells_[i]) Cell(column < row.size() ? row[column] : 0);
  }
}

std::uint64_t CellBlock::sum(std::size_t column) const noexcept {
  std::uint64_t total = 0;
  for (std::size_t row = 0; row < rows_; ++row) total += load(row, column);
  return total;
}

}  // namespace weir::telemetry::internal
