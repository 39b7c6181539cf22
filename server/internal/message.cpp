#include <weir/server/internal/message.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace weir::server::internal {
namespace {

void append_header(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

char to_lower(char character) noexcept {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character + 32) : character;
}

}  // namespace

bool names_token(std::string_view list, std::string_view token) noexcept {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view item = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (item.starts_with(' ') || item.starts_with('\t')) item.remove_prefix(1);
    while (item.ends_with(' ') || item.ends_with('\t')) item.remove_suffix(1);
    if (std::ranges::equal(item, token, {}, to_lower, to_lower)) return true;
  }
  return false;
}

std::string print_http_date(std::int64_t second) {
  constexpr std::array days = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_seconds time{std::chrono::seconds(second)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT",
                days[std::chrono::weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
                months[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

void append_response(std::string& out, const Response& response, const ResponseFrame& frame) {
  out += frame.is_http_1_0 ? "HTTP/1.0 " : "HTTP/1.1 ";
  out += std::to_string(response.status);
  out += ' ';
  out += phrase_of(response.status);
  out += "\r\n";
  append_header(out, "Date", frame.date);
  if (has_body(response.status)) {
    append_header(out, "Content-Type", response.type);
    append_header(out, "Content-Length", std::to_string(response.body.size()));
  }
  append_header(out, "Cache-Control", response.cache);
  // Its type is what it says, and never to be guessed at.
  append_header(out, "X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers) append_header(out, name, value);
  if (response.status == 101) {
    out += "Connection: Upgrade\r\n";
  } else if (!frame.keeps_alive) {
    out += "Connection: close\r\n";
  } else if (frame.is_http_1_0) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
  if (!frame.is_head && has_body(response.status)) out += response.body;
}

}  // namespace weir::server::internal
