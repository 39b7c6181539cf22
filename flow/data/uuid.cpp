#include <weir/flow/data/uuid.hpp>

#include <cstddef>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/data/internal/quoted.hpp>

namespace weir::flow::data {
namespace {

constexpr std::size_t text_size = 36;

// A hyphen comes before these bytes.
constexpr bool begins_group(std::size_t byte) noexcept {
  return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

// The value of a hexadecimal digit, -1 if it is none.
constexpr int digit_value(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

bool read(std::string_view text, Uuid& uuid) noexcept {
  if (text.size() != text_size) return false;
  std::size_t position = 0;
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    if (begins_group(i) && text[position++] != '-') return false;
    const int high = digit_value(text[position++]);
    const int low = digit_value(text[position++]);
    if (high < 0 || low < 0) return false;
    uuid.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

}  // namespace

Result<Uuid> parse_uuid(std::string_view text) {
  Uuid uuid;
  if (read(text, uuid)) return uuid;
  return Error(Errc::invalid_value,
               "uuid " + internal::quoted(text) +
                   ": expected 8-4-4-4-12 hexadecimal digits, with hyphens between them");
}

std::string to_string(const Uuid& uuid) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(text_size);
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    if (begins_group(i)) text.push_back('-');
    text.push_back(digits[uuid.bytes[i] >> 4u]);
    text.push_back(digits[uuid.bytes[i] & 0x0Fu]);
  }
  return text;
}

}  // namespace weir::flow::data
