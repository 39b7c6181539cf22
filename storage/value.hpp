#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <weir/runtime/result.hpp>
#include <weir/storage/internal/codec.hpp>
#include <weir/storage/internal/varint.hpp>

// Persisted: never change an encoding in this file, nor a signature. docs/storage_format.md has
// them in one table.
namespace weir::storage {

/// How a value becomes bytes: few of them, in no order.
///
/// A codec has three static functions:
///
///     static void encode(const V& value, std::string& out);   // appends at least one byte
///     static bool decode(std::string_view& in, V& value);     // takes what encode appended
///     static std::string signature();                         // names the bytes: `[(text,i64?)]`
///
/// It may have two more, by which structs of such values are encoded in one go:
///
///     static std::size_t size_max(const V& value);        // bytes that `encode` appends at most
///     static char* write(const V& value, char* to);       // the same bytes; gives their end
///
/// `decode` accepts only what `encode` produces, and leaves `in` where it failed; it never trusts a
/// length that it read. A store refuses to open a space whose values have another signature than
/// those it holds.
///
/// Values are: bool, integers, enumerations with a fixed type, float and double, text, bytes,
/// arrays of bytes, durations, `sys_time`, `std::optional`, `std::vector`, `std::map`,
/// `std::variant`, and pairs, tuples and structs with `weir_fields` of those, but none that
/// contains itself.
template <class V>
struct ValueCodec;

/// A type that has a `ValueCodec`.
template <class V>
concept Value = !requires { requires ValueCodec<V>::is_missing; };

namespace internal {

/// A type whose codec writes where there is room already.
template <class V>
concept DirectValue = requires(const V& value, char* to) {
  { ValueCodec<V>::size_max(value) } -> std::same_as<std::size_t>;
  { ValueCodec<V>::write(value, to) } -> std::same_as<char*>;
};

template <class V>
struct RequireValue {
  static_assert(Value<V>,
                "weir: this is not a value type; list its fields with weir_fields, or specialise "
                "weir::storage::ValueCodec");
};

}  // namespace internal

template <class V>
struct ValueCodec {
  static constexpr bool is_missing = true;
  static void encode(const V&, std::string&) { internal::RequireValue<V>(); }
  static bool decode(std::string_view&, V&) { return internal::RequireValue<V>(), false; }
  static std::string signature() { return internal::RequireValue<V>(), std::string(); }
};

/// One byte: 0x00 for false, 0x01 for true.
template <>
struct ValueCodec<bool> {
  static void encode(bool value, std::string& out) { out.push_back(value ? '\1' : '\0'); }
  static std::size_t size_max(bool) noexcept { return 1; }
  static char* write(bool value, char* to) noexcept {
    *to = value ? '\1' : '\0';
    return to + 1;
  }
  static bool decode(std::string_view& in, bool& value) { return internal::take_bool(in, value); }
  static std::string signature() { return "bool"; }
};

/// One byte as it is, for those of 8 bits; others as a varint, signed ones in zigzag.
template <internal::Integer V>
struct ValueCodec<V> {
  static void encode(V value, std::string& out) {
    if constexpr (sizeof(V) == 1) {
      out.push_back(static_cast<char>(value));
    } else if constexpr (std::is_signed_v<V>) {
      internal::append_varint(internal::zigzag(value), out);
    } else {
      internal::append_varint(value, out);
    }
  }
  static std::size_t size_max(V) noexcept {
    return sizeof(V) == 1 ? 1 : internal::varint_bytes_max;
  }
  static char* write(V value, char* to) noexcept {
    if constexpr (sizeof(V) == 1) {
      *to = static_cast<char>(value);
      return to + 1;
    } else if constexpr (std::is_signed_v<V>) {
      return internal::write_varint(internal::zigzag(value), to);
    } else {
      return internal::write_varint(value, to);
    }
  }
  static bool decode(std::string_view& in, V& value) {
    if constexpr (sizeof(V) == 1) {
      if (in.empty()) return false;
      value = static_cast<V>(in[0]);
      in.remove_prefix(1);
    } else {
      std::uint64_t number = 0;
      if (!internal::take_varint(in, max, number)) return false;
      value = static_cast<V>(std::is_signed_v<V> ? internal::unzigzag(number) : number);
    }
    return true;
  }
  static std::string signature() { return internal::integer_name<V>(); }

