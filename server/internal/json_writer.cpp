#include <weir/server/internal/json_writer.hpp>

#include <array>
#include <charconv>
#include <cmath>

#include <weir/flow/data/utf8.hpp>

namespace weir::server::internal {
namespace {

constexpr std::uint64_t exact_max = (std::uint64_t{1} << 53) - 1;

template <class T>
void append_number(std::string& out, T value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

void append_escaped(std::string& out, char character) {
  constexpr std::string_view hex = "0123456789abcdef";
  switch (character) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  const auto byte = static_cast<unsigned char>(character);
  out += "\\u00";
  out += hex[byte >> 4];
  out += hex[byte & 15];
}

bool needs_escape(char character) noexcept {
  return static_cast<unsigned char>(character) < 0x20 || character == '"' || character == '\\' ||
         character == 0x7f;
}

/// What is not UTF-8 has no place in JSON: each byte of it beyond ASCII is replaced.
std::string replaced(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    if (static_cast<unsigned char>(byte) < 0x80) {
      text += byte;
    } else {
      text += "\xEF\xBF\xBD";
    }
  }
  return text;
}

}  // namespace

void append_json_text(std::string& out, std::string_view value) {
  if (!flow::data::is_utf8(value)) return append_json_text(out, replaced(value));
  out += '"';
  std::size_t plain = 0;
  for (std::size_t at = 0; at < value.size(); ++at) {
    if (!needs_escape(value[at])) continue;
    out.append(value, plain, at - plain);
    append_escaped(out, value[at]);
    plain = at + 1;
  }
  out.append(value, plain);
  out += '"';
}

JsonWriter& JsonWriter::open(char bracket) {
  begin_value();
  *out_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  *out_ += bracket;
  needs_comma_ = true;
  return *this;
}

void JsonWriter::begin_value() {
  if (needs_comma_) *out_ += ',';
  needs_comma_ = true;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  begin_value();
  append_json_text(*out_, name);
  *out_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::null() { return raw("null"); }
JsonWriter& JsonWriter::boolean(bool value) { return raw(value ? "true" : "false"); }

JsonWriter& JsonWriter::number(std::int64_t value) {
  const auto magnitude = value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value)
                                   : static_cast<std::uint64_t>(value);
  begin_value();
  if (magnitude > exact_max) *out_ += '"';
  append_number(*out_, value);
  if (magnitude > exact_max) *out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::number(std::uint64_t value) {
  begin_value();
  if (value > exact_max) *out_ += '"';
  append_number(*out_, value);
  if (value > exact_max) *out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::number(double value) {
  if (std::isnan(value)) return raw("\"NaN\"");
  if (std::isinf(value)) return raw(value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  begin_value();
  append_number(*out_, value);
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  begin_value();
  append_json_text(*out_, value);
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  begin_value();
  *out_ += json;
  return *this;
}

}  // namespace weir::server::internal
