#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/runtime/result.hpp>
#include <weir/storage/internal/codec.hpp>

// Persisted: never change an encoding in this file, nor a signature. docs/storage_format.md has
// them in one table.
namespace weir::storage {

/// How a key becomes bytes.
///
/// Two properties hold for every codec, and a specialisation of your own keeps them:
///  - the bytes are in the order of the keys, compared as unsigned bytes;
///  - no key's bytes begin with those of another, so that a version, or the next component, can
///    follow them. They are at least one.
///
/// A codec has three static functions:
///
///     static void encode(const K& key, std::string& out);   // appends
///     static bool decode(std::string_view& in, K& key);     // takes what encode appended
///     static std::string signature();                       // names the bytes, as in `(text,i64)`
///
/// `decode` accepts only what `encode` produces, and leaves `in` where it failed. One of fixed
/// width also has `static constexpr std::size_t size`. A store refuses to open a space whose keys
/// have another signature than those it holds.
///
/// Keys are: bool, integers, enumerations with a fixed type, float and double, text, bytes,
/// arrays of bytes, durations, `sys_time`, `std::optional`, `Descending`, and pairs, tuples and
/// structs with `weir_fields` of those.
template <class K>
struct KeyCodec;

/// A type that has a `KeyCodec`.
template <class K>
concept Key = !requires { requires KeyCodec<K>::is_missing; };

namespace internal {

// A class, as it is instantiated once: one message for a type, wherever it is used.
template <class K>
struct RequireKey {
  static_assert(Key<K>,
                "weir: this is not a key type; list its fields with weir_fields, or specialise "
                "weir::storage::KeyCodec");
};

/// Text and bytes: each 0x00 becomes 0x00 0xFF, and 0x00 0x01 ends it.
void append_escaped(std::string_view bytes, std::string& out);
/// The end of `append_escaped` left off: what every text that continues `bytes` begins with.
void append_escaped_prefix(std::string_view bytes, std::string& out);
bool take_escaped(std::string_view& in, std::string& out);
bool take_escaped(std::string_view& in, std::vector<std::byte>& out);

/// Turns the order of encoded keys around.
void complement(std::string& bytes, std::size_t from);

}  // namespace internal

template <class K>
struct KeyCodec {
  static constexpr bool is_missing = true;
  static void encode(const K&, std::string&) { internal::RequireKey<K>(); }
  static bool decode(std::string_view&, K&) { return internal::RequireKey<K>(), false; }
  static std::string signature() { return internal::RequireKey<K>(), std::string(); }
};

/// One byte: 0x00 for false, 0x01 for true.
template <>
struct KeyCodec<bool> {
  static constexpr std::size_t size = 1;
  static void encode(bool key, std::string& out) { out.push_back(key ? '\1' : '\0'); }
  static bool decode(std::string_view& in, bool& key) { return internal::take_bool(in, key); }
  static std::string signature() { return "bool"; }
};

/// Big endian; the sign bit of signed ones is flipped, so that negative numbers come first.
template <internal::Integer K>
struct KeyCodec<K> {
  static constexpr std::size_t size = sizeof(K);
  static void encode(K key, std::string& out) {
    internal::append_big_endian(static_cast<Number>(static_cast<Number>(key) ^ flip), out);
  }
  static bool decode(std::string_view& in, K& key) {
    Number number = 0;
    if (!internal::take_big_endian(in, number)) return false;
    key = static_cast<K>(number ^ flip);
    return true;
  }
  static std::string signature() { return internal::integer_name<K>(); }

