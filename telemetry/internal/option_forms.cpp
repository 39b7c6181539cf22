#include <weir/telemetry/internal/option_forms.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <weir/telemetry/internal/text.hpp>

namespace weir::telemetry::internal {
namespace {

constexpr int port_max = 65'535;

bool is_graphic(char c) noexcept { return c > 0x20 && c < 0x7F; }

bool is_printable(char c) noexcept { return c == ' ' || is_graphic(c); }

bool is_port(std::string_view text) noexcept {
  int port = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, port);
  return error == std::errc{} && stop == end && port > 0 && port <= port_max;
}

// Of a host, and of a header of gRPC.
bool is_name_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._").find(c) != std::string_view::npos;
}

bool is_host(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, is_name_character);
}

bool is_ip6_address(std::string_view text) noexcept {
  return !text.empty() &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

// `localhost`, `collector:4318`, `[::1]:4318`
bool is_authority(std::string_view text) noexcept {
  const bool is_ip6 = text.starts_with('[');
  const std::size_t end = is_ip6 ? text.find(']') : text.find(':');
  if (is_ip6 && end == std::string_view::npos) return false;
  const std::string_view host = is_ip6 ? text.substr(1, end - 1) : text.substr(0, end);
  if (is_ip6 ? !is_ip6_address(host) : !is_host(host)) return false;
  const std::string_view rest = text.substr(std::min(is_ip6 ? end + 1 : end, text.size()));
  return rest.empty() || (rest[0] == ':' && is_port(rest.substr(1)));
}

// Of an authority.
bool has_port(std::string_view text) noexcept {
  const std::size_t colon = text.rfind(':');
  return colon != std::string_view::npos && text.find(']', colon) == std::string_view::npos;
}

}  // namespace

void refuse_option(std::string_view name, std::string_view value, std::string_view accepted) {
  std::string message(name);
  message.append(" is ").append(in_quotes(value)).append("; expected ").append(accepted);
  throw std::invalid_argument(message);
}

std::string number_form(std::int64_t min, std::int64_t max) {
  return "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
}

std::string pem_form_beside(std::string_view other) {
  return std::string(pem_form).append(", and ").append(other).append(" beside it");
}

bool is_ratio(double value) noexcept { return value >= 0 && value <= 1; }

bool is_option_text(std::string_view text) noexcept { return !text.empty() && is_utf8(text); }

bool is_http_url(std::string_view text) noexcept {
  if (!std::ranges::all_of(text, is_graphic)) return false;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!equal_in_any_case(text.substr(0, scheme.size()), scheme)) continue;
    text.remove_prefix(scheme.size());
    return is_authority(text.substr(0, text.find_first_of("/?#")));
  }
  return false;
}

bool is_grpc_target(std::string_view text) noexcept {
  constexpr std::string_view by_name = "dns:///";
  constexpr std::string_view by_path = "unix:";
  if (!std::ranges::all_of(text, is_graphic)) return false;
  if (is_http_url(text)) return true;
  if (text.starts_with(by_path)) return text.size() > by_path.size();
  if (text.starts_with(by_name)) text.remove_prefix(by_name.size());
  return is_authority(text) && has_port(text);
}

bool is_pem_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.view().find("-----BEGIN ") != std::string_view::npos;
}

bool is_http_header(std::string_view name, std::string_view value) noexcept {
  return is_token(name) && std::ranges::all_of(value, is_printable);
}

bool is_grpc_header(std::string_view name, std::string_view value) noexcept {
  return std::ranges::all_of(name, is_name_character) && is_http_header(name, value);
}

}  // namespace weir::telemetry::internal
