#include <weir/server/internal/json_reader.hpp>

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/error.hpp>
#include <boost/json/object.hpp>
#include <boost/json/stream_parser.hpp>
#include <boost/json/value.hpp>

namespace weir::server::internal {

namespace json = boost::json;

namespace {

std::string escaped(std::string_view name) {
  std::string text;
  for (const char character : name) {
    if (character == '~') {
      text += "~0";
    } else if (character == '/') {
      text += "~1";
    } else {
      text += character;
    }
  }
  return text;
}

Problem malformed_json(const boost::system::error_code& error, std::size_t offset) {
  if (error == json::error::too_deep) {
    return {.status = 400,
            .code = "too_deep",
            .detail = "too many arrays and objects within each other",
            .offset = offset};
  }
  return {.status = 400,
          .code = "malformed_json",
          .detail = "this is no JSON: " + error.message(),
          .offset = offset};
}

}  // namespace

Outcome<JsonDocument> JsonDocument::parse(std::string_view text, std::size_t depth_max) {
  json::parse_options options;
  options.max_depth = depth_max;
  options.numbers = json::number_precision::precise;
  json::stream_parser parser({}, options);
  boost::system::error_code error;
  const std::size_t used = parser.write_some(text.data(), text.size(), error);
  if (error) return malformed_json(error, used);
  if (used < text.size()) return malformed_json(json::error::extra_data, used);
  parser.finish(error);
  if (error) return malformed_json(error, text.size());
  return JsonDocument(std::make_shared<const json::value>(parser.release()));
}

bool JsonReader::is_null() const noexcept { return value_->is_null(); }

JsonReader::Scalar JsonReader::scalar() const noexcept {
  switch (value_->kind()) {
    case json::kind::bool_: return value_->get_bool();
    case json::kind::int64: return value_->get_int64();
    case json::kind::uint64: return value_->get_uint64();
    case json::kind::double_: return value_->get_double();
    case json::kind::string: {
      const auto& text = value_->get_string();
      return std::string_view(text.data(), text.size());
    }
    default: return {};
  }
}

std::string_view JsonReader::kind() const noexcept {
  switch (value_->kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "a boolean";
    case json::kind::string: return "a string";
    case json::kind::array: return "an array";
    case json::kind::object: return "an object";
    default: return "a number";
  }
}

Problem JsonReader::refuse(std::string code, std::string detail) const {
  return {.status = 422, .code = std::move(code), .detail = std::move(detail), .pointer = pointer_};
}

Problem JsonReader::refuse_field(std::string_view name, std::string code,
                                 std::string detail) const {
  return {.status = 422,
          .code = std::move(code),
          .detail = std::move(detail),
          .pointer = pointer_ + "/" + escaped(name)};
}

Outcome<std::string_view> JsonReader::text() const {
  if (!value_->is_string())
    return refuse("wrong_type", "a string is needed, not " + std::string(kind()));
  return std::get<std::string_view>(scalar());
}

Outcome<std::vector<JsonReader>> JsonReader::items() const {
  if (!value_->is_array())
    return refuse("wrong_type", "an array is needed, not " + std::string(kind()));
  std::vector<JsonReader> items;
  for (const json::value& item : value_->get_array())
    items.emplace_back(&item, pointer_ + "/" + std::to_string(items.size()));
  return items;
}

JsonReader JsonReader::child(std::string_view name, const json::value& value) const {
  return {&value, pointer_ + "/" + escaped(name)};
}

Outcome<std::vector<std::pair<std::string_view, JsonReader>>> JsonReader::members() const {
  if (!value_->is_object())
    return refuse("wrong_type", "an object is needed, not " + std::string(kind()));
  std::vector<std::pair<std::string_view, JsonReader>> members;
  for (const auto& member : value_->get_object()) {
    const std::string_view name(member.key().data(), member.key().size());
    members.emplace_back(name, child(name, member.value()));
  }
  return members;
}

Outcome<JsonReader> JsonReader::required(std::string_view name) const {
  if (!value_->is_object())
    return refuse("wrong_type", "an object is needed, not " + std::string(kind()));
  if (auto field = optional(name)) return *std::move(field);
  return refuse_field(name, "missing_field", "the field '" + std::string(name) + "' is missing");
}

std::optional<JsonReader> JsonReader::optional(std::string_view name) const {
  if (!value_->is_object()) return std::nullopt;
  const json::value* field = value_->get_object().if_contains(name);
  if (!field) return std::nullopt;
  return child(name, *field);
}

std::optional<Problem> JsonReader::allow_only(std::initializer_list<std::string_view> names) const {
  auto fields = members();
  if (!fields) return std::move(fields).error();
  for (const auto& [name, field] : *fields) {
    if (std::ranges::find(names, name) == names.end()) {
      return field.refuse("unknown_field", "there is no field '" + std::string(name) + "' here");
    }
  }
  return std::nullopt;
}

}  // namespace weir::server::internal
