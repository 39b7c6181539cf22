#include <weir/flow/data/utf8.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace weir::flow::data {
namespace {

constexpr bool continues(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u;
}

// The bytes of ASCII at the start of `text`, in steps of eight: most text is little else.
std::size_t ascii_prefix(std::string_view text) noexcept {
  std::size_t size = 0;
  for (std::uint64_t word = 0; text.size() - size >= sizeof(word); size += sizeof(word)) {
    std::memcpy(&word, text.data() + size, sizeof(word));
    if ((word & 0x8080'8080'8080'8080u) != 0) break;
  }
  return size;
}

struct Form {
  std::size_t size;  // of the character, zero if no character begins so
  unsigned char second_min;
  unsigned char second_max;
};

// The second byte tells the overlong forms, the surrogates and what lies beyond U+10FFFF: table
// 3-7 of the Unicode standard.
constexpr Form form_of(unsigned char lead) noexcept {
  if (lead < 0xC2) return {0, 0, 0};
  if (lead < 0xE0) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead < 0xF0) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead < 0xF4) return {4, 0x80, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

// The size of the character at the start of `text`, zero if there is none.
std::size_t character_size(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  const Form form = form_of(lead);
  if (form.size == 0 || text.size() < form.size) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  if (second < form.second_min || second > form.second_max) return 0;
  const std::string_view others = text.substr(2, form.size - 2);
  return std::ranges::all_of(others, continues) ? form.size : 0;
}

// `text` without its first `count` characters.
std::string_view skip(std::string_view text, std::size_t count) noexcept {
  std::size_t position = 0;
  for (; count > 0 && position < text.size(); --count) {
    ++position;
    while (position < text.size() && continues(text[position])) ++position;
  }
  return text.substr(position);
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (true) {
    text.remove_prefix(ascii_prefix(text));
    if (text.empty()) return true;
    // As many as the step that found something else, so that other scripts do not look twice.
    const std::size_t end = text.size() > 8 ? text.size() - 8 : 0;
    do {
      const std::size_t size = character_size(text);
      if (size == 0) return false;
      text.remove_prefix(size);
    } while (text.size() > end);
  }
}

std::size_t count_characters(std::string_view text) noexcept {
  const auto continued = std::ranges::count_if(text, continues);
  return text.size() - static_cast<std::size_t>(continued);
}

std::string_view substring(std::string_view text, std::size_t first_character,
                           std::size_t count) noexcept {
  const std::string_view from = skip(text, first_character);
  return from.substr(0, from.size() - skip(from, count).size());
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

std::string to_upper(std::string_view text) {
  std::string upper(text);
  for (char& letter : upper) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return upper;
}

}  // namespace weir::flow::data
