#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// The small grammars that headers and environment variables share.
namespace weir::telemetry::internal {

/// Without the spaces and tabs at both ends.
std::string_view trimmed(std::string_view text) noexcept;

/// Takes what stands before the first `separator`, and the separator with it; everything if there
/// is none.
std::string_view take_until(std::string_view& rest, char separator) noexcept;

/// ASCII letters only.
std::string in_lower_case(std::string_view text);

/// Whether ASCII texts are equal but for upper and lower case.
bool equal_in_any_case(std::string_view left, std::string_view right) noexcept;

/// Whether it can be the name of an HTTP header: RFC 7230's `token`.
bool is_token(std::string_view text) noexcept;

/// `%41` becomes `A`; nothing if a `%` is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);
void append_percent_encoded(std::string& out, char byte);

/// The length of the UTF-8 character at the beginning of `text`; 0 if there is none.
std::size_t utf8_character_length(std::string_view text) noexcept;
bool is_utf8(std::string_view text) noexcept;
/// Each byte that belongs to no UTF-8 character becomes U+FFFD.
std::string with_utf8_repaired(std::string_view text);

/// In single quotes, for an error message: control characters escaped, and long texts cut.
std::string in_quotes(std::string_view text);

/// Lower case hexadecimal digits, two for each byte.
void append_hex(std::string& out, std::span<const std::uint8_t> bytes);
/// False, with `bytes` undefined, unless `text` is exactly that: no upper case, no white space.
bool parse_hex(std::string_view text, std::span<std::uint8_t> bytes) noexcept;

}  // namespace weir::telemetry::internal
