#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace weir::telemetry {

using AttributeValue = std::variant<bool, std::int64_t, double, std::string>;

/// A name and a value where they are written down, at the cost of nothing: they are copied only if
/// somebody records them.
struct AttributeView {
  AttributeView(std::string_view attribute_name, bool v) noexcept
      : name(attribute_name), value(v) {}
  template <std::integral Int>
    requires(!std::same_as<Int, bool>)
  AttributeView(std::string_view attribute_name, Int v) noexcept
      : name(attribute_name), value(static_cast<std::int64_t>(v)) {}
  AttributeView(std::string_view attribute_name, double v) noexcept
      : name(attribute_name), value(v) {}
  AttributeView(std::string_view attribute_name, std::string_view text) noexcept
      : name(attribute_name), value(text) {}
  AttributeView(std::string_view attribute_name, const char* text) noexcept
      : name(attribute_name), value(std::string_view(text)) {}
  AttributeView(std::string_view attribute_name, const std::string& text) noexcept
      : name(attribute_name), value(std::string_view(text)) {}

  std::string_view name;
  std::variant<bool, std::int64_t, double, std::string_view> value;
};
using AttributeList = std::initializer_list<AttributeView>;

/// One fact about a span, an event, a measurement or a log line. Names follow OpenTelemetry:
/// lower case, parts separated by dots.
struct Attribute {
  Attribute(std::string_view attribute_name, bool v) : name(attribute_name), value(v) {}
  template <std::integral Int>
    requires(!std::same_as<Int, bool>)
  Attribute(std::string_view attribute_name, Int v)
      : name(attribute_name), value(static_cast<std::int64_t>(v)) {}
  Attribute(std::string_view attribute_name, double v) : name(attribute_name), value(v) {}
  Attribute(std::string_view attribute_name, std::string_view text)
      : name(attribute_name), value(bounded(text)) {}
  Attribute(std::string_view attribute_name, const char* text)
      : Attribute(attribute_name, std::string_view(text)) {}
  explicit Attribute(const AttributeView& view);

  friend bool operator==(const Attribute&, const Attribute&) = default;

  /// Longer texts are cut, at the end of a character.
  static constexpr std::size_t text_bytes_max = 4096;
  static std::string bounded(std::string_view text) { return std::string(cut(text)); }
  static std::string_view cut(std::string_view text,
                              std::size_t bytes_max = text_bytes_max) noexcept;

  std::string name;
  AttributeValue value;
};

using Attributes = std::vector<Attribute>;

}  // namespace weir::telemetry
