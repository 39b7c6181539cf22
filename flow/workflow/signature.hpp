#pragma once

#include <string>
#include <string_view>

// What others hold for us and must not be able to make themselves.
namespace weir::flow::workflow {

/// HMAC-SHA256 of a message: 32 bytes.
std::string sign(std::string_view secret, std::string_view message);

/// Whether two texts are the same; takes as long wherever the first difference is, so that nobody
/// learns a signature byte by byte.
bool are_same(std::string_view left, std::string_view right) noexcept;

}  // namespace weir::flow::workflow
