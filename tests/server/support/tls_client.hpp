#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace weir::server::test {

/// Writes a certificate that is signed by itself, for `localhost`, and its key, as PEM.
void write_certificate(const std::filesystem::path& certificate, const std::filesystem::path& key);

/// Sends a request over TLS and gives whatever comes until the server hangs up. Empty if there is
/// no handshake. The certificate is the one to be trusted.
std::string exchange_over_tls(std::uint16_t port, const std::filesystem::path& certificate,
                              std::string_view request, int version_max = 0);

}  // namespace weir::server::test
