#include <weir/server/internal/base64.hpp>

#include <algorithm>

namespace weir::server::internal {
namespace {

std::string_view alphabet_of(Base64 form) noexcept {
  return form == Base64::standard
             ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
             : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
}

constexpr std::string_view hex_digits = "0123456789abcdef";

}  // namespace

std::string encode_base64(std::string_view bytes, Base64 form) {
  const std::string_view alphabet = alphabet_of(form);
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t index = 0; index < 3; ++index)
      group = group << 8 | (index < count ? static_cast<unsigned char>(bytes[at + index]) : 0u);
    for (std::size_t index = 0; index <= count; ++index)
      text += alphabet[group >> (18 - 6 * index) & 63];
    if (form == Base64::standard) text.append(3 - count, '=');
  }
  return text;
}

std::optional<std::string> decode_base64(std::string_view text, Base64 form) {
  const std::string_view alphabet = alphabet_of(form);
  const std::string_view given = text;
  if (form == Base64::standard) {
    for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  }
  std::string bytes;
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (const char character : text) {
    const std::size_t digit = alphabet.find(character);
    if (digit == std::string_view::npos) return std::nullopt;
    group = group << 6 | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 255);
  }
  // One text for each value: no padding that is missing, no bits that are lost.
  if (encode_base64(bytes, form) != given) return std::nullopt;
  return bytes;
}

std::string encode_hex(std::string_view bytes) {
  std::string text;
  for (const char character : bytes) {
    text += hex_digits[static_cast<unsigned char>(character) >> 4];
    text += hex_digits[static_cast<unsigned char>(character) & 15];
  }
  return text;
}

std::optional<std::string> decode_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const std::size_t high = hex_digits.find(text[at]);
    const std::size_t low = hex_digits.find(text[at + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace weir::server::internal
