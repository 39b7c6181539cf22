#include <weir/flow/data/column.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include <weir/runtime/check.hpp>

namespace weir::flow::data {
namespace {

constexpr std::uint64_t null_hash = 0x9E3779B97F4A7C15;

/// Spreads every bit of a number over all of them.
constexpr std::uint64_t mix(std::uint64_t number) noexcept {
  const UInt128 product = static_cast<UInt128>(number) * 0xD6E8FEB86659FD93;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Need not be spread.
template <class T>
std::uint64_t hash_value(const T& value) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(value)) return 0x7FF8000000000000;
    return std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
  } else if constexpr (std::is_same_v<T, Int128>) {
    return static_cast<std::uint64_t>(value) ^ mix(static_cast<std::uint64_t>(value >> 64));
  } else if constexpr (std::is_same_v<T, Uuid>) {
    const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(value.bytes);
    return halves[0] ^ mix(halves[1]);
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return std::hash<std::string_view>()(value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

template <class T>
bool equal_values(const T& a, const T& b) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    return equal_floats(a, b);
  } else {
    return a == b;
  }
}

template <class T, class Use>
void with_values(const Column& column, Use use) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    use(column.strings());
  } else {
    use(column.values<T>());
  }
}

void hash_column(const Column& column, std::span<std::uint64_t> hashes) {
  visit_kind(column.type().kind, [&](auto kind) {
    with_values<StoredType<kind()>>(column, [&](const auto& values) {
      const auto add = [&](std::size_t row, std::uint64_t hash) {
        hashes[row] = mix(hashes[row] ^ hash);
      };
      if (!column.has_nulls()) {
        for (std::size_t row = 0; row < hashes.size(); ++row) add(row, hash_value(values[row]));
        return;
      }
      for (std::size_t row = 0; row < hashes.size(); ++row)
        add(row, column.is_null(row) ? null_hash : hash_value(values[row]));
    });
  });
}

/// What a column of the kind stores for a value of that kind.
template <Kind Of>
StoredType<Of> stored(const Value& value) {
  if constexpr (Of == Kind::boolean)
    return value.as<bool>() ? 1 : 0;
  else if constexpr (Of == Kind::decimal)
    return value.as<Decimal>().coefficient;
  else if constexpr (Of == Kind::text)
    return value.as<std::string>();
  else if constexpr (Of == Kind::bytes)
    return value.as<Bytes>().content;
  else if constexpr (Of == Kind::timestamp)
    return value.as<Timestamp>().time_since_epoch().count();
  else if constexpr (Of == Kind::date)
    return static_cast<std::int32_t>(value.as<Date>().time_since_epoch().count());
  else if constexpr (Of == Kind::duration)
    return value.as<std::chrono::microseconds>().count();
  else
    return value.as<StoredType<Of>>();
}

template <Kind Of, class T>
Value unstored(const T& stored, DataType type) {
  if constexpr (Of == Kind::boolean)
    return Value(stored != 0);
  else if constexpr (Of == Kind::decimal)
    return Value(Decimal{stored, type.scale});
  else if constexpr (Of == Kind::bytes)
    return Value(Bytes{std::string(stored)});
  else if constexpr (Of == Kind::timestamp)
    return Value(Timestamp(std::chrono::microseconds(stored)));
  else if constexpr (Of == Kind::date)
    return Value(Date(std::chrono::days(stored)));
  else if constexpr (Of == Kind::duration)
    return Value(std::chrono::microseconds(stored));
  else
    return Value(stored);
}

}  // namespace

void Nulls::add_all(const Nulls& other) {
  if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
  for (std::size_t word = 0; word < other.words_.size(); ++word) words_[word] |= other.words_[word];
}

void Nulls::add_first(std::size_t rows) {
  if (words_.size() < (rows + 63) / 64) words_.resize((rows + 63) / 64);
  std::fill_n(words_.begin(), rows / 64, ~std::uint64_t{0});
  if (rows % 64 != 0) words_[rows / 64] |= (std::uint64_t{1} << (rows % 64)) - 1;
}

void Strings::append(const Strings& other, std::size_t from, std::size_t rows) {
  const std::size_t begin = from == 0 ? 0 : other.ends_[from - 1];
  const std::size_t end = rows == 0 ? begin : other.ends_[from + rows - 1];
  const std::size_t moved = characters_.size() - begin;  // wraps around, and back again
  characters_.append(other.characters_, begin, end - begin);
  for (std::size_t row = from; row < from + rows; ++row) ends_.push_back(other.ends_[row] + moved);
}

Column::Column(DataType type) : type_(type), content_(make_content(type.kind)) {}

