#pragma once

#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <weir/runtime/error.hpp>
#include <weir/storage/fields.hpp>

// What the encodings of keys and of values share: kinds of types, their names in signatures, bytes
// in a given order, and the report of bytes that do not decode.
namespace weir::storage::internal {

/// Numbers. Characters are not: their sign and width differ between machines.
template <class T>
concept Integer =
    std::integral<T> && sizeof(T) <= 8 && !std::same_as<T, bool> && !std::same_as<T, char> &&
    !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> && !std::same_as<T, char16_t> &&
    !std::same_as<T, char32_t>;

template <class T>
concept Float = std::same_as<T, float> || std::same_as<T, double>;

/// An enumeration whose underlying type is written down, or is the `int` of an `enum class`: only
/// those are initialised from their number. The type of others may change with an enumerator.
template <class T>
concept FixedEnum = std::is_enum_v<T> && requires { T{std::underlying_type_t<T>{}}; };

template <class T>
concept Byte = std::same_as<T, std::uint8_t> || std::same_as<T, std::byte>;

/// A count of ticks that 64 bits hold.
template <class Rep>
concept TickCount = Integer<Rep> && std::is_signed_v<Rep>;

/// Unsigned of the same width.
template <std::size_t Size>
using Bits = std::conditional_t<
    Size == 1, std::uint8_t,
    std::conditional_t<Size == 2, std::uint16_t,
                       std::conditional_t<Size == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
inline constexpr Bits<sizeof(T)> sign_bit =
    static_cast<Bits<sizeof(T)>>(Bits<sizeof(T)>{1} << (8 * sizeof(T) - 1));

template <std::unsigned_integral Number>
void append_big_endian(Number number, std::string& out) {
  char bytes[sizeof(Number)];
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes[i] = static_cast<char>(number >> (8 * (sizeof(Number) - 1 - i)));
  }
  out.append(bytes, sizeof(Number));
}

template <std::unsigned_integral Number>
bool take_big_endian(std::string_view& in, Number& number) {
  if (in.size() < sizeof(Number)) return false;
  std::uint64_t read = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    read = read << 8 | static_cast<unsigned char>(in[i]);
  }
  number = static_cast<Number>(read);
  in.remove_prefix(sizeof(Number));
  return true;
}

/// `u8` to `i64`.
template <Integer T>
std::string integer_name() {
  return (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
}

/// `duration(1/1000)`: the unit is part of the type.
template <class Period>
std::string tick_name(const char* kind) {
  return std::string(kind) + "(" + std::to_string(Period::num) + "/" + std::to_string(Period::den) +
         ")";
}

/// `(text,i64)`, from the signatures of the components.
template <template <class> class Codec, class... Ts>
std::string joined_name(TypeList<Ts...>, char open, char separator, char close) {
  std::string name;
  ((name += separator, name += Codec<Ts>::signature()), ...);
  name.front() = open;
  return name += close;
}

/// A bool, as keys and values have it: one byte, 0 or 1.
inline bool take_bool(std::string_view& in, bool& out) {
  if (in.empty() || static_cast<unsigned char>(in[0]) > 1) return false;
  out = in[0] != 0;
  in.remove_prefix(1);
  return true;
}

/// `bytes` as a whole that does not decode, of which `unread` were left.
struct Undecoded {
  const char* what;  // "key" or "value"
  std::string signature;
  std::string_view bytes;
  std::size_t unread = 0;
  bool is_complete = false;  // it decoded, but bytes remain
};

/// `Errc::corruption` that says what was expected, where it went wrong, and shows the bytes.
Error corruption(const Undecoded& undecoded);

}  // namespace weir::storage::internal
