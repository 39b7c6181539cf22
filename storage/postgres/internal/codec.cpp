#include <weir/storage/postgres/internal/codec.hpp>

#include <array>
#include <bit>

namespace weir::storage::postgres::internal {
namespace {

using namespace std::chrono_literals;

/// Timestamps are counted from 2000-01-01, thirty years after the system's clock.
constexpr std::chrono::microseconds epoch = 24h * 10'957;

template <class T>
void append_big_endian(std::string& out, T value) {
  for (int shift = sizeof(T) * 8 - 8; shift >= 0; shift -= 8) {
    out += static_cast<char>(value >> shift & 0xff);
  }
}

template <class T>
T read_big_endian(std::string_view bytes) {
  T value = 0;
  for (std::size_t at = 0; at < sizeof(T); ++at) {
    value = static_cast<T>(value << 8 | static_cast<unsigned char>(bytes[at]));
  }
  return value;
}

bool holds(const Encoded& encoded, Type type, std::size_t size) {
  return encoded.type == type && encoded.bytes && encoded.bytes->size() == size;
}

/// Takes `count` bytes off the front, if there are so many.
bool take(std::string_view& bytes, std::size_t count, std::string_view& taken) {
  if (bytes.size() < count) return false;
  taken = bytes.substr(0, count);
  bytes.remove_prefix(count);
  return true;
}
bool take_int32(std::string_view& bytes, std::int32_t& value) {
  std::string_view taken;
  if (!take(bytes, 4, taken)) return false;
  value = static_cast<std::int32_t>(read_big_endian<std::uint32_t>(taken));
  return true;
}

bool is_text(Type type) {
  switch (static_cast<std::uint32_t>(type)) {
    case 18:    // "char"
    case 19:    // name
    case 25:    // text
    case 114:   // json
    case 142:   // xml
    case 705:   // unknown
    case 1042:  // char(n)
    case 1043:  // varchar(n)
      return true;
    default: return static_cast<std::uint32_t>(type) >= 16'384;  // enums and types of extensions
  }
}

std::string uuid_text(std::string_view bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (at == 4 || at == 6 || at == 8 || at == 10) text += '-';
    const auto byte = static_cast<unsigned char>(bytes[at]);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace

void append_int32(std::string& out, std::int32_t value) {
  append_big_endian(out, static_cast<std::uint32_t>(value));
}
void append_value(std::string& out, bool value) { out += value ? '\1' : '\0'; }
void append_value(std::string& out, std::int64_t value) {
  append_big_endian(out, static_cast<std::uint64_t>(value));
}
void append_value(std::string& out, double value) {
  append_big_endian(out, std::bit_cast<std::uint64_t>(value));
}
void append_value(std::string& out, std::string_view value) { out += value; }
void append_value(std::string& out, Timestamp value) {
  append_value(out, std::int64_t{(value.time_since_epoch() - epoch).count()});
}

void append_array_head(std::string& out, Type element, std::size_t size, bool has_null) {
  append_int32(out, size > 0 ? 1 : 0);
  append_int32(out, has_null ? 1 : 0);
  append_int32(out, static_cast<std::int32_t>(element));
  if (size == 0) return;
  append_int32(out, static_cast<std::int32_t>(size));
  append_int32(out, 1);
}

void set_length(std::string& out, std::size_t place) {
  std::string length;
  append_int32(length, static_cast<std::int32_t>(out.size() - place - 4));
  out.replace(place, 4, length);
}

bool decode(const Encoded& encoded, bool& value) {
  if (!holds(encoded, Type::boolean, 1)) return false;
  value = encoded.bytes->front() != '\0';
  return true;
}

bool decode(const Encoded& encoded, std::int64_t& value) {
  if (holds(encoded, Type::int8, 8)) {
    value = static_cast<std::int64_t>(read_big_endian<std::uint64_t>(*encoded.bytes));
  } else if (holds(encoded, Type::int4, 4)) {
    value = static_cast<std::int32_t>(read_big_endian<std::uint32_t>(*encoded.bytes));
  } else if (holds(encoded, Type::int2, 2)) {
    value = static_cast<std::int16_t>(read_big_endian<std::uint16_t>(*encoded.bytes));
  } else {
    return false;
  }
  return true;
}

bool decode(const Encoded& encoded, double& value) {
  if (holds(encoded, Type::float8, 8)) {
    value = std::bit_cast<double>(read_big_endian<std::uint64_t>(*encoded.bytes));
  } else if (holds(encoded, Type::float4, 4)) {
    value = std::bit_cast<float>(read_big_endian<std::uint32_t>(*encoded.bytes));
  } else {
    return false;
  }
  return true;
}

bool decode(const Encoded& encoded, std::string& value) {
  if (!encoded.bytes) return false;
  if (holds(encoded, Type::uuid, 16)) {
    value = uuid_text(*encoded.bytes);
    return true;
  }
  if (encoded.type == Type::jsonb) {  // after one byte with the version of the format
    if (encoded.bytes->empty() || encoded.bytes->front() != '\1') return false;
    value = encoded.bytes->substr(1);
    return true;
  }
  if (!is_text(encoded.type)) return false;
  value = *encoded.bytes;
  return true;
}

bool decode(const Encoded& encoded, Bytes& value) {
  if (encoded.type != Type::bytea || !encoded.bytes) return false;
  value.value = *encoded.bytes;
  return true;
}

bool decode(const Encoded& encoded, Timestamp& value) {
  if (!holds(encoded, Type::timestamptz, 8)) return false;
  const auto count = static_cast<std::int64_t>(read_big_endian<std::uint64_t>(*encoded.bytes));
  std::int64_t since = 0;  // what is infinite has no time on our clock
  if (__builtin_add_overflow(count, epoch.count(), &since)) return false;
  value = Timestamp(std::chrono::microseconds(since));
  return true;
}

bool split_array(const Encoded& encoded, std::vector<Encoded>& elements) {
  if (!encoded.bytes || encoded.type == Type::bytea) return false;
  std::string_view rest = *encoded.bytes;
  std::int32_t dimensions = 0;
  std::int32_t has_null = 0;
  std::int32_t type = 0;
  if (!take_int32(rest, dimensions) || !take_int32(rest, has_null) || !take_int32(rest, type)) {
    return false;
  }
  if (dimensions == 0) return rest.empty();
  std::int32_t size = 0;
  std::int32_t first = 0;
  if (dimensions != 1 || !take_int32(rest, size) || !take_int32(rest, first)) return false;
  for (; size > 0; --size) {
    Encoded& element = elements.emplace_back(Encoded{static_cast<Type>(type), {}});
    std::int32_t length = 0;
    if (!take_int32(rest, length) || length < -1) return false;
    if (length < 0) continue;
    if (!take(rest, static_cast<std::size_t>(length), element.bytes.emplace())) return false;
  }
  return rest.empty();
}

std::string name_of(Type type) {
  switch (type) {
    case Type::unspecified: return "unspecified";
    case Type::boolean: return "boolean";
    case Type::bytea: return "bytea";
    case Type::int8: return "int8";
    case Type::int2: return "int2";
    case Type::int4: return "int4";
    case Type::text: return "text";
    case Type::json: return "json";
    case Type::float4: return "float4";
    case Type::float8: return "float8";
    case Type::boolean_array: return "boolean[]";
    case Type::bytea_array: return "bytea[]";
    case Type::text_array: return "text[]";
    case Type::int8_array: return "int8[]";
    case Type::float8_array: return "float8[]";
    case Type::timestamptz: return "timestamptz";
    case Type::timestamptz_array: return "timestamptz[]";
    case Type::uuid: return "uuid";
    case Type::jsonb: return "jsonb";
  }
  return "type " + std::to_string(static_cast<std::uint32_t>(type));
}

}  // namespace weir::storage::postgres::internal
