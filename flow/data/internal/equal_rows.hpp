#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <weir/flow/data/change_batch.hpp>

namespace weir::flow::data::internal {

/// What rows are told apart by.
struct RowCodes {
  const Columns& columns;
  /// A number for each row, the same for equal ones.
  std::span<const std::uint64_t> codes;
  /// Others that have the same number are compared, so many times in all.
  std::size_t alike_max;
};

/// Adds the weights of equal rows at the first of them, and leaves zero at the others. Gives the
/// rows whose weight became zero, in order; none if too many are alike: then `weights` are of no
/// use any more.
std::optional<Values<std::uint32_t>> sum_equal_rows(const RowCodes& rows,
                                                    std::span<Weight> weights);

}  // namespace weir::flow::data::internal
