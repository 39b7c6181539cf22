#include <weir/cli/json.hpp>

#include <charconv>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace weir::cli {

using boost::json::value;

const value& at(const value& from, std::string_view name) {
  static const value nothing;
  if (!from.is_object()) return nothing;
  const value* found = from.get_object().if_contains(name);
  return found ? *found : nothing;
}

const boost::json::array& items(const value& from, std::string_view name) {
  static const boost::json::array nothing;
  const value& found = at(from, name);
  return found.is_array() ? found.get_array() : nothing;
}

std::string text(const value& from) {
  if (from.is_null()) return {};
  if (from.is_string()) return std::string(std::string_view(from.get_string()));
  if (from.is_double()) {
    char digits[32];
    const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), from.get_double());
    return {digits, end};
  }
  return boost::json::serialize(from);
}

std::string text(const value& from, std::string_view name) { return text(at(from, name)); }

double number(const value& from, std::string_view name) {
  const value& found = at(from, name);
  if (found.is_double()) return found.get_double();
  return static_cast<double>(count(from, name));
}

std::uint64_t count(const value& from, std::string_view name) {
  const value& found = at(from, name);
  if (found.is_uint64()) return found.get_uint64();
  if (found.is_int64())
    return found.get_int64() > 0 ? static_cast<std::uint64_t>(found.get_int64()) : 0;
  std::uint64_t number = 0;
  const std::string digits = text(found);
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

bool flag(const value& from, std::string_view name) {
  const value& found = at(from, name);
  return found.is_bool() && found.get_bool();
}

}  // namespace weir::cli
