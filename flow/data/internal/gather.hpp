#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::flow::data::internal {

/// Values that are gone through soon, each at its row; none if `begin` is null.
struct Upcoming {
  const char* begin = nullptr;
  std::size_t width = 0;

  void prefetch(std::size_t row) const noexcept { __builtin_prefetch(begin + row * width); }
};

/// Copies the values of some rows, and has the processor fetch those of `upcoming` meanwhile: what
/// a batch holds is mostly far from this core, and there is time for it here.
template <class T>
void gather(const T* from, std::span<const std::uint32_t> rows, T* to, Upcoming upcoming = {}) {
  // Several rows in each turn of the loop, which would take as long as one of them.
  constexpr std::size_t step = 8;
  std::size_t place = 0;
  if (upcoming.begin != nullptr) {
    for (; place + step <= rows.size(); place += step) {
      upcoming.prefetch(rows[place]);
      upcoming.prefetch(rows[place + step / 2]);
      for (std::size_t next = 0; next < step; ++next) to[place + next] = from[rows[place + next]];
    }
  }
  for (; place + step <= rows.size(); place += step)
    for (std::size_t next = 0; next < step; ++next) to[place + next] = from[rows[place + next]];
  for (; place < rows.size(); ++place) to[place] = from[rows[place]];
}

}  // namespace weir::flow::data::internal
