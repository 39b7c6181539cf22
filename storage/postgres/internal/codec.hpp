#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <weir/storage/postgres/bytes.hpp>

// Values in PostgreSQL's binary format: numbers with the most significant byte first.
//
//     array   dimensions:4 has_null:4 element_type:4 (length:4 lower_bound:4)* element*
//     element length:4 bytes, or the length -1 for null
//
// An empty array has no dimension.
namespace weir::storage::postgres::internal {

/// The numbers of types, which PostgreSQL never changes.
enum class Type : std::uint32_t {
  unspecified = 0,
  boolean = 16,
  bytea = 17,
  int8 = 20,
  int2 = 21,
  int4 = 23,
  text = 25,
  json = 114,
  float4 = 700,
  float8 = 701,
  boolean_array = 1000,
  bytea_array = 1001,
  text_array = 1009,
  int8_array = 1016,
  float8_array = 1022,
  timestamptz = 1184,
  timestamptz_array = 1185,
  uuid = 2950,
  jsonb = 3802,
};

/// What type a value is sent as, and that of an array of such values.
template <class T>
struct TypeOf;
template <Type Single, Type Many>
struct Types {
  static constexpr Type single = Single;
  static constexpr Type array = Many;
};
template <>
struct TypeOf<bool> : Types<Type::boolean, Type::boolean_array> {};
template <>
struct TypeOf<std::int64_t> : Types<Type::int8, Type::int8_array> {};
template <>
struct TypeOf<double> : Types<Type::float8, Type::float8_array> {};
template <>
struct TypeOf<std::string> : Types<Type::text, Type::text_array> {};
template <>
struct TypeOf<Bytes> : Types<Type::bytea, Type::bytea_array> {};
template <>
struct TypeOf<Timestamp> : Types<Type::timestamptz, Type::timestamptz_array> {};

template <class T>
concept Element = requires { TypeOf<T>::single; };

void append_int32(std::string& out, std::int32_t value);
void append_value(std::string& out, bool value);
void append_value(std::string& out, std::int64_t value);
void append_value(std::string& out, double value);
void append_value(std::string& out, std::string_view value);
void append_value(std::string& out, Timestamp value);
inline void append_value(std::string& out, const std::string& value) { out += value; }
inline void append_value(std::string& out, const Bytes& value) { out += value.value; }

void append_array_head(std::string& out, Type element, std::size_t size, bool has_null);
/// Replaces the length at `place` by what has been written behind it.
void set_length(std::string& out, std::size_t place);

template <class T>
const T* element_of(const T& value) noexcept {
  return &value;
}
template <class T>
const T* element_of(const std::optional<T>& value) noexcept {
  return value ? &*value : nullptr;
}

/// `T`, or `std::optional<T>` where elements may be null.
template <class T, class Values>
void append_array(std::string& out, const Values& values) {
  bool has_null = false;
  for (const auto& value : values) has_null = has_null || !element_of(value);
  append_array_head(out, TypeOf<T>::single, values.size(), has_null);
  for (const auto& value : values) {
    const std::size_t place = out.size();
    append_int32(out, -1);
    const auto* element = element_of(value);
    if (!element) continue;
    append_value(out, *element);
    set_length(out, place);
  }
}

/// A value as it came, with its type.
struct Encoded {
  Type type = Type::unspecified;
  std::optional<std::string_view> bytes;  // nothing: null
};

// Each gives false if the value cannot be read as that; null cannot be. Integers of any size are
// read as 64 bits. Text are all types that are sent as such, and `uuid` in its usual form.
bool decode(const Encoded& encoded, bool& value);
bool decode(const Encoded& encoded, std::int64_t& value);
bool decode(const Encoded& encoded, double& value);
bool decode(const Encoded& encoded, std::string& value);
bool decode(const Encoded& encoded, Bytes& value);
bool decode(const Encoded& encoded, Timestamp& value);

/// The elements of an array of one dimension; false if it is none.
bool split_array(const Encoded& encoded, std::vector<Encoded>& elements);

template <class T>
bool decode(const Encoded& encoded, std::optional<T>& value) {
  if (!encoded.bytes) {
    value.reset();
    return true;
  }
  return decode(encoded, value.emplace());
}
template <class T>
bool decode(const Encoded& encoded, std::vector<T>& values) {
  std::vector<Encoded> elements;
  if (!split_array(encoded, elements)) return false;
  for (const Encoded& element : elements) {
    T value{};
    if (!decode(element, value)) return false;
    values.push_back(std::move(value));
  }
  return true;
}

/// Its name, for people: `int8`, or `type 1042`.
std::string name_of(Type type);

/// Names of C++ types as they stand in messages: `int64`, `text`.
template <class T>
struct NameOf;
template <>
struct NameOf<bool> {
  static std::string get() { return "bool"; }
};
template <>
struct NameOf<std::int64_t> {
  static std::string get() { return "int64"; }
};
template <>
struct NameOf<double> {
  static std::string get() { return "double"; }
};
template <>
struct NameOf<std::string> {
  static std::string get() { return "text"; }
};
template <>
struct NameOf<Bytes> {
  static std::string get() { return "bytes"; }
};
template <>
struct NameOf<Timestamp> {
  static std::string get() { return "timestamp"; }
};
template <class T>
struct NameOf<std::optional<T>> {
  static std::string get() { return NameOf<T>::get(); }
};
template <class T>
struct NameOf<std::vector<T>> {
  static std::string get() { return "array of " + NameOf<T>::get(); }
};

}  // namespace weir::storage::postgres::internal
