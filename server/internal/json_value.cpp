#include <weir/server/internal/json_value.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <weir/flow/data/text_form.hpp>
#include <weir/server/internal/base64.hpp>
#include <weir/server/internal/target.hpp>

namespace weir::server::internal {

namespace data = flow::data;
using data::DataType;
using data::Kind;
using data::Value;

namespace {

Problem wrong_type(const JsonReader& json, DataType type) {
  return json.refuse("wrong_type", "a value of " + to_string(type) + " is needed, not " +
                                       std::string(json.kind()));
}

Problem invalid(const JsonReader& json, const Error& error) {
  const Problem problem = problem_of(error);
  return json.refuse(problem.code, problem.detail);
}

Outcome<Value> checked(const JsonReader& json, Value value) {
  if (auto fits = data::check_value(value); !fits) return invalid(json, fits.error());
  return value;
}

/// Of digits, or anything else that has a form as text.
Outcome<Value> read_text(const JsonReader& json, DataType type) {
  const auto scalar = json.scalar();
  const auto* text = std::get_if<std::string_view>(&scalar);
  if (!text) return wrong_type(json, type);
  if (type.kind == Kind::bytes) {
    auto bytes = decode_base64(*text, Base64::standard);
    if (!bytes) return json.refuse("invalid_value", "bytes are base64, with = at the end");
    return Value(data::Bytes{*std::move(bytes)});
  }
  auto parsed = data::parse_value(*text, type);
  if (!parsed) return invalid(json, parsed.error());
  return checked(json, *std::move(parsed));
}

Outcome<Value> read_int64(const JsonReader& json) {
  const auto scalar = json.scalar();
  if (const auto* number = std::get_if<std::int64_t>(&scalar)) return Value(*number);
  if (std::holds_alternative<std::uint64_t>(scalar))
    return json.refuse("out_of_range", "the number is out of the range of int64");
  if (const auto* number = std::get_if<double>(&scalar)) {
    if (std::trunc(*number) == *number || std::isinf(*number))
      return json.refuse("out_of_range", "write an integer of int64 with all of its digits");
    return json.refuse("wrong_type", "an integer is needed, without a fraction");
  }
  return read_text(json, Kind::int64);
}

Outcome<Value> read_uint64(const JsonReader& json) {
  const auto scalar = json.scalar();
  if (const auto* number = std::get_if<std::uint64_t>(&scalar)) return Value(*number);
  if (const auto* number = std::get_if<std::int64_t>(&scalar)) {
    if (*number < 0) return json.refuse("out_of_range", "a number of uint64 is not negative");
    return Value(static_cast<std::uint64_t>(*number));
  }
  if (std::holds_alternative<double>(scalar))
    return json.refuse("out_of_range", "write an integer of uint64 with all of its digits");
  return read_text(json, Kind::uint64);
}

Outcome<Value> read_float64(const JsonReader& json) {
  const auto scalar = json.scalar();
  if (const auto* number = std::get_if<double>(&scalar)) {
    if (std::isinf(*number))
      return json.refuse("out_of_range", "the number is out of the range of float64");
    return Value(*number);
  }
  if (const auto* number = std::get_if<std::int64_t>(&scalar))
    return Value(static_cast<double>(*number));
  if (const auto* number = std::get_if<std::uint64_t>(&scalar))
    return Value(static_cast<double>(*number));
  const auto* text = std::get_if<std::string_view>(&scalar);
  if (!text) return wrong_type(json, Kind::float64);
  using Limit = std::numeric_limits<double>;
  if (*text == "NaN") return Value(Limit::quiet_NaN());
  if (*text == "Infinity") return Value(Limit::infinity());
  if (*text == "-Infinity") return Value(-Limit::infinity());
  return json.refuse("invalid_value",
                     R"(as a string, a float64 is "NaN", "Infinity" or "-Infinity")");
}

/// Not of a number with a fraction: that has been rounded to a binary one already.
Outcome<Value> read_decimal(const JsonReader& json, DataType type) {
  const auto scalar = json.scalar();
  std::string digits;
  if (const auto* number = std::get_if<std::int64_t>(&scalar)) digits = std::to_string(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&scalar)) digits = std::to_string(*number);
  if (const auto* text = std::get_if<std::string_view>(&scalar)) digits = *text;
  if (std::holds_alternative<double>(scalar))
    return json.refuse("wrong_type", R"(write a decimal as a string: "19.99")");
  if (digits.empty()) return wrong_type(json, type);
  auto given = data::parse_decimal(digits);
  if (!given) return invalid(json, given.error());
  auto value = data::parse_value(digits, type);
  if (!value) return invalid(json, value.error());
  if (value->as<data::Decimal>() != *given) {
    return json.refuse("out_of_range",
                       "'" + digits + "' has more digits behind the point than " + to_string(type));
  }
  return *std::move(value);
}

Outcome<Value> read_boolean(const JsonReader& json) {
  const auto scalar = json.scalar();
  if (const auto* truth = std::get_if<bool>(&scalar)) return Value(*truth);
  return wrong_type(json, Kind::boolean);
}

/// One column of a row or key, which is not there at all if it has no place in the JSON.
Outcome<Value> read_column(const JsonReader& json, const data::Field& column) {
  const auto field = json.optional(column.name);
  if (!field && !column.is_nullable) {
    return json.refuse_field(column.name, "missing_field",
                             "the column '" + column.name + "' is missing");
  }
  if (!field) return Value();
  if (field->is_null() && !column.is_nullable)
    return field->refuse("null_not_allowed", "'" + column.name + "' is never null");
  return read_value(*field, column.type);
}

/// Those of the schema at `columns`, in this order; no field may be there besides.
template <class Columns>
Outcome<Row> read_columns(const JsonReader& json, const data::Schema& schema,
                          const Columns& columns) {
  auto members = json.members();
  if (!members) return std::move(members).error();
  for (const auto& [name, field] : *members) {
    const auto column = schema.find(name);
    if (!column || std::ranges::find(columns, *column) == std::ranges::end(columns))
      return field.refuse("unknown_field", "there is no column '" + std::string(name) + "' here");
  }
  Row row;
  for (const std::size_t column : columns) {
    auto value = read_column(json, schema[column]);
    if (!value) return std::move(value).error();
    row.push_back(*std::move(value));
  }
  return row;
}

}  // namespace

