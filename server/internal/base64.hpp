#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::server::internal {

/// RFC 4648: of section 4 with `=` at its end, or of section 5 for addresses, without.
enum class Base64 : std::uint8_t { standard, url };

std::string encode_base64(std::string_view bytes, Base64 form);
/// Strictly what `encode_base64` gives; nothing for any other text.
std::optional<std::string> decode_base64(std::string_view text, Base64 form);

std::string encode_hex(std::string_view bytes);
std::optional<std::string> decode_hex(std::string_view text);

}  // namespace weir::server::internal
