#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::flow::data::internal {

/// Writes the rows for which `is_selected(row)` is true, in order, to where there is room for all.
/// How many they are.
///
/// Writes each row, and keeps it only if it is selected: no branch that could be guessed wrong.
template <class IsSelected>
std::size_t select_rows(std::size_t rows, std::uint32_t* selected, IsSelected is_selected) {
  std::size_t count = 0;
  const auto take = [&](std::uint32_t row) {
    selected[count] = row;
    count += is_selected(row) ? 1 : 0;
  };
  // Several in each turn of the loop, which would take as long as one of them.
  constexpr std::uint32_t step = 8;
  std::uint32_t row = 0;
  for (; row + step <= rows; row += step)
    for (std::uint32_t next = 0; next < step; ++next) take(row + next);
  for (; row < rows; ++row) take(row);
  return count;
}

}  // namespace weir::flow::data::internal
