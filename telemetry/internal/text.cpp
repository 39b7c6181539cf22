#include <weir/telemetry/internal/text.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

#include <weir/telemetry/internal/character.hpp>

namespace weir::telemetry::internal {
namespace {

constexpr std::size_t quoted_bytes_max = 128;
constexpr std::string_view replacement_character = "\xEF\xBF\xBD";
constexpr std::string_view token_punctuation = "!#$%&'*+-.^_`|~";

char lowered(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_token_character(char c) noexcept {
  const char lower = lowered(c);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
         token_punctuation.find(c) != std::string_view::npos;
}

constexpr int no_digit = -1;

int lower_hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return no_digit;
}

struct Utf8Form {
  std::uint8_t first_min, first_max;    // of the first byte
  std::uint8_t second_min, second_max;  // of the second; all later ones are 0x80 to 0xBF
  std::size_t length;
};

// Unicode, table 3-7: no overlong forms, no surrogates, nothing past U+10FFFF.
constexpr std::array<Utf8Form, 9> utf8_forms{{{0x00, 0x7F, 0x00, 0x00, 1},
                                              {0xC2, 0xDF, 0x80, 0xBF, 2},
                                              {0xE0, 0xE0, 0xA0, 0xBF, 3},
                                              {0xE1, 0xEC, 0x80, 0xBF, 3},
                                              {0xED, 0xED, 0x80, 0x9F, 3},
                                              {0xEE, 0xEF, 0x80, 0xBF, 3},
                                              {0xF0, 0xF0, 0x90, 0xBF, 4},
                                              {0xF1, 0xF3, 0x80, 0xBF, 4},
                                              {0xF4, 0xF4, 0x80, 0x8F, 4}}};

bool has_form(std::string_view text, const Utf8Form& form) noexcept {
  if (text.size() < form.length) return false;
  if (byte_at(text, 0) < form.first_min || byte_at(text, 0) > form.first_max) return false;
  if (form.length == 1) return true;
  if (byte_at(text, 1) < form.second_min || byte_at(text, 1) > form.second_max) return false;
  return std::ranges::all_of(text.substr(2, form.length - 2), [](char c) {
    return (static_cast<std::uint8_t>(c) & 0xC0u) == 0x80u;
  });
}

void append_escaped(std::string& out, std::string_view character) {
  const std::uint8_t first = byte_at(character, 0);
  if (character.size() == 1 && (first < 0x20 || first >= 0x7F)) {
    out += "\\x";
    append_hex(out, std::span(&first, 1));
  } else {
    if (first == '\\' || first == '\'') out += '\\';
    out += character;
  }
}

// U+0080 to U+009F: control characters of more than one byte, which terminals obey as well.
bool is_c1_control(std::string_view character) noexcept {
  return character.size() == 2 && byte_at(character, 0) == 0xC2 && byte_at(character, 1) < 0xA0;
}

}  // namespace

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view take_until(std::string_view& rest, char separator) noexcept {
  const std::size_t at = std::min(rest.find(separator), rest.size());
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return taken;
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), lowered);
  return lower;
}

bool equal_in_any_case(std::string_view left, std::string_view right) noexcept {
  return std::ranges::equal(left, right, {}, lowered, lowered);
}

bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, is_token_character);
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    if (text.size() - at < 3) return std::nullopt;
    const int high = lower_hex_digit(lowered(text[at + 1]));
    const int low = lower_hex_digit(lowered(text[at + 2]));
    if (high == no_digit || low == no_digit) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return decoded;
}

void append_percent_encoded(std::string& out, char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto value = static_cast<std::uint8_t>(byte);
  out += '%';
  out += digits[value >> 4];
  out += digits[value & 15];
}

std::size_t utf8_character_length(std::string_view text) noexcept {
  for (const Utf8Form& form : utf8_forms) {
    if (has_form(text, form)) return form.length;
  }
  return 0;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = utf8_character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string with_utf8_repaired(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_character_length(text);
    repaired += length == 0 ? replacement_character : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return repaired;
}

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  while (!text.empty() && out.size() <= quoted_bytes_max) {
    const std::size_t length = std::max<std::size_t>(utf8_character_length(text), 1);
    const std::string_view character = text.substr(0, length);
    if (is_c1_control(character)) {
      append_escaped(out, character.substr(0, 1));
      append_escaped(out, character.substr(1, 1));
    } else {
      append_escaped(out, character);
    }
    text.remove_prefix(length);
  }
  return out + (text.empty() ? "'" : "...'");
}

void append_hex(std::string& out, std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const std::uint8_t byte : bytes) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
}

bool parse_hex(std::string_view text, std::span<std::uint8_t> bytes) noexcept {
  if (text.size() != 2 * bytes.size()) return false;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const int high = lower_hex_digit(text[2 * at]);
    const int low = lower_hex_digit(text[2 * at + 1]);
    if (high == no_digit || low == no_digit) return false;
    bytes[at] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

}  // namespace weir::telemetry::internal
