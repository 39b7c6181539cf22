#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/data/data_type.hpp>
#include <weir/flow/data/value.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::data {

/// One column of a schema.
struct Field {
  std::string name;
  DataType type;
  bool is_nullable = true;
  friend bool operator==(const Field&, const Field&) = default;
};

/// The columns of a table, a view or a batch, and which of them tell its rows apart. Immutable.
class Schema {
 public:
  /// Names are unique and not empty; the columns of the primary key are never null. Fails with
  /// `duplicate_column`, `unknown_column` or `invalid_argument`.
  static Result<Schema> make(std::vector<Field> fields,
                             const std::vector<std::string>& primary_key = {});

  std::size_t size() const noexcept { return fields_.size(); }
  const std::vector<Field>& fields() const noexcept { return fields_; }
  const Field& operator[](std::size_t column) const noexcept { return fields_[column]; }
  /// Positions in `fields`, in the order of the key. Empty: rows are told apart by all columns.
  std::span<const std::size_t> primary_key() const noexcept { return primary_key_; }

  std::optional<std::size_t> find(std::string_view name) const noexcept;
  /// `unknown_column` lists those that there are.
  Result<std::size_t> index_of(std::string_view name) const;

  /// Whether these values make a row: as many as columns, of their types, null where allowed,
  /// and such as a column can hold.
  Result<> check_row(std::span<const Value> row) const;

  friend bool operator==(const Schema&, const Schema&) = default;

 private:
  Schema() = default;

  std::vector<Field> fields_;
  std::vector<std::size_t> primary_key_;
};

using SchemaRef = std::shared_ptr<const Schema>;

/// `(id int64 not null, note text, primary key id)`
std::string to_string(const Schema& schema);

}  // namespace weir::flow::data
