#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/operator/errc.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::operators::internal {

/// The bytes of each row of a batch, one behind the other.
class EncodedRows {
 public:
  /// Some columns of all rows, ordered.
  void encode(std::span<const data::ColumnRef> columns, std::size_t rows);
  /// What `append` appends for each row.
  template <class Append>
  void encode_each(std::size_t rows, Append append) {
    bytes_.clear();
    ends_.clear();
    ends_.reserve(rows + 1);
    ends_.push_back(0);
    for (std::size_t row = 0; row < rows; ++row) {
      append(row, bytes_);
      ends_.push_back(bytes_.size());
    }
  }
  std::string_view operator[](std::size_t row) const noexcept {
    return std::string_view(bytes_).substr(ends_[row], ends_[row + 1] - ends_[row]);
  }

 private:
  bool encode_fixed(std::span<const data::ColumnRef> columns, std::size_t rows);

  std::string bytes_;
  std::vector<std::size_t> ends_;  // of the row before, and of the last
};

/// The columns of rows that were encoded; `corruption` if they are something else. `rows` are used
/// up.
Result<data::Columns> decode_rows(const data::Schema& schema, std::span<std::string_view> rows);

/// As many nulls for each column.
data::Columns null_columns(const data::Schema& schema, std::size_t rows);

}  // namespace weir::flow::operators::internal
