#include <weir/cli/format.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace weir::cli {
namespace {

template <class... Values>
std::string print(const char* format, Values... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

bool begins_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

/// U+0080 to U+009F, which some terminals obey as they do escape sequences.
bool is_high_control(std::string_view text, std::size_t at) noexcept {
  return text[at] == '\xC2' && at + 1 < text.size() &&
         static_cast<unsigned char>(text[at + 1]) < 0xA0U;
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t place = text.size(); place > 3;) text.insert(place -= 3, ",");
  return text;
}

std::string bytes(double count) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  for (; count >= 1024 && unit + 1 < units.size(); ++unit) count /= 1024;
  return print(unit == 0 || count >= 100 ? "%.0f %s" : "%.1f %s", count, units[unit]);
}

std::string seconds(double time) {
  if (!(time >= 0)) return "-";
  if (time < 0.0005) return "0 ms";
  if (time < 1) return print("%.0f ms", time * 1000);
  if (time < 60) return print("%.1f s", time);
  const double whole = std::min(std::floor(time), 1e15);
  const auto left = static_cast<unsigned long long>(whole);
  if (left < 3600) return print("%llu min %llu s", left / 60, left % 60);
  if (left < 86400) return print("%llu h %llu min", left / 3600, left % 3600 / 60);
  return print("%llu d %llu h", left / 86400, left % 86400 / 3600);
}

std::string rate(double per_second) {
  if (!(per_second > 0)) return "0/s";
  if (per_second < 10) return print("%.1f/s", per_second);
  return grouped(static_cast<std::uint64_t>(std::llround(std::min(per_second, 1e18)))) + "/s";
}

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (text[at] == '\n') {
      shown += "\\n";
    } else if (text[at] == '\t') {
      shown += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      shown += print("\\x%02x", static_cast<unsigned>(byte));
    } else if (is_high_control(text, at)) {
      shown += print("\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(text[++at])));
    } else {
      shown += text[at];
    }
  }
  return shown;
}

std::size_t columns(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string cut(std::string_view text, std::size_t count) {
  if (columns(text) <= count) return std::string(text);
  std::string kept;
  for (std::size_t at = 0, taken = 0; at < text.size(); ++at) {
    if (begins_character(text[at]) && ++taken >= count) break;
    kept += text[at];
  }
  return kept + (count > 0 ? "…" : "");
}

}  // namespace weir::cli