 private:
  using Number = internal::Bits<sizeof(K)>;
  static constexpr Number flip = std::is_signed_v<K> ? internal::sign_bit<K> : 0;
};

/// As its underlying type: renaming an enumeration changes nothing, renumbering does.
template <internal::FixedEnum K>
struct KeyCodec<K> {
  using Underlying = std::underlying_type_t<K>;
  static constexpr bool is_missing = !Key<Underlying>;
  static constexpr std::size_t size = sizeof(K);
  static void encode(K key, std::string& out) {
    KeyCodec<Underlying>::encode(static_cast<Underlying>(key), out);
  }
  static bool decode(std::string_view& in, K& key) {
    Underlying number{};
    if (!KeyCodec<Underlying>::decode(in, number)) return false;
    key = static_cast<K>(number);
    return true;
  }
  static std::string signature() { return KeyCodec<Underlying>::signature(); }
};

/// The bits of IEEE 754, big endian: the sign bit flipped for positive numbers, all bits for
/// negative ones. Both zeros are one key; all NaNs are one key, after infinity.
template <internal::Float K>
struct KeyCodec<K> {
  static_assert(std::numeric_limits<K>::is_iec559);
  static constexpr std::size_t size = sizeof(K);
  static void encode(K key, std::string& out) { internal::append_big_endian(ordered(key), out); }
  static bool decode(std::string_view& in, K& key) {
    std::string_view rest = in;
    Number number = 0;
    if (!internal::take_big_endian(rest, number)) return false;
    const bool is_positive = (number & sign) != 0;
    const K read = std::bit_cast<K>(static_cast<Number>(is_positive ? number ^ sign : ~number));
    if (ordered(read) != number) return false;
    key = read;
    in = rest;
    return true;
  }
  static std::string signature() { return sizeof(K) == 4 ? "f32" : "f64"; }

 private:
  using Number = internal::Bits<sizeof(K)>;
  static constexpr Number sign = internal::sign_bit<K>;
  static constexpr Number nan = sizeof(K) == 4 ? Number{0x7FC0'0000} : Number(0x7FF8ull << 48);

  static Number ordered(K key) {
    Number bits = std::bit_cast<Number>(key);
    if (std::isnan(key)) bits = nan;
    if (key == 0) bits = 0;
    return static_cast<Number>((bits & sign) != 0 ? ~bits : bits | sign);
  }
};

/// In the order of its bytes: each 0x00 becomes 0x00 0xFF, and 0x00 0x01 ends it.
template <>
struct KeyCodec<std::string> {
  static void encode(std::string_view key, std::string& out) { internal::append_escaped(key, out); }
  static bool decode(std::string_view& in, std::string& key) {
    return internal::take_escaped(in, key);
  }
  static std::string signature() { return "text"; }
};

/// To look up text without a copy; it is read as `std::string`.
template <>
struct KeyCodec<std::string_view> {
  static void encode(std::string_view key, std::string& out) { internal::append_escaped(key, out); }
  template <class Text>
  static bool decode(std::string_view&, Text&) {
    static_assert(!std::is_same_v<Text, std::string_view>,
                  "weir: a std::string_view has nothing to hold the text of a key that is read; "
                  "use std::string");
    return false;
  }
  static std::string signature() { return "text"; }
};

/// As text.
template <>
struct KeyCodec<std::vector<std::byte>> {
  static void encode(const std::vector<std::byte>& key, std::string& out) {
    internal::append_escaped({reinterpret_cast<const char*>(key.data()), key.size()}, out);
  }
  static bool decode(std::string_view& in, std::vector<std::byte>& key) {
    return internal::take_escaped(in, key);
  }
  static std::string signature() { return "bytes"; }
};

/// An id: its bytes as they are.
template <internal::Byte B, std::size_t Size>
  requires(Size > 0)
struct KeyCodec<std::array<B, Size>> {
  static constexpr std::size_t size = Size;
  static void encode(const std::array<B, Size>& key, std::string& out) {
    out.append(reinterpret_cast<const char*>(key.data()), Size);
  }
  static bool decode(std::string_view& in, std::array<B, Size>& key) {
    if (in.size() < Size) return false;
    for (std::size_t i = 0; i < Size; ++i) key[i] = static_cast<B>(in[i]);
    in.remove_prefix(Size);
    return true;
  }
  static std::string signature() { return "bytes[" + std::to_string(Size) + "]"; }
};

/// As the `i64` of its count.
template <internal::TickCount Rep, class Period>
struct KeyCodec<std::chrono::duration<Rep, Period>> {
  static constexpr std::size_t size = 8;
  static void encode(std::chrono::duration<Rep, Period> key, std::string& out) {
    KeyCodec<std::int64_t>::encode(key.count(), out);
  }
  static bool decode(std::string_view& in, std::chrono::duration<Rep, Period>& key) {
    std::string_view rest = in;
    std::int64_t count = 0;
    if (!KeyCodec<std::int64_t>::decode(rest, count) || !std::in_range<Rep>(count)) return false;
    key = std::chrono::duration<Rep, Period>(static_cast<Rep>(count));
    in = rest;
    return true;
  }
  static std::string signature() { return internal::tick_name<Period>("duration"); }
};

/// As its duration since 1970 in UTC.
template <internal::TickCount Rep, class Period>
struct KeyCodec<std::chrono::sys_time<std::chrono::duration<Rep, Period>>> {
  using Duration = std::chrono::duration<Rep, Period>;
  static constexpr std::size_t size = 8;
  static void encode(std::chrono::sys_time<Duration> key, std::string& out) {
    KeyCodec<Duration>::encode(key.time_since_epoch(), out);
  }
  static bool decode(std::string_view& in, std::chrono::sys_time<Duration>& key) {
    Duration since{};
    if (!KeyCodec<Duration>::decode(in, since)) return false;
    key = std::chrono::sys_time<Duration>(since);
    return true;
  }
  static std::string signature() { return internal::tick_name<Period>("time"); }
};

/// 0x00 for nothing, which comes first, or 0x01 and the key.
template <class K>
struct KeyCodec<std::optional<K>> {
  static constexpr bool is_missing = !Key<K>;
  static void encode(const std::optional<K>& key, std::string& out) {
    out.push_back(key ? '\1' : '\0');
    if (key) KeyCodec<K>::encode(*key, out);
  }
  static bool decode(std::string_view& in, std::optional<K>& key) {
    bool has_value = false;
    if (!internal::take_bool(in, has_value)) return false;
    if (has_value) return KeyCodec<K>::decode(in, key.emplace());
    key.reset();
    return true;
  }
  static std::string signature() { return KeyCodec<K>::signature() + "?"; }
};

/// The components one after the other, of a tuple, a pair or a struct with `weir_fields`.
template <internal::Composite K>
struct KeyCodec<K> {
  static constexpr bool is_missing = []<class... Ts>(internal::TypeList<Ts...>) {
    return !(Key<Ts> && ...);
  }(internal::Components<K>());
  static void encode(const K& key, std::string& out) {
    internal::apply_components(
        [&]<class... Ts>(const Ts&... components) { (KeyCodec<Ts>::encode(components, out), ...); },
        key);
  }
  static bool decode(std::string_view& in, K& key) {
    return internal::apply_components(
        [&]<class... Ts>(Ts&... components) {
          return (KeyCodec<Ts>::decode(in, components) && ...);
        },
        key);
  }
  static std::string signature() {
    return internal::joined_name<KeyCodec>(internal::Components<K>(), '(', ',', ')');
  }
};

/// A key, or a component of one, in the opposite order: `std::pair<UserId, Descending<Time>>` has
/// each user's latest first.
template <class K>
struct Descending {
  K value{};

