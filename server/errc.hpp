#pragma once

#include <system_error>

namespace weir::server {

/// Why a gateway did not start, or a token was refused.
enum class Errc {
  invalid_argument = 1,
  /// Others could reach it, and nobody would have to say who they are.
  needs_tokens,
  /// The address or port cannot be had.
  cannot_listen,
  /// The certificate or key cannot be read, or they do not belong together.
  bad_certificate,
};

const std::error_category& server_category() noexcept;

inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), server_category()};
}

}  // namespace weir::server

template <>
struct std::is_error_code_enum<weir::server::Errc> : std::true_type {};
