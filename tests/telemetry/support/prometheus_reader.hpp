#pragma once

#include <charconv>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weir::telemetry::testing {

/// What a page says, read by the letter of the format; throws on anything that it does not allow.
struct PrometheusReader {
  PrometheusReader(std::string_view page, bool is_openmetrics) {
    if (is_openmetrics) {
      if (!page.ends_with("# EOF\n")) throw std::runtime_error("no end of file");
      page.remove_suffix(6);
    }
    while (!page.empty()) {
      const std::size_t end = page.find('\n');
      if (end == std::string_view::npos) throw std::runtime_error("unfinished line");
      read_line(page.substr(0, end));
      page.remove_prefix(end + 1);
    }
  }

  using LabelMap = std::map<std::string, std::string>;

  std::map<std::string, std::string> types;
  std::map<std::string, std::string> units;
  std::map<std::string, std::string> helps;
  std::map<std::pair<std::string, LabelMap>, std::string> samples;

  double value(const std::string& name, const LabelMap& labels = {}) const {
    const auto found = samples.find({name, labels});
    if (found == samples.end()) throw std::runtime_error("no sample " + name);
    return number(found->second);
  }

 private:
  void read_line(std::string_view line) {
    for (const char c : line) {
      if (static_cast<unsigned char>(c) < 0x20) throw std::runtime_error("control character");
    }
    for (auto [mark, into] : {std::pair("# TYPE ", &types), std::pair("# UNIT ", &units),
                              std::pair("# HELP ", &helps)}) {
      if (line.starts_with(mark)) return read_description(line.substr(7), *into);
    }
    if (line.starts_with('#')) throw std::runtime_error("unknown comment");
    read_sample(line);
  }

  static void read_description(std::string_view rest, std::map<std::string, std::string>& into) {
    const std::string name = read_name(rest);
    expect(rest, ' ');
    if (!into.emplace(name, unescaped(rest)).second) throw std::runtime_error("described twice");
  }

  void read_sample(std::string_view rest) {
    const std::string name = read_name(rest);
    LabelMap labels;
    if (rest.starts_with('{')) {
      do {
        rest.remove_prefix(1);
        const std::string label = read_name(rest);
        expect(rest, '=');
        expect(rest, '"');
        if (!labels.emplace(label, read_quoted(rest)).second)
          throw std::runtime_error("label twice");
      } while (rest.starts_with(','));
      expect(rest, '}');
    }
    expect(rest, ' ');
    number(rest);
    if (!samples.emplace(std::pair(name, labels), rest).second) {
      throw std::runtime_error("series twice: " + name);
    }
  }

  static std::string read_name(std::string_view& rest) {
    std::size_t end = 0;
    const auto is_name = [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
             (end > 0 && c >= '0' && c <= '9');
    };
    while (end < rest.size() && is_name(rest[end])) ++end;
    if (end == 0) throw std::runtime_error("no name");
    const std::string name(rest.substr(0, end));
    rest.remove_prefix(end);
    return name;
  }

  static std::string read_quoted(std::string_view& rest) {
    std::size_t end = 0;
    while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
    if (end >= rest.size()) throw std::runtime_error("open quotation");
    const std::string text = unescaped(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    return text;
  }

  static std::string unescaped(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\') {
        result += text[i];
        continue;
      }
      if (++i == text.size()) throw std::runtime_error("open escape");
      if (text[i] != 'n' && text[i] != '\\' && text[i] != '"') throw std::runtime_error("escape");
      result += text[i] == 'n' ? '\n' : text[i];
    }
    return result;
  }

  static void expect(std::string_view& rest, char c) {
    if (!rest.starts_with(c)) throw std::runtime_error(std::string("expected ") + c);
    rest.remove_prefix(1);
  }

  static double number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw std::runtime_error("no number: " + std::string(text));
    }
    return value;
  }
};

}  // namespace weir::telemetry::testing
