#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/server/internal/problem.hpp>

namespace weir::server::internal {

/// The parts of a request's target. Nothing is resolved: `..` is a segment like any other, and
/// names nothing.
struct Target {
  /// Of the path, still encoded.
  std::vector<std::string_view> segments;
  /// Decoded, in their order.
  std::vector<std::pair<std::string, std::string>> query;
};

/// Of `/path?query`, or of the same behind `http://host`. Refers to `text`. A problem if it is
/// malformed, names a parameter twice or is not UTF-8 when decoded.
Outcome<Target> parse_target(std::string_view text);

/// With `%41` as `A`; nothing if that is malformed or not UTF-8.
std::optional<std::string> decode_percent(std::string_view text, bool plus_is_space = false);
/// Whether `decode_percent` gives something.
bool is_encoded_utf8(std::string_view text);
/// All but letters, digits and `-._~` as `%41`.
std::string encode_percent(std::string_view text);

}  // namespace weir::server::internal
