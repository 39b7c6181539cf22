#include <weir/flow/data/row_codec.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/data/utf8.hpp>
#include <weir/storage/key.hpp>
#include <weir/storage/value.hpp>

namespace weir::flow::data {
namespace {

using storage::KeyCodec;
using storage::ValueCodec;

/// How one stored type is ordered: as the key of that type, or as the two halves of 128 bits.
template <class T>
struct Ordered {
  static void append(const T& value, std::string& out) { KeyCodec<T>::encode(value, out); }
  static bool take(std::string_view& in, T& value) { return KeyCodec<T>::decode(in, value); }
};
template <>
struct Ordered<Int128> {
  static void append(const Int128& value, std::string& out) {
    KeyCodec<std::int64_t>::encode(static_cast<std::int64_t>(value >> 64), out);
    KeyCodec<std::uint64_t>::encode(static_cast<std::uint64_t>(value), out);
  }
  static bool take(std::string_view& in, Int128& value) {
    std::int64_t high = 0;
    std::uint64_t low = 0;
    if (!KeyCodec<std::int64_t>::decode(in, high)) return false;
    if (!KeyCodec<std::uint64_t>::decode(in, low)) return false;
    value = static_cast<Int128>(static_cast<UInt128>(static_cast<Int128>(high)) << 64 | low);
    return is_coefficient(value);
  }
};
template <>
struct Ordered<double> {
  // Equal numbers have equal bytes: one zero, one NaN.
  static void append(double value, std::string& out) {
    if (value == 0) value = 0.0;
    if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
    KeyCodec<double>::encode(value, out);
  }
  static bool take(std::string_view& in, double& value) {
    return KeyCodec<double>::decode(in, value);
  }
};
template <>
struct Ordered<Uuid> {
  static void append(const Uuid& value, std::string& out) {
    out.append(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
  }
  static bool take(std::string_view& in, Uuid& value) {
    if (in.size() < value.bytes.size()) return false;
    std::copy_n(in.begin(), value.bytes.size(), value.bytes.begin());
    in.remove_prefix(value.bytes.size());
    return true;
  }
};
template <>
struct Ordered<std::uint8_t> {
  static void append(std::uint8_t value, std::string& out) {
    out.push_back(static_cast<char>(value));
  }
  static bool take(std::string_view& in, std::uint8_t& value) {
    if (in.empty() || static_cast<unsigned char>(in.front()) > 1) return false;
    value = static_cast<std::uint8_t>(in.front());
    in.remove_prefix(1);
    return true;
  }
};

/// Written out for numbers of eight bytes, as most keys are: a number whose bytes, the greatest
/// first, are those of `Ordered`.
template <class T>
constexpr bool is_wide_number =
    (std::is_integral_v<T> || std::is_same_v<T, double>) && sizeof(T) == sizeof(std::uint64_t);
constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;

template <class T>
std::uint64_t ordered_number(T value) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
    const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
    return (bits & sign_bit) != 0 ? ~bits : bits | sign_bit;
  } else {
    return static_cast<std::uint64_t>(value) ^ (std::is_signed_v<T> ? sign_bit : 0);
  }
}

/// False if it is that of no value.
template <class T>
bool from_ordered_number(std::uint64_t number, T& value) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    value = std::bit_cast<double>((number & sign_bit) != 0 ? number ^ sign_bit : ~number);
    return ordered_number(value) == number;
  } else {
    value = static_cast<T>(number ^ (std::is_signed_v<T> ? sign_bit : 0));
    return true;
  }
}

/// From the order of bytes in which the greatest comes first, or into it.
std::uint64_t big_endian(std::uint64_t number) noexcept {
  return std::endian::native == std::endian::little ? __builtin_bswap64(number) : number;
}

/// The bytes of `Ordered`, where there is room for them.
template <class T>
void put_one(const T& value, char* to) {
  if constexpr (is_wide_number<T>) {
    const std::uint64_t bytes = big_endian(ordered_number(value));
    std::memcpy(to, &bytes, sizeof bytes);
  } else {
    std::string bytes;
    Ordered<T>::append(value, bytes);
    std::ranges::copy(bytes, to);
  }
}

