#include <weir/telemetry/attribute.hpp>

namespace weir::telemetry {
namespace {

// Whether a UTF-8 character begins at this byte.
bool begins_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80u;
}

}  // namespace

Attribute::Attribute(const AttributeView& view) : name(view.name) {
  if (const auto* text = std::get_if<std::string_view>(&view.value)) {
    value = bounded(*text);
  } else if (const auto* number = std::get_if<std::int64_t>(&view.value)) {
    value = *number;
  } else if (const auto* real = std::get_if<double>(&view.value)) {
    value = *real;
  } else {
    value = std::get<bool>(view.value);
  }
}

std::string_view Attribute::cut(std::string_view text, std::size_t bytes_max) noexcept {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && !begins_character(text[end])) --end;
  return text.substr(0, end);
}

}  // namespace weir::telemetry
