#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::telemetry::internal {

inline std::uint8_t byte_at(std::string_view text, std::size_t index) noexcept {
  return static_cast<std::uint8_t>(text[index]);
}

/// One character of a text that may not be UTF-8.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool is_valid = false;  // otherwise a byte that begins no character
};

/// The first character of a text that is not empty.
Character first_character(std::string_view text) noexcept;

/// What a text may hold that would do something to a terminal or a parser of lines instead of being
/// seen: control characters, ends of lines or paragraphs, changes of the direction of writing.
bool is_control(char32_t code) noexcept;

/// U+FFFD in UTF-8, which stands for what is no character.
inline constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// `\xNN` for a byte, `\uNNNN` for other characters that must not be printed as they are.
std::string escape_of(const Character& character, char first_byte);

/// The shortest digits that give the same number back; `nan`, `inf`, `-inf`.
std::string number_text(double value);

}  // namespace weir::telemetry::internal
