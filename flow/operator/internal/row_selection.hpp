#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <weir/flow/operator/internal/accumulator.hpp>

namespace weir::flow::operators::internal {

/// The rows that an aggregate takes: all, or those where a condition is true and columns are not
/// null.
class RowSelection {
 public:
  /// Null columns say nothing.
  void select(std::size_t rows, const data::Column* condition, const data::Column* a,
              const data::Column* b = nullptr) {
    const auto has_nulls = [](const data::Column* column) {
      return column != nullptr && column->has_nulls();
    };
    size_ = rows;
    is_all_ = condition == nullptr && !has_nulls(a) && !has_nulls(b);
    if (is_all_) return;
    rows_.clear();
    const auto is_null = [&has_nulls](const data::Column* column, std::size_t row) {
      return has_nulls(column) && column->is_null(row);
    };
    for (std::uint32_t row = 0; row < rows; ++row) {
      if (is_null(a, row) || is_null(b, row) || is_null(condition, row)) continue;
      if (condition != nullptr && condition->values<std::uint8_t>()[row] == 0) continue;
      rows_.push_back(row);
    }
  }

  /// In order.
  template <class Use>
  void for_each(Use use) const {
    if (is_all_) {
      for (std::uint32_t row = 0; row < size_; ++row) use(row);
    } else {
      for (const std::uint32_t row : rows_) use(row);
    }
  }

 private:
  bool is_all_ = true;
  std::size_t size_ = 0;
  std::vector<std::uint32_t> rows_;
};

}  // namespace weir::flow::operators::internal