 private:
  static constexpr std::uint64_t max = static_cast<internal::Bits<sizeof(V)>>(~std::uint64_t{0});
};

/// As its underlying type: renaming an enumeration changes nothing, renumbering does.
template <internal::FixedEnum V>
struct ValueCodec<V> {
  using Underlying = std::underlying_type_t<V>;
  static constexpr bool is_missing = !Value<Underlying>;
  static void encode(V value, std::string& out) {
    ValueCodec<Underlying>::encode(static_cast<Underlying>(value), out);
  }
  static std::size_t size_max(V) noexcept
    requires(!is_missing)
  {
    return ValueCodec<Underlying>::size_max({});
  }
  static char* write(V value, char* to) noexcept
    requires(!is_missing)
  {
    return ValueCodec<Underlying>::write(static_cast<Underlying>(value), to);
  }
  static bool decode(std::string_view& in, V& value) {
    Underlying number{};
    if (!ValueCodec<Underlying>::decode(in, number)) return false;
    value = static_cast<V>(number);
    return true;
  }
  static std::string signature() { return ValueCodec<Underlying>::signature(); }
};

/// The bits of IEEE 754, little endian: zeros keep their sign, and NaNs their payload.
template <internal::Float V>
struct ValueCodec<V> {
  static void encode(V value, std::string& out) {
    const auto bits = std::bit_cast<Bits>(value);
    char bytes[sizeof(V)];
    for (std::size_t i = 0; i < sizeof(V); ++i) bytes[i] = static_cast<char>(bits >> (8 * i));
    out.append(bytes, sizeof(V));
  }
  static bool decode(std::string_view& in, V& value) {
    if (in.size() < sizeof(V)) return false;
    Bits bits = 0;
    for (std::size_t i = sizeof(V); i > 0; --i) {
      bits = bits << 8 | static_cast<unsigned char>(in[i - 1]);
    }
    value = std::bit_cast<V>(bits);
    in.remove_prefix(sizeof(V));
    return true;
  }
  static std::string signature() { return sizeof(V) == 4 ? "f32" : "f64"; }

