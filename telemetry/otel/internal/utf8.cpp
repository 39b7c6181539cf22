#include <weir/telemetry/otel/internal/utf8.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weir::telemetry::otel {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

struct Form {
  std::size_t length;       // of the character, in bytes
  std::uint32_t first_min;  // the least code point that needs so many: less is an overlong form
};

Form form_of(unsigned char lead) noexcept {
  if (lead < 0x80) return {1, 0};
  if (lead >= 0xC2 && lead < 0xE0) return {2, 0x80};
  if (lead >= 0xE0 && lead < 0xF0) return {3, 0x800};
  if (lead >= 0xF0 && lead < 0xF5) return {4, 0x10000};
  return {0, 0};
}

// The length of the character at the start of `text`, zero if there is none.
std::size_t character_length(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  const Form form = form_of(lead);
  if (form.length <= 1 || form.length > text.size()) return form.length == 1 ? 1 : 0;
  std::uint32_t point = lead & (0x7Fu >> form.length);
  for (std::size_t i = 1; i < form.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0u) != 0x80u) return 0;
    point = point << 6 | (byte & 0x3Fu);
  }
  const bool is_surrogate = point >= 0xD800 && point <= 0xDFFF;
  return point < form.first_min || point > 0x10FFFF || is_surrogate ? 0 : form.length;
}

// Past the characters of one byte from `begin` on, eight at a time where there are so many.
std::size_t skip_ascii(std::string_view text, std::size_t begin) noexcept {
  constexpr std::uint64_t high_bits = 0x8080'8080'8080'8080;
  std::uint64_t eight = 0;
  while (text.size() - begin >= sizeof(eight)) {
    std::memcpy(&eight, text.data() + begin, sizeof(eight));
    if ((eight & high_bits) != 0) break;
    begin += sizeof(eight);
  }
  while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0x80) == 0) ++begin;
  return begin;
}

std::size_t valid_prefix(std::string_view text) noexcept {
  std::size_t end = 0;
  while ((end = skip_ascii(text, end)) < text.size()) {
    const std::size_t length = character_length(text.substr(end));
    if (length == 0) break;
    end += length;
  }
  return end;
}

}  // namespace

Utf8Text::Utf8Text(std::string_view text) : view_(text) {
  std::size_t end = valid_prefix(text);
  if (end == text.size()) return;
  while (true) {
    repaired_.append(text.substr(0, end));
    text.remove_prefix(end);
    if (text.empty()) break;
    repaired_.append(replacement);
    text.remove_prefix(1);
    end = valid_prefix(text);
  }
  view_ = repaired_;
}

}  // namespace weir::telemetry::otel
