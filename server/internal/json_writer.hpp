#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::server::internal {

/// Writes JSON into a string, value by value. Commas are its own affair.
///
///     json.begin_object().key("version").number(7).key("rows").begin_array();
class JsonWriter {
 public:
  explicit JsonWriter(std::string* out) noexcept : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& null();
  JsonWriter& boolean(bool value);
  /// A number as long as every reader of JSON keeps all of its digits, up to 2^53 - 1; a string
  /// beyond.
  JsonWriter& number(std::int64_t value);
  JsonWriter& number(std::uint64_t value);
  /// With as few digits as give the same double again. What JSON has no number for is a string:
  /// `"NaN"`, `"Infinity"`, `"-Infinity"`.
  JsonWriter& number(double value);
  /// UTF-8; other bytes become U+FFFD.
  JsonWriter& text(std::string_view value);
  /// JSON that was made elsewhere.
  JsonWriter& raw(std::string_view json);

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void begin_value();

  std::string* out_;
  bool needs_comma_ = false;
};

void append_json_text(std::string& out, std::string_view value);

}  // namespace weir::server::internal