 private:
  using Bits = internal::Bits<sizeof(V)>;
};

/// Its length as a varint, and its bytes. `encode_value` leaves the length off text that is the
/// whole value.
template <>
struct ValueCodec<std::string> {
  static void encode(std::string_view value, std::string& out) {
    internal::append_sized(value, out);
  }
  static std::size_t size_max(std::string_view value) noexcept {
    return internal::varint_bytes_max + value.size();
  }
  static char* write(std::string_view value, char* to) noexcept {
    return internal::write_sized(value, to);
  }
  static bool decode(std::string_view& in, std::string& value) {
    std::string_view text;
    if (!internal::take_sized(in, text)) return false;
    value = text;
    return true;
  }
  static std::string signature() { return "text"; }
};

/// As text.
template <>
struct ValueCodec<std::vector<std::byte>> {
  static void encode(const std::vector<std::byte>& value, std::string& out) {
    internal::append_sized(internal::as_text(value), out);
  }
  static std::size_t size_max(const std::vector<std::byte>& value) noexcept {
    return internal::varint_bytes_max + value.size();
  }
  static char* write(const std::vector<std::byte>& value, char* to) noexcept {
    return internal::write_sized(internal::as_text(value), to);
  }
  static bool decode(std::string_view& in, std::vector<std::byte>& value) {
    std::string_view bytes;
    if (!internal::take_sized(in, bytes)) return false;
    internal::assign(bytes, value);
    return true;
  }
  static std::string signature() { return "bytes"; }
};

/// An id: its bytes as they are.
template <internal::Byte B, std::size_t Size>
  requires(Size > 0)
struct ValueCodec<std::array<B, Size>> {
  static void encode(const std::array<B, Size>& value, std::string& out) {
    out.append(reinterpret_cast<const char*>(value.data()), Size);
  }
  static std::size_t size_max(const std::array<B, Size>&) noexcept { return Size; }
  static char* write(const std::array<B, Size>& value, char* to) noexcept {
    std::memcpy(to, value.data(), Size);
    return to + Size;
  }
  static bool decode(std::string_view& in, std::array<B, Size>& value) {
    if (in.size() < Size) return false;
    for (std::size_t i = 0; i < Size; ++i) value[i] = static_cast<B>(in[i]);
    in.remove_prefix(Size);
    return true;
  }
  static std::string signature() { return "bytes[" + std::to_string(Size) + "]"; }
};

/// As the `i64` of its count.
template <internal::TickCount Rep, class Period>
struct ValueCodec<std::chrono::duration<Rep, Period>> {
  static void encode(std::chrono::duration<Rep, Period> value, std::string& out) {
    ValueCodec<std::int64_t>::encode(value.count(), out);
  }
  static std::size_t size_max(std::chrono::duration<Rep, Period>) noexcept {
    return internal::varint_bytes_max;
  }
  static char* write(std::chrono::duration<Rep, Period> value, char* to) noexcept {
    return ValueCodec<std::int64_t>::write(value.count(), to);
  }
  static bool decode(std::string_view& in, std::chrono::duration<Rep, Period>& value) {
    std::string_view rest = in;
    std::int64_t count = 0;
    if (!ValueCodec<std::int64_t>::decode(rest, count) || !std::in_range<Rep>(count)) return false;
    value = std::chrono::duration<Rep, Period>(static_cast<Rep>(count));
    in = rest;
    return true;
  }
  static std::string signature() { return internal::tick_name<Period>("duration"); }
};

/// As its duration since 1970 in UTC.
template <internal::TickCount Rep, class Period>
struct ValueCodec<std::chrono::sys_time<std::chrono::duration<Rep, Period>>> {
  using Duration = std::chrono::duration<Rep, Period>;
  static void encode(std::chrono::sys_time<Duration> value, std::string& out) {
    ValueCodec<Duration>::encode(value.time_since_epoch(), out);
  }
  static std::size_t size_max(std::chrono::sys_time<Duration>) noexcept {
    return internal::varint_bytes_max;
  }
  static char* write(std::chrono::sys_time<Duration> value, char* to) noexcept {
    return ValueCodec<Duration>::write(value.time_since_epoch(), to);
  }
  static bool decode(std::string_view& in, std::chrono::sys_time<Duration>& value) {
    Duration since{};
    if (!ValueCodec<Duration>::decode(in, since)) return false;
    value = std::chrono::sys_time<Duration>(since);
    return true;
  }
  static std::string signature() { return internal::tick_name<Period>("time"); }
};

/// 0x00 for nothing, or 0x01 and the value.
template <class V>
struct ValueCodec<std::optional<V>> {
  static constexpr bool is_missing = !Value<V>;
  static void encode(const std::optional<V>& value, std::string& out) {
    out.push_back(value ? '\1' : '\0');
    if (value) ValueCodec<V>::encode(*value, out);
  }
  static std::size_t size_max(const std::optional<V>& value) noexcept
    requires internal::DirectValue<V>
  {
    return value ? 1 + ValueCodec<V>::size_max(*value) : 1;
  }
  static char* write(const std::optional<V>& value, char* to) noexcept
    requires internal::DirectValue<V>
  {
    *to++ = value ? '\1' : '\0';
    return value ? ValueCodec<V>::write(*value, to) : to;
  }
  static bool decode(std::string_view& in, std::optional<V>& value) {
    bool has_value = false;
    if (!internal::take_bool(in, has_value)) return false;
    if (has_value) return ValueCodec<V>::decode(in, value.emplace());
    value.reset();
    return true;
  }
  static std::string signature() { return ValueCodec<V>::signature() + "?"; }
};

/// The components one after the other, of a tuple, a pair or a struct with `weir_fields`.
template <internal::Composite V>
struct ValueCodec<V> {
  static constexpr bool is_missing = []<class... Ts>(internal::TypeList<Ts...>) {
    return !(Value<Ts> && ...);
  }(internal::Components<V>());
  template <class... Ts>
  static constexpr bool is_direct(internal::TypeList<Ts...>) {
    return (internal::DirectValue<Ts> && ...);
  }
  static void encode(const V& value, std::string& out) {
    if constexpr (internal::DirectValue<V>) {
      const std::size_t before = out.size();
      out.resize(before + size_max(value));
      out.resize(static_cast<std::size_t>(write(value, out.data() + before) - out.data()));
    } else {
      internal::apply_components(
          [&]<class... Ts>(const Ts&... components) {
            (ValueCodec<Ts>::encode(components, out), ...);
          },
          value);
    }
  }
  static std::size_t size_max(const V& value) noexcept
    requires(is_direct(internal::Components<V>()))
  {
    return internal::apply_components(
        []<class... Ts>(const Ts&... components) {
          return (ValueCodec<Ts>::size_max(components) + ...);
        },
        value);
  }
  static char* write(const V& value, char* to) noexcept
    requires(is_direct(internal::Components<V>()))
  {
    internal::apply_components(
        [&]<class... Ts>(const Ts&... components) {
          ((to = ValueCodec<Ts>::write(components, to)), ...);
        },
        value);
    return to;
  }
  static bool decode(std::string_view& in, V& value) {
    // Of a type that contains itself, bytes would decide how deep the stack goes. Whether it is a
    // value then depends on itself, which the compiler reports.
    static_assert(Value<V> || is_missing);
    return internal::apply_components(
        [&]<class... Ts>(Ts&... components) {
          return (ValueCodec<Ts>::decode(in, components) && ...);
        },
        value);
  }
  static std::string signature() {
    return internal::joined_name<ValueCodec>(internal::Components<V>(), '(', ',', ')');
  }
};

/// How many there are as a varint, and each.
template <class V>
struct ValueCodec<std::vector<V>> {
  static constexpr bool is_missing = !Value<V>;
  static void encode(const std::vector<V>& value, std::string& out) {
    internal::append_varint(value.size(), out);
    for (const V& item : value) ValueCodec<V>::encode(item, out);
  }
  static std::size_t size_max(const std::vector<V>& value) noexcept
    requires internal::DirectValue<V>
  {
    std::size_t size = internal::varint_bytes_max;
    for (const V& item : value) size += ValueCodec<V>::size_max(item);
    return size;
  }
  static char* write(const std::vector<V>& value, char* to) noexcept
    requires internal::DirectValue<V>
  {
    to = internal::write_varint(value.size(), to);
    for (const V& item : value) to = ValueCodec<V>::write(item, to);
    return to;
  }
  static bool decode(std::string_view& in, std::vector<V>& value) {
    std::uint64_t count = 0;
    if (!internal::take_count(in, count)) return false;
    value.clear();
    // An item in memory may be far larger than its bytes: what is reserved for a count that may be
    // wrong has a bound of its own.
    value.reserve(std::min<std::size_t>(count, 1024));
    for (; count > 0; --count) {
      V item{};
      if (!ValueCodec<V>::decode(in, item)) return false;
      value.push_back(std::move(item));
    }
    return true;
  }
  static std::string signature() { return "[" + ValueCodec<V>::signature() + "]"; }
};

/// How many entries there are as a varint, and each key with its value, in the order of the keys.
template <class K, class V>
struct ValueCodec<std::map<K, V>> {
  static constexpr bool is_missing = !(Value<K> && Value<V>);
  static void encode(const std::map<K, V>& value, std::string& out) {
    internal::append_varint(value.size(), out);
    for (const auto& [key, mapped] : value) {
      ValueCodec<K>::encode(key, out);
      ValueCodec<V>::encode(mapped, out);
    }
  }
  static std::size_t size_max(const std::map<K, V>& value) noexcept
    requires(internal::DirectValue<K> && internal::DirectValue<V>)
  {
    std::size_t size = internal::varint_bytes_max;
    for (const auto& [key, mapped] : value) {
      size += ValueCodec<K>::size_max(key) + ValueCodec<V>::size_max(mapped);
    }
    return size;
  }
  static char* write(const std::map<K, V>& value, char* to) noexcept
    requires(internal::DirectValue<K> && internal::DirectValue<V>)
  {
    to = internal::write_varint(value.size(), to);
    for (const auto& [key, mapped] : value) {
      to = ValueCodec<V>::write(mapped, ValueCodec<K>::write(key, to));
    }
    return to;
  }
  static bool decode(std::string_view& in, std::map<K, V>& value) {
    std::uint64_t count = 0;
    if (!internal::take_count(in, count)) return false;
    value.clear();
    for (; count > 0; --count) {
      std::pair<K, V> entry;
      if (!ValueCodec<std::pair<K, V>>::decode(in, entry)) return false;
      if (!value.empty() && !(value.rbegin()->first < entry.first)) return false;
      value.insert(value.end(), std::move(entry));
    }
    return true;
  }
  static std::string signature() {
    return "{" + ValueCodec<K>::signature() + ":" + ValueCodec<V>::signature() + "}";
  }
};

/// No bytes: only a variant, whose index tells that it is there, can hold it.
template <>
struct ValueCodec<std::monostate> {
  static constexpr bool is_missing = true;
  static void encode(std::monostate, std::string&) {}
  static bool decode(std::string_view&, std::monostate&) { return true; }
  static std::string signature() { return "none"; }
};

/// The index of the alternative as a varint, and its value.
template <class... Vs>
struct ValueCodec<std::variant<Vs...>> {
  using Variant = std::variant<Vs...>;
  static constexpr bool is_missing = !((Value<Vs> || std::is_same_v<Vs, std::monostate>) && ...);
  static void encode(const Variant& value, std::string& out) {
    internal::append_varint(value.index(), out);
    std::visit([&]<class V>(const V& held) { ValueCodec<V>::encode(held, out); }, value);
  }
  static bool decode(std::string_view& in, Variant& value) {
    std::uint64_t index = 0;
    if (!internal::take_varint(in, sizeof...(Vs) - 1, index)) return false;
    return decode_alternative(in, value, index, std::index_sequence_for<Vs...>());
  }
  static std::string signature() {
    return internal::joined_name<ValueCodec>(internal::TypeList<Vs...>(), '<', '|', '>');
  }

