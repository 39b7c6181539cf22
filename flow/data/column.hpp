#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <weir/flow/data/data_type.hpp>
#include <weir/flow/data/internal/buffers.hpp>
#include <weir/flow/data/internal/gather.hpp>
#include <weir/flow/data/value.hpp>

namespace weir::flow::data {

/// Memory of values that are all written before they are read: making room writes nothing there.
template <class T>
struct Unwritten {
  using value_type = T;

  Unwritten() = default;
  template <class Other>
  Unwritten(const Unwritten<Other>&) noexcept {}

  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T))
      throw std::bad_array_new_length();
    return static_cast<T*>(internal::take_buffer(count * sizeof(T)));
  }
  void deallocate(T* values, std::size_t count) noexcept {
    internal::give_buffer(values, count * sizeof(T));
  }
  template <class Made, class... Arguments>
  void construct(Made* place, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0) {
      ::new (static_cast<void*>(place)) Made;
    } else {
      ::new (static_cast<void*>(place)) Made(std::forward<Arguments>(arguments)...);
    }
  }

  friend bool operator==(const Unwritten&, const Unwritten&) noexcept { return true; }
};
template <class T>
using Values = std::vector<T, Unwritten<T>>;

/// Which rows of a column are null: one bit each, and nothing at all if none is.
class Nulls {
 public:
  bool is_empty() const noexcept { return words_.empty(); }
  bool contains(std::size_t row) const noexcept {
    const std::size_t word = row / 64;
    return word < words_.size() && (words_[word] >> (row % 64) & 1) != 0;
  }
  void add(std::size_t row) {
    if (words_.size() <= row / 64) words_.resize(row / 64 + 1);
    words_[row / 64] |= std::uint64_t{1} << (row % 64);
  }
  /// Every row that is null in `other`.
  void add_all(const Nulls& other);
  /// Every row before `rows`.
  void add_first(std::size_t rows);
  void clear() noexcept { words_.clear(); }

 private:
  std::vector<std::uint64_t> words_;  // rows behind the last word are not null
};

/// Texts or bytes one behind the other.
class Strings {
 public:
  std::size_t size() const noexcept { return ends_.size(); }
  std::string_view operator[](std::size_t row) const noexcept {
    const std::size_t begin = row == 0 ? 0 : ends_[row - 1];
    return std::string_view(characters_).substr(begin, ends_[row] - begin);
  }
  void push_back(std::string_view text) {
    characters_.append(text);
    ends_.push_back(characters_.size());
  }
  /// The next `rows` texts of another one.
  void append(const Strings& other, std::size_t from, std::size_t rows);
  void reserve(std::size_t rows) { ends_.reserve(rows); }
  std::size_t bytes() const noexcept { return characters_.size(); }

 private:
  std::string characters_;
  std::vector<std::size_t> ends_;
};

/// How values of a kind lie in a column: `T` in `Values<T>`, text and bytes in `Strings`. In
/// the order of `Kind`.
using StoredTypes = std::tuple<std::uint8_t,      // bool
                               std::int64_t,      // int64
                               std::uint64_t,     // uint64
                               double,            // float64
                               Int128,            // decimal: the coefficient
                               std::string_view,  // text
                               std::string_view,  // bytes
                               std::int64_t,      // timestamp
                               std::int32_t,      // date
                               std::int64_t,      // duration
                               Uuid>;
template <Kind Of>
using StoredType = std::tuple_element_t<static_cast<std::size_t>(Of) - 1, StoredTypes>;

/// Values of one type, one for each row, some of them null. What a null row holds besides is
/// unspecified but valid.
class Column {
 public:
  explicit Column(DataType type);

  DataType type() const noexcept { return type_; }
  std::size_t size() const noexcept { return size_; }
  bool has_nulls() const noexcept { return !nulls_.is_empty(); }
  bool is_null(std::size_t row) const noexcept { return nulls_.contains(row); }
  const Nulls& nulls() const noexcept { return nulls_; }
  Value value(std::size_t row) const;
  /// About what it takes in memory.
  std::size_t bytes() const noexcept;