void write_value(JsonWriter& json, const Value& value) {
  if (value.is_null()) {
    json.null();
    return;
  }
  switch (value.type()->kind) {
    case Kind::boolean: json.boolean(value.as<bool>()); return;
    case Kind::int64: json.number(value.as<std::int64_t>()); return;
    case Kind::uint64: json.number(value.as<std::uint64_t>()); return;
    case Kind::float64: json.number(value.as<double>()); return;
    case Kind::text: json.text(value.as<std::string>()); return;
    case Kind::bytes:
      json.text(encode_base64(value.as<data::Bytes>().content, Base64::standard));
      return;
    default: json.text(data::text_form(value)); return;
  }
}

void write_row(JsonWriter& json, const data::Schema& schema, const Row& row) {
  json.begin_object();
  for (std::size_t column = 0; column < schema.size(); ++column) {
    json.key(schema[column].name);
    write_value(json, row[column]);
  }
  json.end_object();
}

void write_schema(JsonWriter& json, const data::Schema& schema) {
  json.begin_object().key("columns").begin_array();
  for (const data::Field& field : schema.fields()) {
    json.begin_object().key("name").text(field.name).key("type").text(to_string(field.type));
    json.key("nullable").boolean(field.is_nullable).end_object();
  }
  json.end_array().key("primary_key").begin_array();
  for (const std::size_t column : schema.primary_key()) json.text(schema[column].name);
  json.end_array().end_object();
}

Outcome<Value> read_value(const JsonReader& json, DataType type) {
  if (json.is_null()) return Value();
  switch (type.kind) {
    case Kind::boolean: return read_boolean(json);
    case Kind::int64: return read_int64(json);
    case Kind::uint64: return read_uint64(json);
    case Kind::float64: return read_float64(json);
    case Kind::decimal: return read_decimal(json, type);
    default: return read_text(json, type);
  }
}

Outcome<Row> read_row(const JsonReader& json, const data::Schema& schema) {
  std::vector<std::size_t> columns(schema.size());
  for (std::size_t column = 0; column < columns.size(); ++column) columns[column] = column;
  return read_columns(json, schema, columns);
}

Outcome<Row> read_key(const JsonReader& json, const data::Schema& schema) {
  return read_columns(json, schema, schema.primary_key());
}

std::string print_key(const data::Schema& schema, const Row& row) {
  std::string text;
  for (const std::size_t column : schema.primary_key()) {
    if (column != schema.primary_key().front()) text += ',';
    const Value& value = row[column];
    const auto* bytes = std::get_if<data::Bytes>(&value.content());
    text +=
        bytes ? encode_base64(bytes->content, Base64::url) : encode_percent(data::text_form(value));
  }
  return text;
}

Outcome<Row> parse_key(std::string_view segment, const data::Schema& schema) {
  const auto malformed = [&](std::string detail) {
    return Problem{.status = 400, .code = "malformed_key", .detail = std::move(detail)};
  };
  Row key;
  const std::size_t size = schema.primary_key().size();
  if (size == 0) return malformed("rows without a primary key cannot be asked for one by one");
  for (std::size_t index = 0; index < size; ++index) {
    const std::size_t comma = segment.find(',');
    if ((comma == std::string_view::npos) != (index + 1 == size)) {
      return malformed("the primary key has " + std::to_string(size) +
                       " values, with commas between them");
    }
    const auto text = decode_percent(segment.substr(0, comma));
    if (!text) return malformed("a value of the key is not UTF-8, or a % is wrong");
    const data::Field& field = schema[schema.primary_key()[index]];
    if (field.type.kind == Kind::bytes) {
      auto bytes = decode_base64(*text, Base64::url);
      if (!bytes) return malformed("'" + field.name + "' is base64 for addresses, without =");
      key.emplace_back(data::Bytes{*std::move(bytes)});
    } else {
      auto value = data::parse_value(*text, field.type);
      if (!value) return malformed("'" + field.name + "': " + value.error().message());
      key.push_back(*std::move(value));
    }
    if (comma != std::string_view::npos) segment.remove_prefix(comma + 1);
  }
  return key;
}

}  // namespace weir::server::internal
