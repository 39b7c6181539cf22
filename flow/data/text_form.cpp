#include <weir/flow/data/text_form.hpp>

#include <charconv>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/data/internal/quoted.hpp>
#include <weir/flow/data/utf8.hpp>

namespace weir::flow::data {
namespace {

using internal::quoted;

Error not_a(DataType type, std::string_view text) {
  return Error(Errc::invalid_value, quoted(text) + " is not a value of " + to_string(type));
}

template <class T>
Result<Value> parse_number(std::string_view text, DataType type) {
  T number{};
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [rest, error] = std::from_chars(begin, end, number);
  if (error == std::errc::result_out_of_range) {
    return Error(Errc::overflow, quoted(text) + " is out of the range of " + to_string(type));
  }
  if (error != std::errc{} || rest != end) return not_a(type, text);
  return Value(number);
}

Result<Value> parse_boolean(std::string_view text) {
  if (text == "true") return Value(true);
  if (text == "false") return Value(false);
  return not_a(Kind::boolean, text);
}

Result<Value> parse_scaled(std::string_view text, DataType type) {
  auto decimal = parse_decimal(text);
  if (!decimal) return decimal.error();
  Decimal scaled{0, type.scale};
  if (!rescale(decimal->coefficient, decimal->scale, type.scale, scaled.coefficient)) {
    return Error(Errc::overflow, quoted(text) + " is out of the range of " + to_string(type));
  }
  return Value(scaled);
}

template <class T>
Result<Value> as_value(Result<T> parsed) {
  if (!parsed) return std::move(parsed).error();
  return Value(*std::move(parsed));
}

}  // namespace

std::string text_form(const Value& value) {
  if (value.is_null()) return {};
  if (const auto* text = std::get_if<std::string>(&value.content())) return *text;
  return to_string(value);
}

Result<Value> parse_value(std::string_view text, DataType type) {
  switch (type.kind) {
    case Kind::boolean: return parse_boolean(text);
    case Kind::int64: return parse_number<std::int64_t>(text, type);
    case Kind::uint64: return parse_number<std::uint64_t>(text, type);
    case Kind::float64: return parse_number<double>(text, type);
    case Kind::decimal: return parse_scaled(text, type);
    case Kind::text:
      if (!is_utf8(text)) return not_a(type, text);
      return Value(text);
    case Kind::bytes: return not_a(type, text);
    case Kind::timestamp: return as_value(parse_timestamp(text));
    case Kind::date: return as_value(parse_date(text));
    case Kind::duration: return as_value(parse_duration(text));
    case Kind::uuid: return as_value(parse_uuid(text));
  }
  return not_a(type, text);
}

}  // namespace weir::flow::data
