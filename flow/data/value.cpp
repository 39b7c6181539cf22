#include <weir/flow/data/value.hpp>

#include <array>
#include <charconv>
#include <cmath>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/data/internal/quoted.hpp>
#include <weir/flow/data/utf8.hpp>

namespace weir::flow::data {
namespace {

constexpr std::size_t shown_bytes_max = 40;

std::string hexadecimal(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "0x";
  for (const char byte : bytes.substr(0, shown_bytes_max)) {
    out += digits[static_cast<unsigned char>(byte) >> 4];
    out += digits[static_cast<unsigned char>(byte) & 15];
  }
  if (bytes.size() > shown_bytes_max) out += "...";
  return out;
}

/// The same text for equal numbers: NaN and zero have no sign.
std::string shortest(double value) {
  if (std::isnan(value)) return "nan";
  if (value == 0) return "0";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

struct ToString {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return shortest(value); }
  std::string operator()(const std::string& value) const { return internal::quoted(value); }
  std::string operator()(const Bytes& value) const { return hexadecimal(value.content); }
  template <class T>
  std::string operator()(const T& value) const {
    return data::to_string(value);
  }
};

struct Check {
  Result<> operator()(const Decimal& decimal) const {
    if (is_coefficient(decimal.coefficient) && decimal.scale <= decimal_digits_max) return {};
    return Error(Errc::overflow, "a decimal has 38 digits at most, and as many behind the point");
  }
  Result<> operator()(const std::string& text) const {
    if (is_utf8(text)) return {};
    return Error(Errc::invalid_value, internal::quoted(text) + " is not UTF-8");
  }
  Result<> operator()(Timestamp time) const { return check_range(is_in_range(time)); }
  Result<> operator()(Date date) const { return check_range(is_in_range(date)); }
  template <class T>
  Result<> operator()(const T&) const {
    return {};
  }

 private:
  static Result<> check_range(bool is_in_range) {
    if (is_in_range) return {};
    return Error(Errc::overflow, "dates and times are from year 1 to 9999");
  }
};

}  // namespace

std::weak_ordering compare_floats(double a, double b) noexcept {
  if (a < b) return std::weak_ordering::less;
  if (a > b) return std::weak_ordering::greater;
  if (a == b) return std::weak_ordering::equivalent;
  return std::isnan(a) <=> std::isnan(b);
}

std::optional<DataType> Value::type() const noexcept {
  if (is_null()) return std::nullopt;
  if (const auto* decimal = std::get_if<Decimal>(&content_)) {
    return DataType::decimal(decimal->scale);
  }
  return static_cast<Kind>(content_.index());
}

std::weak_ordering Value::compare(const Value& a, const Value& b) noexcept {
  if (a.content_.index() != b.content_.index()) return a.content_.index() <=> b.content_.index();
  return std::visit(
      [&b]<class T>(const T& left) -> std::weak_ordering {
        const T& right = *std::get_if<T>(&b.content_);
        if constexpr (std::is_same_v<T, double>) {
          return compare_floats(left, right);
        } else {
          return left <=> right;
        }
      },
      a.content_);
}

Result<> check_value(const Value& value) { return std::visit(Check(), value.content()); }

std::string to_string(const Value& value) { return std::visit(ToString(), value.content()); }

}  // namespace weir::flow::data
