#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/flow/workflow/id.hpp>
#include <weir/flow/workflow/policy.hpp>
#include <weir/server/internal/json_reader.hpp>

// How values in bodies of requests become those of programs. Each gives why it cannot be.
namespace weir::server::internal {

using Refused = std::optional<Problem>;

Refused read_json(const JsonReader& json, std::string& to);
Refused read_json(const JsonReader& json, bool& to);
/// Seconds, as a number.
Refused read_json(const JsonReader& json, Duration& to);
/// RFC 3339, in UTC.
Refused read_json(const JsonReader& json, flow::workflow::Time& to);
Refused read_json(const JsonReader& json, flow::workflow::ExecutionId& to);
Refused read_json(const JsonReader& json, flow::workflow::WorkflowId& to);
Refused read_json(const JsonReader& json, flow::workflow::EdgeId& to);
Refused read_json(const JsonReader& json, std::map<std::string, std::string>& to);

/// A number, or digits as a string.
Refused read_integer(const JsonReader& json, std::int64_t least, std::uint64_t most,
                     std::int64_t& to);

template <std::integral T>
Refused read_json(const JsonReader& json, T& to) {
  using Range = std::numeric_limits<T>;
  std::int64_t number = 0;
  constexpr auto most = std::min(std::uint64_t{Range::max()},
                                 std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  auto refused = read_integer(json, {Range::min()}, most, number);
  if (!refused) to = static_cast<T>(number);
  return refused;
}

/// One of the words of an enumeration.
template <flow::workflow::Worded E>
Refused read_json(const JsonReader& json, E& to) {
  auto text = json.text();
  if (!text) return std::move(text).error();
  if (const auto word = flow::workflow::parse_word<E>(*text)) {
    to = *word;
    return std::nullopt;
  }
  std::string known;
  for (const char* word : flow::workflow::words<E>)
    known += (known.empty() ? "" : ", ") + std::string(word);
  return json.refuse("invalid_value", "'" + std::string(*text) + "' is none of " + known);
}

template <class T>
Refused read_json(const JsonReader& json, std::optional<T>& to) {
  return read_json(json, to.emplace());
}

template <class T>
Refused read_json(const JsonReader& json, std::vector<T>& to) {
  auto items = json.items();
  if (!items) return std::move(items).error();
  to.clear();
  for (const JsonReader& item : *items)
    if (auto refused = read_json(item, to.emplace_back())) return refused;
  return std::nullopt;
}

/// Bytes that a program sends to another: text, or `{"base64": ".."}`.
struct PayloadField {
  std::string* bytes;
};
Refused read_json(const JsonReader& json, PayloadField to);

/// Takes the fields of an object, one after the other, and keeps the first thing that is wrong.
/// What nobody took is not known here.
///
///     JsonFields fields(json);
///     fields.required("kind", to.kind).optional("priority", to.priority);
///     if (auto refused = fields.finish()) return *std::move(refused);
class JsonFields {
 public:
  explicit JsonFields(JsonReader json) : json_(std::move(json)) {}

  template <class T>
  JsonFields& required(std::string_view name, T&& to) {
    taken_.push_back(name);
    if (refused_) return *this;
    auto field = json_.required(name);
    refused_ = field ? read_json(*field, std::forward<T>(to)) : std::move(field).error();
    return *this;
  }
  /// Null is as if it were not there.
  template <class T>
  JsonFields& optional(std::string_view name, T&& to) {
    taken_.push_back(name);
    if (refused_) return *this;
    const auto field = json_.optional(name);
    if (field && !field->is_null()) refused_ = read_json(*field, std::forward<T>(to));
    return *this;
  }

  /// First of all what is not known here: a name with a mistake explains what else is missing.
  Refused finish() const;

 private:
  const JsonReader json_;
  std::vector<std::string_view> taken_;
  Refused refused_;
};

}  // namespace weir::server::internal
