#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weir::telemetry::testing {

/// Reads one JSON object of texts, numbers, booleans and objects of those into a flat map; the
/// names within an object are preceded by its own and a dot. Throws on anything else.
class JsonReader {
 public:
  static std::map<std::string, std::string> read(std::string_view text) {
    JsonReader reader(text);
    reader.read_object("");
    if (!reader.rest_.empty()) throw std::runtime_error("more than one value");
    return reader.values_;
  }

 private:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  void read_object(const std::string& prefix) {
    expect('{');
    if (take('}')) return;
    do {
      const std::string name = prefix + read_text();
      expect(':');
      if (rest_.starts_with('{')) {
        read_object(name + '.');
      } else if (!values_.emplace(name, read_scalar()).second) {
        throw std::runtime_error("name twice");
      }
    } while (take(','));
    expect('}');
  }

  std::string read_scalar() {
    if (rest_.starts_with('"')) return read_text();
    const std::size_t end = rest_.find_first_of(",}");
    const std::string word(rest_.substr(0, end));
    const bool is_word = word == "true" || word == "false";
    if (!is_word && (word.empty() || word.find_first_not_of("0123456789+-.e") != word.npos)) {
      throw std::runtime_error("no value: " + word);
    }
    rest_.remove_prefix(word.size());
    return word;
  }

  std::string read_text() {
    expect('"');
    std::string text;
    while (!take('"')) {
      if (rest_.empty()) throw std::runtime_error("open text");
      if (static_cast<unsigned char>(rest_.front()) < 0x20) throw std::runtime_error("control");
      text += take('\\') ? read_escape() : std::string(1, take_any());
    }
    return text;
  }

  std::string read_escape() {
    const char kind = take_any();
    if (kind == 'n') return "\n";
    if (kind == '"' || kind == '\\') return {kind};
    if (kind != 'u' || rest_.size() < 4) throw std::runtime_error("escape");
    const auto code =
        static_cast<unsigned>(std::stoul(std::string(rest_.substr(0, 4)), nullptr, 16));
    rest_.remove_prefix(4);
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) {
      return {static_cast<char>(0xC0u | code >> 6), static_cast<char>(0x80u | (code & 0x3Fu))};
    }
    return {static_cast<char>(0xE0u | code >> 12), static_cast<char>(0x80u | (code >> 6 & 0x3Fu)),
            static_cast<char>(0x80u | (code & 0x3Fu))};
  }

  char take_any() {
    if (rest_.empty()) throw std::runtime_error("too short");
    const char first = rest_.front();
    rest_.remove_prefix(1);
    return first;
  }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw std::runtime_error(std::string("expected ") + c);
  }

  std::string_view rest_;
  std::map<std::string, std::string> values_;
};

}  // namespace weir::telemetry::testing
