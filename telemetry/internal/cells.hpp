#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <weir/telemetry/internal/thread_slot.hpp>

namespace weir::telemetry::internal {

/// A whole number, or the bits of a double.
using Cell = std::atomic<std::uint64_t>;

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::size_t cells_per_line = line_bytes / sizeof(Cell);

/// The cells of one series: a row for each slot, which begins a cache line.
class CellBlock {
 public:
  /// Every row begins as a copy of `row`.
  CellBlock(std::size_t rows, std::span<const std::uint64_t> row);

  Cell* data() const noexcept { return cells_.get(); }
  std::size_t rows() const noexcept { return rows_; }
  /// In cells, from one row to the next.
  std::size_t stride() const noexcept { return stride_; }

  std::uint64_t load(std::size_t row, std::size_t column) const noexcept {
    return cells_[row * stride_ + column].load(std::memory_order_acquire);
  }
  /// Modulo 2^64, as the cells themselves.
  std::uint64_t sum(std::size_t column) const noexcept;

 private:
  struct Free {
    void operator()(Cell* cells) const noexcept;
  };

  std::size_t rows_;
  std::size_t stride_;
  std::unique_ptr<Cell[], Free> cells_;
};

inline double to_double(std::uint64_t bits) noexcept { return std::bit_cast<double>(bits); }
inline std::uint64_t to_bits(double value) noexcept { return std::bit_cast<std::uint64_t>(value); }

/// Wait-free. A slot's owner is its only writer, which makes a load and a store enough. Whoever
/// sees the sum sees what was written before it.
inline void add_to(Cell& cell, std::uint64_t amount, bool is_owned) noexcept {
  if (is_owned) [[likely]] {
    cell.store(cell.load(std::memory_order_relaxed) + amount, std::memory_order_release);
  } else {
    cell.fetch_add(amount, std::memory_order_release);
  }
}

/// Adds to a sum whose rows are one line each. Without cells it does nothing.
inline void add_in_slot(Cell* cells, std::uint64_t amount) noexcept {
  if (!cells) return;
  const Slot slot = current_slot();
  add_to(cells[slot.index * cells_per_line], amount, slot.is_owned);
}

}  // namespace weir::telemetry::internal