/// Few bytes for small numbers.
template <class T>
struct Compact {
  static void append(const T& value, std::string& out) { ValueCodec<T>::encode(value, out); }
  static bool take(std::string_view& in, T& value) { return ValueCodec<T>::decode(in, value); }
};
template <>
struct Compact<Int128> {
  // The sign is the lowest bit, so that small numbers of either sign are short.
  static void append(const Int128& value, std::string& out) {
    const UInt128 bits = static_cast<UInt128>(value) << 1 ^ static_cast<UInt128>(value >> 127);
    ValueCodec<std::uint64_t>::encode(static_cast<std::uint64_t>(bits), out);
    ValueCodec<std::uint64_t>::encode(static_cast<std::uint64_t>(bits >> 64), out);
  }
  static bool take(std::string_view& in, Int128& value) {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    if (!ValueCodec<std::uint64_t>::decode(in, low)) return false;
    if (!ValueCodec<std::uint64_t>::decode(in, high)) return false;
    const UInt128 bits = static_cast<UInt128>(high) << 64 | low;
    value = static_cast<Int128>(bits >> 1 ^ (~(bits & 1) + 1));
    return is_coefficient(value);
  }
};
template <>
struct Compact<Uuid> : Ordered<Uuid> {};
template <>
struct Compact<std::uint8_t> : Ordered<std::uint8_t> {};

void append_sized(std::string_view text, std::string& out) {
  ValueCodec<std::uint64_t>::encode(text.size(), out);
  out.append(text);
}

bool take_sized(std::string_view& in, std::string_view& text) {
  std::uint64_t size = 0;
  if (!ValueCodec<std::uint64_t>::decode(in, size) || size > in.size()) return false;
  text = in.substr(0, size);
  in.remove_prefix(size);
  return true;
}

bool is_valid_text(Kind kind, std::string_view text) { return kind != Kind::text || is_utf8(text); }

/// Takes one ordered value; `text` is room that is used again.
template <Kind Of>
bool take_one(std::string_view& in, Column& column, std::string& text) {
  using T = StoredType<Of>;
  std::uint8_t has_value = 0;
  if (!Ordered<std::uint8_t>::take(in, has_value)) return false;
  if (has_value == 0) {
    column.append_null();
    return true;
  }
  if constexpr (std::is_same_v<T, std::string_view>) {
    text.clear();
    if (!KeyCodec<std::string>::decode(in, text) || !is_valid_text(Of, text)) return false;
    column.push<T>(text);
  } else {
    T value{};
    if (!Ordered<T>::take(in, value)) return false;
    column.push<T>(value);
  }
  return true;
}

/// Takes one ordered value of each row, for as long as that is a number of eight bytes and not
/// null. How many it took.
template <class T>
std::size_t take_numbers(std::span<std::string_view> in, Column& column) {
  constexpr std::size_t width = 1 + sizeof(std::uint64_t);
  const std::size_t before = column.size();
  T* const to = column.resize<T>(before + in.size()).data() + before;
  std::size_t taken = 0;
  for (std::string_view& row : in) {
    if (row.size() < width || row.front() != '\1') break;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, row.data() + 1, sizeof bytes);
    if (!from_ordered_number(big_endian(bytes), to[taken])) break;
    row.remove_prefix(width);
    ++taken;
  }
  column.resize<T>(before + taken);
  return taken;
}

Error corrupt(const Field& field, const char* where) {
  return Error(Errc::corruption, std::string(where) + " of a row: column " + field.name +
                                     " is not " + to_string(field.type));
}

}  // namespace

void append_ordered(const Column& column, std::size_t row, std::string& out) {
  const bool is_null = column.is_null(row);
  out.push_back(is_null ? '\0' : '\1');
  if (is_null) return;
  visit_kind(column.type().kind, [&](auto kind) {
    using T = StoredType<kind()>;
    if constexpr (std::is_same_v<T, std::string_view>) {
      KeyCodec<std::string_view>::encode(column.strings()[row], out);
    } else {
      Ordered<T>::append(column.values<T>()[row], out);
    }
  });
}

std::optional<std::size_t> ordered_width(const Column& column) noexcept {
  if (column.has_nulls()) return std::nullopt;
  return visit_kind(column.type().kind, [](auto kind) -> std::optional<std::size_t> {
    using T = StoredType<kind()>;
    if constexpr (std::is_same_v<T, std::string_view>) {
      return std::nullopt;
    } else {
      return 1 + sizeof(T);
    }
  });
}

