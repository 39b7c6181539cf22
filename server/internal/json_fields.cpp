#include <weir/server/internal/json_fields.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

#include <weir/flow/data/calendar.hpp>
#include <weir/server/internal/base64.hpp>

namespace weir::server::internal {

namespace workflow = flow::workflow;

namespace {

/// More than a century; and what is counted in nanoseconds does not overflow.
constexpr double seconds_max = 4e9;

template <class T>
Refused keep_parsed(const JsonReader& json, Result<T> parsed, T& to) {
  if (!parsed) return json.refuse("invalid_value", parsed.error().detail());
  to = *std::move(parsed);
  return std::nullopt;
}

template <class T>
Refused read_parsed(const JsonReader& json, Result<T> (*parse)(std::string_view), T& to) {
  auto text = json.text();
  if (!text) return std::move(text).error();
  return keep_parsed(json, parse(*text), to);
}

Problem wrong_kind(const JsonReader& json, std::string_view wanted) {
  return json.refuse("wrong_type",
                     std::string(wanted) + " is needed, not " + std::string(json.kind()));
}

}  // namespace

Refused read_json(const JsonReader& json, std::string& to) {
  auto text = json.text();
  if (!text) return std::move(text).error();
  to = *text;
  return std::nullopt;
}

Refused read_json(const JsonReader& json, bool& to) {
  const auto scalar = json.scalar();
  const auto* truth = std::get_if<bool>(&scalar);
  if (!truth) return wrong_kind(json, "a boolean");
  to = *truth;
  return std::nullopt;
}

Refused read_integer(const JsonReader& json, std::int64_t least, std::uint64_t most,
                     std::int64_t& to) {
  const auto scalar = json.scalar();
  const auto out_of_range = [&] {
    return json.refuse("out_of_range", "a number from " + std::to_string(least) + " to " +
                                           std::to_string(most) + " is needed");
  };
  std::int64_t number = 0;
  if (const auto* given = std::get_if<std::int64_t>(&scalar)) {
    number = *given;
  } else if (const auto* text = std::get_if<std::string_view>(&scalar)) {
    const char* end = text->data() + text->size();
    const auto [rest, error] = std::from_chars(text->data(), end, number);
    if (error == std::errc::result_out_of_range) return out_of_range();
    if (error != std::errc{} || rest != end)
      return json.refuse("invalid_value", "'" + std::string(*text) + "' is no number");
  } else if (const auto* fraction = std::get_if<double>(&scalar)) {
    if (std::trunc(*fraction) == *fraction || std::isinf(*fraction)) return out_of_range();
    return json.refuse("wrong_type", "an integer is needed, without a fraction");
  } else if (std::holds_alternative<std::uint64_t>(scalar)) {
    return out_of_range();
  } else {
    return wrong_kind(json, "a number");
  }
  if (number < least || (number > 0 && static_cast<std::uint64_t>(number) > most))
    return out_of_range();
  to = number;
  return std::nullopt;
}

Refused read_json(const JsonReader& json, Duration& to) {
  const auto scalar = json.scalar();
  double seconds = 0;
  if (const auto* number = std::get_if<double>(&scalar)) {
    seconds = *number;
  } else if (const auto* whole = std::get_if<std::int64_t>(&scalar)) {
    seconds = static_cast<double>(*whole);
  } else if (const auto* large = std::get_if<std::uint64_t>(&scalar)) {
    seconds = static_cast<double>(*large);
  } else {
    return wrong_kind(json, "a number of seconds");
  }
  if (!(seconds >= 0 && seconds <= seconds_max))
    return json.refuse("out_of_range", "a time is from 0 to 4000000000 seconds");
  to = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  return std::nullopt;
}

Refused read_json(const JsonReader& json, workflow::Time& to) {
  return read_parsed(json, &flow::data::parse_timestamp, to);
}
Refused read_json(const JsonReader& json, workflow::ExecutionId& to) {
  return read_parsed(json, &workflow::parse_execution_id, to);
}
Refused read_json(const JsonReader& json, workflow::WorkflowId& to) {
  return read_parsed(json, &workflow::parse_workflow_id, to);
}
Refused read_json(const JsonReader& json, workflow::EdgeId& to) {
  return read_parsed(json, &workflow::parse_edge_id, to);
}

Refused read_json(const JsonReader& json, std::map<std::string, std::string>& to) {
  auto members = json.members();
  if (!members) return std::move(members).error();
  to.clear();
  for (const auto& [name, field] : *members)
    if (auto refused = read_json(field, to[std::string(name)])) return refused;
  return std::nullopt;
}

Refused read_json(const JsonReader& json, PayloadField to) {
  if (const auto scalar = json.scalar();
      const auto* text = std::get_if<std::string_view>(&scalar)) {
    *to.bytes = *text;
    return std::nullopt;
  }
  if (json.kind() != "an object") return wrong_kind(json, R"(a string, or {"base64": ".."},)");
  std::string encoded;
  JsonFields fields(json);
  fields.required("base64", encoded);
  if (auto refused = fields.finish()) return refused;
  auto bytes = decode_base64(encoded, Base64::standard);
  if (!bytes) return json.refuse("invalid_value", "bytes are base64, with = at the end");
  *to.bytes = *std::move(bytes);
  return std::nullopt;
}

Refused JsonFields::finish() const {
  auto members = json_.members();
  if (!members) return std::move(members).error();
  for (const auto& [name, field] : *members) {
    if (std::ranges::find(taken_, name) == taken_.end())
      return field.refuse("unknown_field", "there is no field '" + std::string(name) + "' here");
  }
  return refused_;
}

}  // namespace weir::server::internal