 private:
  template <std::size_t... Indices>
  static bool decode_alternative(std::string_view& in, Variant& value, std::size_t index,
                                 std::index_sequence<Indices...>) {
    return ((index == Indices && ValueCodec<Vs>::decode(in, value.template emplace<Indices>())) ||
            ...);
  }
};

/// As a whole value: text and bytes are stored as they are, everything else with its codec.
template <class V>
void append_value(const V& value, std::string& out) {
  if constexpr (std::is_same_v<V, std::string> || std::is_same_v<V, std::string_view>) {
    out.append(value);
  } else if constexpr (std::is_same_v<V, std::vector<std::byte>>) {
    out.append(internal::as_text(value));
  } else {
    ValueCodec<V>::encode(value, out);
  }
}
template <class V>
std::string encode_value(const V& value) {
  std::string bytes;
  append_value(value, bytes);
  return bytes;
}

/// The value whose bytes these are, all of them; `Errc::corruption` if there is none.
template <class V>
Result<V> decode_value(std::string_view bytes) {
  Result<V> value;
  if constexpr (std::is_same_v<V, std::string>) {
    *value = bytes;
    return value;
  } else if constexpr (std::is_same_v<V, std::vector<std::byte>>) {
    internal::assign(bytes, *value);
    return value;
  } else {
    std::string_view rest = bytes;
    const bool is_decoded = ValueCodec<V>::decode(rest, *value);
    if (is_decoded && rest.empty()) return value;
    return internal::corruption({.what = "value",
                                 .signature = ValueCodec<V>::signature(),
                                 .bytes = bytes,
                                 .unread = rest.size(),
                                 .is_complete = is_decoded});
  }
}

}  // namespace weir::storage
