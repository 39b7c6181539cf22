#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace weir::flow::view::internal {

/// How many rows a flow takes at once while it is backfilling. What comes of a row is not known
/// before it is taken: after a piece that gave too much there are half as many in one, and then bit
/// by bit more again.
class PieceSize {
 public:
  std::size_t at_most(std::size_t rows) const noexcept { return std::min(rows, rows_max_); }
  /// A piece of so many rows gave too much. False if there is no smaller one.
  bool shrink(std::size_t rows) noexcept {
    if (rows < 2) return false;
    rows_max_ = rows / 2;
    return true;
  }
  /// A piece of so many rows did not.
  void grow(std::size_t rows) noexcept {
    if (rows >= rows_max_) rows_max_ += rows_max_ / 16 + 1;
  }

 private:
  std::size_t rows_max_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace weir::flow::view::internal
