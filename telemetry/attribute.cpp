#include <weir/telemetry/attribute.hpp>

namespace weir::telemetry {
namespace {

// Whether a UTF-8 character begins at this byte.
bool begins_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80u;
}

}  // namespace

std::string Attribute::bounded(std::string_view text) {
  if (text.size() <= text_bytes_max) return std::string(text);
  std::size_t end = text_bytes_max;
  while (end > 0 && !begins_character(text[end])) --end;
  return std::string(text.substr(0, end));
}

}  // namespace weir::telemetry
