#include <weir/flow/operator/internal/encoded_rows.hpp>

#include <algorithm>
#include <memory>

#include <weir/flow/data/row_codec.hpp>

namespace weir::flow::operators::internal {

void EncodedRows::encode(std::span<const data::ColumnRef> columns, std::size_t rows) {
  if (encode_fixed(columns, rows)) return;
  encode_each(rows, [columns](std::size_t row, std::string& bytes) {
    for (const data::ColumnRef& column : columns) data::append_ordered(*column, row, bytes);
  });
}

/// Column by column, where all rows have the same length.
bool EncodedRows::encode_fixed(std::span<const data::ColumnRef> columns, std::size_t rows) {
  std::size_t width = 0;
  for (const data::ColumnRef& column : columns) {
    const auto part = data::ordered_width(*column);
    if (!part) return false;
    width += *part;
  }
  bytes_.resize(rows * width);
  char* to = bytes_.data();
  for (const data::ColumnRef& column : columns) {
    data::put_ordered(*column, to, width);
    to += *data::ordered_width(*column);
  }
  ends_.resize(rows + 1);
  for (std::size_t row = 0; row <= rows; ++row) ends_[row] = row * width;
  return true;
}

Result<data::Columns> decode_rows(const data::Schema& schema, std::span<std::string_view> rows) {
  data::Columns columns;
  columns.reserve(schema.size());
  for (const data::Field& field : schema.fields()) {
    auto column = std::make_shared<data::Column>(field.type);
    column->reserve(rows.size());
    if (!data::take_ordered(rows, *column))
      return Error(Errc::corruption, "state: column '" + field.name + "' of a row");
    columns.push_back(std::move(column));
  }
  if (!std::ranges::all_of(rows, &std::string_view::empty))
    return Error(Errc::corruption, "state: a row has bytes behind its last column");
  return columns;
}

data::Columns null_columns(const data::Schema& schema, std::size_t rows) {
  data::Columns columns;
  columns.reserve(schema.size());
  for (const data::Field& field : schema.fields()) {
    auto column = std::make_shared<data::Column>(field.type);
    column->reserve(rows);
    for (std::size_t row = 0; row < rows; ++row) column->append_null();
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace weir::flow::operators::internal
