#include <weir/server/internal/schema_notation.hpp>

#include <algorithm>
#include <map>

#include <weir/runtime/check.hpp>
#include <weir/server/internal/json_writer.hpp>

namespace weir::server::internal {
namespace {

struct Field {
  std::string name;
  bool is_required;
  std::string schema;
};
using Fields = std::vector<Field>;

bool is_word(char character) noexcept {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_' || character == '-';
}

bool is_literal(std::string_view word) noexcept {
  return word == "true" || word == "false" || word == "null" ||
         word.find_first_not_of("0123456789") == std::string_view::npos;
}

void write_word(JsonWriter& json, std::string_view word) {
  if (is_literal(word)) {
    json.raw(word);
  } else {
    json.text(word);
  }
}

/// What stands in an object of JSON, without its braces.
class Members {
 public:
  JsonWriter& key(std::string_view name) { return json_.key(name); }
  void type(std::string_view name, bool is_nullable) {
    key("type");
    if (!is_nullable) return static_cast<void>(json_.text(name));
    json_.begin_array().text(name).text("null").end_array();
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  JsonWriter json_{&text_};
};

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  void define_all(std::vector<std::pair<std::string, std::string>>& all) {
    for (skip(); !rest_.empty(); skip()) {
      const std::string name(word());
      expect('=');
      all.emplace_back(name, schema());
      objects_[name] = std::move(last_object_);
    }
  }

 private:
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  bool takes(std::string_view token) {
    skip();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  /// The same right here.
  bool takes_now(char token) {
    const bool is_there = rest_.starts_with(token);
    if (is_there) rest_.remove_prefix(1);
    return is_there;
  }
  void expect(char token) {
    check(takes(std::string_view(&token, 1)), "a schema is written as its notation says");
  }
  std::string_view word() {
    skip();
    const auto end = std::ranges::find_if_not(rest_, is_word);
    const std::string_view found = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    check(!found.empty(), "a schema has a word where its notation wants one");
    rest_.remove_prefix(found.size());
    return found;
  }
  std::string_view until(char end) {
    const std::size_t size = rest_.find(end);
    check(size != std::string_view::npos, "a schema ends what it begins");
    const std::string_view found = rest_.substr(0, size);
    rest_.remove_prefix(size + 1);
    return found;
  }

  std::string schema() {
    std::vector<std::string> choices = {one()};
    for (skip(); rest_.starts_with('|') && !rest_.starts_with("|}"); skip()) {
      rest_.remove_prefix(1);
      choices.push_back(one());
    }
    std::string members = choices.front();
    if (choices.size() > 1) {
      Members either;
      JsonWriter& list = either.key("oneOf").begin_array();
      for (const std::string& choice : choices) list.raw("{" + choice + "}");
      list.end_array();
      members = either.take();
    }
    if (takes("'")) {
      Members described;
      described.key("description").text(until('\''));
      members += (members.empty() ? "" : ",") + described.take();
    }
    return "{" + members + "}";
  }

  /// The members of its JSON object.
  std::string one() {
    last_object_.clear();
    if (takes("@")) return reference();
    if (takes("`")) return raw();
    if (takes("<")) return words();
    if (takes("[")) return array();
    if (takes("{*:")) return map();
    if (takes("{|")) return object("|}");
    if (takes("{")) return object("}");
    return plain();
  }

  std::string reference() {
    std::string text;
    JsonWriter json(&text);
    write_reference(json, word());
    return text.substr(1, text.size() - 2);
  }
  std::string raw() {
    const std::string_view text = until('`');
    return std::string(text.substr(1, text.size() - 2));
  }
  std::string words() {
    Members members;
    JsonWriter& list = members.key("enum").begin_array();
    while (!takes(">")) write_word(list, word());
    list.end_array();
    return members.take();
  }
  std::string array() {
    const std::string items = schema();
    expect(']');
    Members members;
    members.type("array", false);
    members.key("items").raw(items);
    if (takes_now('(')) bounds(members, "minItems", "maxItems");
    return members.take();
  }
  std::string map() {
    const std::string values = schema();
    expect('}');
    Members members;
    members.type("object", false);
    members.key("additionalProperties").raw(values);
    return members.take();
  }
  std::string object(std::string_view end) {
    Fields fields;
    while (!takes(end)) {
      if (takes("...")) {
        const Fields& other = objects_.at(std::string(word()));
        fields.insert(fields.end(), other.begin(), other.end());
      } else {
        const std::string name(word());
        const bool is_required = takes_now('!');
        fields.push_back({name, is_required, schema()});
      }
      takes(",");
    }
    const bool is_nullable = takes_now('?');
    std::string text = print(fields, end == "|}", is_nullable);
    last_object_ = std::move(fields);
    return text;
  }
  static std::string print(const Fields& fields, bool is_closed, bool is_nullable) {
    Members members;
    members.type("object", is_nullable);
    if (std::ranges::any_of(fields, &Field::is_required)) {
      JsonWriter& list = members.key("required").begin_array();
      for (const Field& field : fields)
        if (field.is_required) list.text(field.name);
      list.end_array();
    }
    if (is_closed) members.key("additionalProperties").boolean(false);
    JsonWriter& properties = members.key("properties").begin_object();
    for (const Field& field : fields) properties.key(field.name).raw(field.schema);
    properties.end_object();
    return members.take();
  }
  std::string plain() {
    Members members;
    const std::string_view type = word();
    const bool is_nullable = takes_now('?');
    if (type != "any") members.type(type, is_nullable);
    if (takes_now('(')) bounds(members, "minimum", "maximum");
    if (takes_now('=')) write_word(members.key("default"), word());
    if (takes_now(':')) members.key("format").text(word());
    return members.take();
  }
  void bounds(Members& members, std::string_view least, std::string_view most) {
    const std::string_view from = until('.');
    if (!from.empty()) members.key(least).raw(from);
    expect('.');
    const std::string_view to = until(')');
    if (!to.empty()) members.key(most).raw(to);
  }

  std::string_view rest_;
  Fields last_object_;
  std::map<std::string, Fields> objects_;
};

}  // namespace

void write_reference(JsonWriter& json, std::string_view schema) {
  json.begin_object().key("$ref").text("#/components/schemas/" + std::string(schema)).end_object();
}

std::vector<std::pair<std::string, std::string>> expand_schemas(
    std::initializer_list<std::string_view> notations) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string_view notation : notations) Parser(notation).define_all(all);
  return all;
}

}  // namespace weir::server::internal
