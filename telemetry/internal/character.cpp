#include <weir/telemetry/internal/character.hpp>

#include <charconv>

namespace weir::telemetry::internal {
namespace {

constexpr std::string_view lower_digits = "0123456789abcdef";

// How many bytes the character has that begins with this one; zero if none does.
std::size_t length_of(unsigned first) noexcept {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

// Neither longer than need be, nor half of a surrogate pair, nor beyond the last character.
bool is_scalar(char32_t code, std::size_t bytes) noexcept {
  if (code >= 0xD800 && code <= 0xDFFF) return false;
  return !(bytes == 3 && code < 0x800) && !(bytes == 4 && (code < 0x10000 || code > 0x10FFFF));
}

}  // namespace

Character first_character(std::string_view text) noexcept {
  const unsigned first = byte_at(text, 0);
  const std::size_t bytes = length_of(first);
  const Character broken{.code = first};
  if (bytes == 0 || bytes > text.size()) return broken;
  if (bytes == 1) return {.code = first, .bytes = 1, .is_valid = true};
  char32_t code = first & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, i) & 0xC0u) != 0x80u) return broken;
    code = code << 6 | (byte_at(text, i) & 0x3Fu);
  }
  if (!is_scalar(code, bytes)) return broken;
  return {.code = code, .bytes = bytes, .is_valid = true};
}

bool is_control(char32_t code) noexcept {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return true;
  const bool ends_line = code == 0x2028 || code == 0x2029;
  const bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
                     code == 0x200E || code == 0x200F || code == 0x061C;
  return ends_line || turns;
}

std::string escape_of(const Character& character, char first_byte) {
  if (character.bytes > 1) {
    std::string text = "\\u";
    for (int shift = 12; shift >= 0; shift -= 4)
      text += lower_digits[character.code >> shift & 0xFu];
    return text;
  }
  const auto byte = static_cast<unsigned char>(first_byte);
  return {'\\', 'x', lower_digits[byte >> 4], lower_digits[byte & 0xFu]};
}

std::string number_text(double value) {
  char buffer[32];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {buffer, end.ptr};
}

}  // namespace weir::telemetry::internal