void put_ordered(const Column& column, char* to, std::size_t stride) {
  visit_kind(column.type().kind, [&](auto kind) {
    using T = StoredType<kind()>;
    if constexpr (!std::is_same_v<T, std::string_view>) {
      for (const T& value : column.values<T>()) {
        *to = '\1';
        put_one(value, to + 1);
        to += stride;
      }
    }
  });
}

bool take_ordered(std::string_view& in, Column& column) {
  return take_ordered(std::span(&in, 1), column);
}

bool take_ordered(std::span<std::string_view> in, Column& column) {
  return visit_kind(column.type().kind, [&](auto kind) {
    using T = StoredType<kind()>;
    if constexpr (is_wide_number<T>) in = in.subspan(take_numbers<T>(in, column));
    std::string text;
    return std::ranges::all_of(
        in, [&](std::string_view& row) { return take_one<kind()>(row, column, text); });
  });
}

void append_compact(const Column& column, std::size_t row, std::string& out) {
  visit_kind(column.type().kind, [&](auto kind) {
    using T = StoredType<kind()>;
    if constexpr (std::is_same_v<T, std::string_view>) {
      append_sized(column.strings()[row], out);
    } else {
      Compact<T>::append(column.values<T>()[row], out);
    }
  });
}

bool take_compact(std::string_view& in, Column& column) {
  return visit_kind(column.type().kind, [&](auto kind) {
    using T = StoredType<kind()>;
    T value{};
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (!take_sized(in, value) || !is_valid_text(kind(), value)) return false;
    } else {
      if (!Compact<T>::take(in, value)) return false;
    }
    column.push<T>(value);
    return true;
  });
}

RowCodec::RowCodec(SchemaRef schema)
    : schema_(std::move(schema)),
      key_columns_(schema_->primary_key().begin(), schema_->primary_key().end()) {
  if (key_columns_.empty()) {
    key_columns_.resize(schema_->size());
    std::iota(key_columns_.begin(), key_columns_.end(), std::size_t{0});
  }
  for (std::size_t i = 0; i < schema_->size(); ++i) {
    if (std::ranges::find(key_columns_, i) != key_columns_.end()) continue;
    value_columns_.push_back(i);
    if ((*schema_)[i].is_nullable) ++nullable_values_;
  }
}

void RowCodec::encode_key(const Columns& columns, std::size_t row, std::string& out) const {
  for (const std::size_t column : key_columns_) append_ordered(*columns[column], row, out);
}

void RowCodec::encode_value(const Columns& columns, std::size_t row, std::string& out) const {
  const std::size_t bits = out.size();
  out.append((nullable_values_ + 7) / 8, '\0');
  std::size_t nullable = 0;
  for (const std::size_t column : value_columns_) {
    const bool is_null = columns[column]->is_null(row);
    if (is_null) {
      char& byte = out[bits + nullable / 8];
      byte = static_cast<char>(byte | 1 << nullable % 8);
    }
    if ((*schema_)[column].is_nullable) ++nullable;
    if (!is_null) append_compact(*columns[column], row, out);
  }
}

Result<> RowCodec::decode(std::string_view key, std::string_view value, Weight weight,
                          BatchBuilder& out) const {
  for (const std::size_t column : key_columns_) {
    if (!take_ordered(key, out.column(column))) return corrupt((*schema_)[column], "key");
  }
  const std::size_t bit_bytes = (nullable_values_ + 7) / 8;
  const std::string_view bits = value.substr(0, std::min(bit_bytes, value.size()));
  value.remove_prefix(bits.size());
  std::size_t nullable = 0;
  for (const std::size_t column : value_columns_) {
    const Field& field = (*schema_)[column];
    if (bits.size() < bit_bytes) return corrupt(field, "value");
    const bool is_null = field.is_nullable && (bits[nullable / 8] >> nullable % 8 & 1) != 0;
    if (field.is_nullable) ++nullable;
    if (is_null) {
      out.column(column).append_null();
    } else if (!take_compact(value, out.column(column))) {
      return corrupt(field, "value");
    }
  }
  if (!key.empty() || !value.empty()) {
    return Error(Errc::corruption, "a row has bytes behind its last column");
  }
  out.add_weight(weight);
  return {};
}

}  // namespace weir::flow::data