Column::Content Column::make_content(Kind kind) {
  return visit_kind(kind, [](auto constant) -> Content {
    using T = StoredType<constant()>;
    if constexpr (std::is_same_v<T, std::string_view>) {
      return Strings();
    } else {
      return Values<T>();
    }
  });
}

Value Column::value(std::size_t row) const {
  if (is_null(row)) return {};
  return visit_kind(type_.kind, [&](auto kind) -> Value {
    Value value;
    with_values<StoredType<kind()>>(
        *this, [&](const auto& values) { value = unstored<kind()>(values[row], type_); });
    return value;
  });
}

std::size_t Column::bytes() const noexcept {
  return std::visit(
      [this]<class T>(const T& values) -> std::size_t {
        if constexpr (std::is_same_v<T, Strings>) {
          return values.bytes() + size_ * sizeof(std::size_t);
        } else {
          return size_ * sizeof(typename T::value_type);
        }
      },
      content_);
}

void Column::reserve(std::size_t rows) {
  std::visit([rows](auto& values) { values.reserve(rows); }, content_);
}

void Column::append_null() {
  nulls_.add(size_);
  visit_kind(type_.kind, [this](auto kind) { push(StoredType<kind()>{}); });
}

void Column::append(const Value& value) {
  if (value.is_null()) return append_null();
  check(value.type() == type_, "a value has the type of the column that it is appended to");
  visit_kind(type_.kind, [&](auto kind) { push(stored<kind()>(value)); });
}

void Column::append_from(const Column& other, std::size_t row) {
  if (other.is_null(row)) return append_null();
  visit_kind(type_.kind, [&](auto kind) {
    using T = StoredType<kind()>;
    with_values<T>(other, [&](const auto& values) { push<T>(values[row]); });
  });
}

internal::Upcoming Column::upcoming() const noexcept {
  return std::visit(
      []<class T>(const T& values) -> internal::Upcoming {
        if constexpr (std::is_same_v<T, Strings>) {
          return {};
        } else {
          return {reinterpret_cast<const char*>(values.data()), sizeof(typename T::value_type)};
        }
      },
      content_);
}

Column Column::take(std::span<const std::uint32_t> rows, internal::Upcoming upcoming) const {
  Column taken(type_);
  visit_kind(type_.kind, [&](auto kind) {
    using T = StoredType<kind()>;
    if constexpr (std::is_same_v<T, std::string_view>) {
      taken.reserve(rows.size());
      for (const std::uint32_t row : rows) taken.push<T>(strings()[row]);
    } else {
      internal::gather(values<T>().data(), rows, taken.resize<T>(rows.size()).data(), upcoming);
    }
  });
  if (!has_nulls()) return taken;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (is_null(rows[i])) taken.nulls_.add(i);
  }
  return taken;
}

Column Column::without(std::span<const std::uint32_t> rows) const {
  Column left(type_);
  visit_kind(type_.kind, [&](auto kind) {
    using T = StoredType<kind()>;
    if constexpr (std::is_same_v<T, std::string_view>) {
      Strings& to = std::get<Strings>(left.content_);
      to.reserve(size_ - rows.size());
      for_each_run(size_, rows,
                   [&](std::size_t from, std::size_t count) { to.append(strings(), from, count); });
      left.size_ = to.size();
    } else {
      const T* all = values<T>().data();
      T* to = left.resize<T>(size_ - rows.size()).data();
      for_each_run(size_, rows, [&](std::size_t from, std::size_t count) {
        to = std::copy_n(all + from, count, to);
      });
    }
  });
  if (!has_nulls()) return left;
  std::size_t place = 0;
  for_each_run(size_, rows, [&](std::size_t from, std::size_t count) {
    for (std::size_t row = from; row < from + count; ++row, ++place)
      if (is_null(row)) left.nulls_.add(place);
  });
  return left;
}

void hash_rows(std::span<const ColumnRef> columns, std::size_t rows,
               std::vector<std::uint64_t>& hashes) {
  hashes.assign(rows, columns.size());
  for (const ColumnRef& column : columns) hash_column(*column, hashes);
}

bool equal_rows(std::span<const ColumnRef> a, std::size_t row_a, std::span<const ColumnRef> b,
                std::size_t row_b) noexcept {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool is_null = a[i]->is_null(row_a);
    if (is_null != b[i]->is_null(row_b)) return false;
    if (is_null) continue;
    const bool is_equal = visit_kind(a[i]->type().kind, [&](auto kind) {
      using T = StoredType<kind()>;
      bool equal = false;
      with_values<T>(*a[i], [&](const auto& left) {
        with_values<T>(
            *b[i], [&](const auto& right) { equal = equal_values<T>(left[row_a], right[row_b]); });
      });
      return equal;
    });
    if (!is_equal) return false;
  }
  return true;
}

}  // namespace weir::flow::data
