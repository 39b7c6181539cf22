#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/data/column.hpp>
#include <weir/flow/data/schema.hpp>
#include <weir/runtime/result.hpp>

// Persisted: never change. docs/storage_format.md describes the bytes.
namespace weir::flow::data {

/// Appends a value so that the bytes of one column's values have their order, nulls first. No
/// value's bytes begin with those of another.
void append_ordered(const Column& column, std::size_t row, std::string& out);
/// What `append_ordered` appends for each value of the column; none if that differs, as some are
/// null or of different lengths.
std::optional<std::size_t> ordered_width(const Column& column) noexcept;
/// The same bytes for all rows of a column that has such a width: those of the first at `to`, and
/// each `stride` behind the one before.
void put_ordered(const Column& column, char* to, std::size_t stride);
/// Takes what `append_ordered` appended, onto the end of a column. False if it is something else.
bool take_ordered(std::string_view& in, Column& column);
/// The same for the next value of each of many rows, all onto the end of one column.
bool take_ordered(std::span<std::string_view> in, Column& column);

/// Appends a value that is not null in few bytes.
void append_compact(const Column& column, std::size_t row, std::string& out);
bool take_compact(std::string_view& in, Column& column);

/// Rows of one schema as the keys and values of a store.
///
///     key     the columns of the primary key, ordered; of all columns if there is none
///     value   one bit for each other column that may be null, then those that are not
class RowCodec {
 public:
  explicit RowCodec(SchemaRef schema);

  const SchemaRef& schema() const noexcept { return schema_; }
  void encode_key(const Columns& columns, std::size_t row, std::string& out) const;
  void encode_value(const Columns& columns, std::size_t row, std::string& out) const;
  /// Adds the row to a batch of the same schema. `corruption` names the column; the batch is then
  /// of no use any more.
  Result<> decode(std::string_view key, std::string_view value, Weight weight,
                  BatchBuilder& out) const;

 private:
  SchemaRef schema_;
  std::vector<std::size_t> key_columns_;
  std::vector<std::size_t> value_columns_;
  std::size_t nullable_values_ = 0;
};

}  // namespace weir::flow::data
