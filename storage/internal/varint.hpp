#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// Persisted: never change. Numbers and lengths as values have them.
namespace weir::storage::internal {

/// Seven bits in each byte, the lowest first; all but the last byte have their high bit set.
void append_varint(std::uint64_t number, std::string& out);
inline constexpr std::size_t varint_bytes_max = 10;
/// Writes the same bytes where there is room for them; gives their end.
inline char* write_varint(std::uint64_t number, char* to) noexcept {
  for (; number >= 0x80; number >>= 7) *to++ = static_cast<char>(number | 0x80);
  *to++ = static_cast<char>(number);
  return to;
}
bool take_long_varint(std::string_view& in, std::uint64_t max, std::uint64_t& number);
/// Refuses what is longer than it need be, or larger than `max`.
inline bool take_varint(std::string_view& in, std::uint64_t max, std::uint64_t& number) {
  const bool is_short = !in.empty() && static_cast<unsigned char>(in.front()) < 0x80;
  if (!is_short) return take_long_varint(in, max, number);
  const auto byte = static_cast<unsigned char>(in.front());
  if (byte > max) return false;
  number = byte;
  in.remove_prefix(1);
  return true;
}

/// 0, -1, 1, -2 ... as 0, 1, 2, 3 ...: small numbers of either sign are short.
constexpr std::uint64_t zigzag(std::int64_t number) noexcept {
  return static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t number) noexcept {
  return static_cast<std::int64_t>(number >> 1 ^ (~(number & 1) + 1));
}

/// The length as a varint, and the bytes.
void append_sized(std::string_view bytes, std::string& out);
inline char* write_sized(std::string_view bytes, char* to) noexcept {
  to = write_varint(bytes.size(), to);
  // Text may have nowhere to be copied from.
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}
bool take_sized(std::string_view& in, std::string_view& bytes);

inline std::string_view as_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline void assign(std::string_view from, std::vector<std::byte>& to) {
  const auto* first = reinterpret_cast<const std::byte*>(from.data());
  to.assign(first, first + from.size());
}

/// As each item has a byte at least, there are not more of them than bytes.
inline bool take_count(std::string_view& in, std::uint64_t& count) {
  std::string_view rest = in;
  if (!take_varint(rest, ~std::uint64_t{0}, count) || count > rest.size()) return false;
  in = rest;
  return true;
}

}  // namespace weir::storage::internal