  /// All values, as they are stored. `T` must be the stored type of this column.
  template <class T>
  std::span<const T> values() const {
    return std::get<Values<T>>(content_);
  }
  const Strings& strings() const { return std::get<Strings>(content_); }
  /// Where they are, for who has the processor fetch them.
  internal::Upcoming upcoming() const noexcept;

  void reserve(std::size_t rows);
  void append_null();
  /// Must be null or of the column's type.
  void append(const Value& value);
  /// The value of another column of the same type.
  void append_from(const Column& other, std::size_t row);
  /// One that is not null, as it is stored.
  template <class T>
  void push(T value) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      std::get<Strings>(content_).push_back(value);
    } else {
      std::get<Values<T>>(content_).push_back(value);
    }
    ++size_;
  }
  /// `rows` values to be written over; then `nulls` says which are null. Not of text and bytes.
  template <class T>
  std::span<T> resize(std::size_t rows) {
    auto& values = std::get<Values<T>>(content_);
    values.resize(rows);
    size_ = rows;
    return values;
  }
  Nulls& nulls() noexcept { return nulls_; }

  /// These rows, in this order. What is `upcoming` is gone through next.
  Column take(std::span<const std::uint32_t> rows, internal::Upcoming upcoming = {}) const;
  /// All rows but these, which are in order: less work than `take` where they are few.
  Column without(std::span<const std::uint32_t> rows) const;

 private:
  using Content =
      std::variant<Values<std::uint8_t>, Values<std::int32_t>, Values<std::int64_t>,
                   Values<std::uint64_t>, Values<double>, Values<Int128>, Values<Uuid>, Strings>;
  static Content make_content(Kind kind);

  DataType type_;
  std::size_t size_ = 0;
  Nulls nulls_;
  Content content_;
};

/// Columns never change once they are part of a batch, so batches share them.
using ColumnRef = std::shared_ptr<const Column>;
using Columns = std::vector<ColumnRef>;

/// Calls `visit` with `std::integral_constant<Kind, ...>` of the kind.
template <class Visit>
decltype(auto) visit_kind(Kind kind, Visit&& visit) {
  switch (kind) {
    case Kind::boolean: return visit(std::integral_constant<Kind, Kind::boolean>());
    case Kind::int64: return visit(std::integral_constant<Kind, Kind::int64>());
    case Kind::uint64: return visit(std::integral_constant<Kind, Kind::uint64>());
    case Kind::float64: return visit(std::integral_constant<Kind, Kind::float64>());
    case Kind::decimal: return visit(std::integral_constant<Kind, Kind::decimal>());
    case Kind::text: return visit(std::integral_constant<Kind, Kind::text>());
    case Kind::bytes: return visit(std::integral_constant<Kind, Kind::bytes>());
    case Kind::timestamp: return visit(std::integral_constant<Kind, Kind::timestamp>());
    case Kind::date: return visit(std::integral_constant<Kind, Kind::date>());
    case Kind::duration: return visit(std::integral_constant<Kind, Kind::duration>());
    case Kind::uuid: break;
  }
  return visit(std::integral_constant<Kind, Kind::uuid>());
}

/// A number for each row that is the same for equal rows; nulls are equal to each other.
void hash_rows(std::span<const ColumnRef> columns, std::size_t rows,
               std::vector<std::uint64_t>& hashes);
/// Calls `use(from, rows)` for each run of rows that are left of `size` without some, which are in
/// order.
template <class Use>
void for_each_run(std::size_t size, std::span<const std::uint32_t> without, Use use) {
  std::size_t from = 0;
  for (const std::uint32_t row : without) {
    if (row != from) use(from, row - from);
    from = std::size_t{row} + 1;
  }
  if (from != size) use(from, size - from);
}
bool equal_rows(std::span<const ColumnRef> a, std::size_t row_a, std::span<const ColumnRef> b,
                std::size_t row_b) noexcept;

}  // namespace weir::flow::data
