#pragma once

#include <string>
#include <string_view>

namespace weir::storage::internal {

/// Stored bytes for a message: hexadecimal, shortened if long.
inline std::string printable(std::string_view bytes) {
  constexpr std::size_t shown_max = 32;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "0x";
  for (const char byte : bytes.substr(0, shown_max)) {
    out.push_back(digits[static_cast<unsigned char>(byte) >> 4]);
    out.push_back(digits[static_cast<unsigned char>(byte) & 15]);
  }
  if (bytes.size() > shown_max) out += "...";
  return out;
}

}  // namespace weir::storage::internal