  friend bool operator==(const Descending& left, const Descending& right) = default;
  friend auto operator<=>(const Descending& left, const Descending& right)
    requires std::three_way_comparable<K>
  {
    return right.value <=> left.value;
  }
};

template <class K>
Descending(K) -> Descending<K>;

/// The complement of each byte. As no key's bytes begin with another's, the first byte that differs
/// orders both, and its complement orders them the other way.
template <class K>
struct KeyCodec<Descending<K>> {
  static constexpr bool is_missing = !Key<K>;
  static void encode(const Descending<K>& key, std::string& out) {
    const std::size_t from = out.size();
    KeyCodec<K>::encode(key.value, out);
    internal::complement(out, from);
  }
  static bool decode(std::string_view& in, Descending<K>& key) {
    std::string bytes;
    if constexpr (requires { KeyCodec<K>::size; }) {
      bytes = in.substr(0, KeyCodec<K>::size);
    } else {
      bytes = in;
    }
    internal::complement(bytes, 0);
    std::string_view rest = bytes;
    const bool is_decoded = KeyCodec<K>::decode(rest, key.value);
    in.remove_prefix(bytes.size() - rest.size());
    return is_decoded;
  }
  static std::string signature() { return "desc(" + KeyCodec<K>::signature() + ")"; }
};

template <class K>
std::string encode_key(const K& key) {
  std::string bytes;
  KeyCodec<K>::encode(key, bytes);
  return bytes;
}

/// The key whose bytes these are, all of them; `Errc::corruption` if there is none.
template <class K>
Result<K> decode_key(std::string_view bytes) {
  Result<K> key;
  std::string_view rest = bytes;
  const bool is_decoded = KeyCodec<K>::decode(rest, *key);
  if (is_decoded && rest.empty()) return key;
  return internal::corruption({.what = "key",
                               .signature = KeyCodec<K>::signature(),
                               .bytes = bytes,
                               .unread = rest.size(),
                               .is_complete = is_decoded});
}

}  // namespace weir::storage
