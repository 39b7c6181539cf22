#include <weir/server/internal/target.hpp>

#include <algorithm>

#include <weir/flow/data/utf8.hpp>

namespace weir::server::internal {
namespace {

Problem malformed_target(std::string detail) {
  return {.status = 400, .code = "malformed_target", .detail = std::move(detail)};
}

int digit(char character) noexcept {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'a' && character <= 'f') return character - 'a' + 10;
  if (character >= 'A' && character <= 'F') return character - 'A' + 10;
  return -1;
}

/// What stands before the path if the whole address is there.
std::string_view without_origin(std::string_view text) noexcept {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    const std::size_t path = text.find_first_of("/?", scheme.size());
    if (path == std::string_view::npos) return "/";
    return text.substr(path);
  }
  return text;
}

std::optional<Problem> parse_query(std::string_view text, Target& target) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    auto name = decode_percent(pair.substr(0, equals), true);
    auto value = equals == std::string_view::npos ? std::optional(std::string())
                                                  : decode_percent(pair.substr(equals + 1), true);
    if (!name || !value) {
      return malformed_target(
          "a query parameter is not UTF-8, or a % in it is not followed by two hexadecimal digits");
    }
    const auto same =
        std::ranges::find(target.query, *name, &std::pair<std::string, std::string>::first);
    if (same != target.query.end()) {
      return Problem{.status = 400,
                     .code = "duplicate_parameter",
                     .detail = "the query parameter '" + *name + "' is there twice"};
    }
    target.query.emplace_back(*std::move(name), *std::move(value));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> decode_percent(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+' && plus_is_space) {
      decoded += ' ';
    } else if (text[at] != '%') {
      decoded += text[at];
    } else {
      if (text.size() - at < 3) return std::nullopt;
      const int high = digit(text[at + 1]);
      const int low = digit(text[at + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      decoded += static_cast<char>(high * 16 + low);
      at += 2;
    }
  }
  if (!flow::data::is_utf8(decoded)) return std::nullopt;
  return decoded;
}

bool is_encoded_utf8(std::string_view text) {
  if (text.find('%') == std::string_view::npos) return flow::data::is_utf8(text);
  return decode_percent(text).has_value();
}

std::string encode_percent(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string encoded;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    const bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                          (byte >= 'a' && byte <= 'z') || byte == '-' || byte == '.' ||
                          byte == '_' || byte == '~';
    if (is_plain) {
      encoded += character;
    } else {
      encoded += '%';
      encoded += hex[byte >> 4];
      encoded += hex[byte & 15];
    }
  }
  return encoded;
}

Outcome<Target> parse_target(std::string_view text) {
  text = without_origin(text);
  if (text.find('#') != std::string_view::npos) return malformed_target("a target has no fragment");
  const std::size_t question = text.find('?');
  std::string_view path = text.substr(0, question);
  if (!path.starts_with('/')) return malformed_target("a target begins with /");
  Target target;
  for (path.remove_prefix(1);;) {
    const std::size_t slash = path.find('/');
    target.segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  if (question != std::string_view::npos) {
    if (auto problem = parse_query(text.substr(question + 1), target)) return *std::move(problem);
  }
  return target;
}

}  // namespace weir::server::internal
