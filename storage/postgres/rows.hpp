#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <weir/runtime/result.hpp>
#include <weir/storage/postgres/internal/codec.hpp>

struct pg_result;

namespace weir::storage::postgres {

class Row;

/// What a statement gave. Cheap to copy: the rows are shared and never change, so any thread may
/// read them.
class Rows {
 public:
  class Iterator;

  Rows() noexcept = default;
  /// Takes `result` over. `subject`: what the statement is about.
  Rows(pg_result* result, std::string subject);

  std::size_t size() const noexcept { return size_; }
  bool is_empty() const noexcept { return size_ == 0; }
  /// Must be less than `size()`.
  Row operator[](std::size_t number) const noexcept;
  Iterator begin() const noexcept;
  Iterator end() const noexcept;

  std::size_t columns() const noexcept { return columns_; }
  /// Must be less than `columns()`.
  std::string_view column_name(std::size_t column) const;

  /// How many rows were inserted, updated, removed or read.
  std::uint64_t affected() const;
  /// What was done: `INSERT 0 1`, `COMMIT`.
  std::string_view command() const;

 private:
  friend class Row;
  internal::Encoded value(std::size_t row, std::size_t column) const;
  std::optional<std::size_t> find_column(std::string_view name) const;
  Error corrupt(std::size_t row, std::size_t column, std::string_view problem) const;
  Error unreadable(std::size_t row, std::size_t column, std::string_view wanted) const;
  Error no_column(std::string_view name) const;

  std::shared_ptr<pg_result> result_;
  std::shared_ptr<const std::string> subject_;
  std::size_t size_ = 0;
  std::size_t columns_ = 0;
};

/// One row. Valid as long as one of its `Rows` is.
///
/// What cannot be read as asked for is `corruption`, with table, column and row in the detail: a
/// null where no `std::optional` was asked for, another type, a number out of range.
class Row {
 public:
  Row(const Rows& rows, std::size_t number) noexcept : rows_(&rows), number_(number) {}

  /// `T`: `bool`, any integer, `double`, `std::string`, `Bytes`, `Timestamp`, a `std::vector` of
  /// those, or a `std::optional` of any of these.
  template <class T>
  Result<T> get(std::size_t column) const {
    if (column >= rows_->columns()) return rows_->no_column(std::to_string(column));
    return read<T>(column);
  }
  template <class T>
  Result<T> get(std::string_view column) const {
    const auto found = rows_->find_column(column);
    if (!found) return rows_->no_column(column);
    return read<T>(*found);
  }

  /// All columns, in order: `auto [id, name] = *row.as<std::int64_t, std::string>();`
  template <class... Ts>
  Result<std::tuple<Ts...>> as() const {
    return read_all<Ts...>(std::index_sequence_for<Ts...>());
  }

  /// `corruption` of a value that could be read but makes no sense: `problem` says why.
  Error corrupt(std::string_view column, std::string_view problem) const {
    const auto found = rows_->find_column(column);
    return found ? rows_->corrupt(number_, *found, problem) : rows_->no_column(column);
  }

 private:
  template <class T>
  struct Narrow {
    using Wide = T;
    static bool fit(T& wide, T& value) {
      value = std::move(wide);
      return true;
    }
  };
  template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, std::int64_t>)
  struct Narrow<T> {
    using Wide = std::int64_t;
    static bool fit(std::int64_t wide, T& value) {
      value = static_cast<T>(wide);
      return std::in_range<T>(wide);
    }
  };
  template <class T>
  struct Narrow<std::optional<T>> {
    using Wide = std::optional<typename Narrow<T>::Wide>;
    static bool fit(Wide& wide, std::optional<T>& value) {
      return !wide || Narrow<T>::fit(*wide, value.emplace());
    }
  };

  template <class T>
  Result<T> read(std::size_t column) const {
    using Wide = typename Narrow<T>::Wide;
    Wide wide{};
    T value{};
    if (!internal::decode(rows_->value(number_, column), wide)) {
      return rows_->unreadable(number_, column, internal::NameOf<Wide>::get());
    }
    if (!Narrow<T>::fit(wide, value)) return rows_->corrupt(number_, column, "out of range");
    return value;
  }

  template <class... Ts, std::size_t... Is>
  Result<std::tuple<Ts...>> read_all(std::index_sequence<Is...>) const {
    if (sizeof...(Ts) != rows_->columns()) {
      return rows_->no_column(std::to_string(sizeof...(Ts)) + " columns");
    }
    std::tuple<Ts...> values;
    std::optional<Error> error;
    (read_into<Ts>(Is, std::get<Is>(values), error), ...);
    if (error) return *std::move(error);
    return values;
  }
  template <class T>
  void read_into(std::size_t column, T& value, std::optional<Error>& error) const {
    if (error) return;
    auto found = read<T>(column);
    if (found) {
      value = *std::move(found);
    } else {
      error = found.error();
    }
  }

  const Rows* rows_;
  std::size_t number_;
};

class Rows::Iterator {
 public:
  Iterator(const Rows& rows, std::size_t number) noexcept : rows_(&rows), number_(number) {}

  Row operator*() const noexcept { return {*rows_, number_}; }
  Iterator& operator++() noexcept {
    ++number_;
    return *this;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
    return a.number_ == b.number_;
  }

 private:
  const Rows* rows_;
  std::size_t number_;
};

inline Row Rows::operator[](std::size_t number) const noexcept { return {*this, number}; }
inline Rows::Iterator Rows::begin() const noexcept { return {*this, 0}; }
inline Rows::Iterator Rows::end() const noexcept { return {*this, size_}; }

}  // namespace weir::storage::postgres
