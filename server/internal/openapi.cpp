#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <weir/server/internal/json_writer.hpp>
#include <weir/server/internal/router.hpp>
#include <weir/server/internal/schema_notation.hpp>
#include <weir/server/internal/schemas.hpp>

namespace weir::server::internal {
namespace {

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& character : lowered)
    if (character >= 'A' && character <= 'Z') character = static_cast<char>(character + 32);
  return lowered;
}

/// A body of one type with a schema, or with none.
void write_content(JsonWriter& json, std::string_view type, std::string_view schema) {
  json.key("content").begin_object().key(type.substr(0, type.find(';'))).begin_object();
  json.key("schema");
  if (schema.empty()) {
    json.begin_object().key("type").text("string").end_object();
  } else {
    write_reference(json, schema);
  }
  json.end_object().end_object();
}

void write_parameters(JsonWriter& json, const Route& route) {
  json.key("parameters").begin_array();
  for (const std::string_view segment : split_path(route.path)) {
    if (!is_parameter(segment)) continue;
    json.begin_object().key("name").text(segment.substr(1, segment.size() - 2));
    json.key("in").text("path").key("required").boolean(true).key("schema");
    json.begin_object().key("type").text("string").end_object().end_object();
  }
  for (const Parameter& parameter : route.query) {
    json.begin_object().key("name").text(parameter.name).key("in").text("query");
    json.key("description").text(parameter.description).key("schema").begin_object();
    json.key("type").text(parameter.type);
    if (parameter.type == "integer") json.key("minimum").number(std::int64_t{0});
    json.end_object().end_object();
  }
  json.end_array();
}

/// And the end of all responses.
void write_default(JsonWriter& json) {
  json.key("default").begin_object().key("description").text("Why it was not done.");
  write_content(json, "application/problem+json", "Problem");
  json.end_object().end_object();
}

void write_responses(JsonWriter& json, const Route& route) {
  const bool has_content = !route.response.empty() || route.response_type != json_type;
  json.key("responses").begin_object();
  if (route.upgrades) {
    json.key("101").begin_object().key("description").text("A WebSocket from here on.");
    json.end_object().key("426").begin_object();
    json.key("description").text("The request asks for no WebSocket.");
    write_content(json, "application/problem+json", "Problem");
    json.end_object();
    write_default(json);
    return;
  }
  const char* status = route.creates ? "201" : "200";
  json.key(has_content ? status : "204").begin_object().key("description").text("Done.");
  if (has_content) write_content(json, route.response_type, route.response);
  json.end_object();
  write_default(json);
}

void write_operation(JsonWriter& json, const Route& route) {
  json.key(lower(route.method)).begin_object();
  json.key("operationId").text(route.operation).key("summary").text(route.summary);
  json.key("x-weir-role").text(route.role ? to_string(*route.role) : "none");
  json.key("security").begin_array();
  if (route.role) json.begin_object().key("bearer").begin_array().end_array().end_object();
  json.end_array();
  write_parameters(json, route);
  if (!route.request.empty()) {
    json.key("requestBody").begin_object().key("required").boolean(true);
    write_content(json, json_type, route.request);
    json.end_object();
  }
  write_responses(json, route);
  json.end_object();
}

}  // namespace

std::string print_openapi(const std::vector<Route>& routes) {
  std::map<std::string_view, std::vector<const Route*>> paths;
  for (const Route& route : routes) paths[route.path].push_back(&route);
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("openapi").text("3.1.0").key("info").begin_object();
  json.key("title").text("Weir").key("version").text("1");
  json.key("description").text("Tables, views, the change log and workflows of a Weir database.");
  json.end_object().key("paths").begin_object();
  for (const auto& [path, operations] : paths) {
    json.key(path).begin_object();
    for (const Route* route : operations) write_operation(json, *route);
    json.end_object();
  }
  json.end_object().key("components").begin_object();
  json.key("securitySchemes").begin_object().key("bearer").begin_object();
  json.key("type").text("http").key("scheme").text("bearer").end_object().end_object();
  json.key("schemas").begin_object();
  for (const auto& [name, schema] :
       expand_schemas({schemas(), workflow_schemas(), claim_schemas()}))
    json.key(name).raw(schema);
  json.end_object().end_object().end_object();
  return text;
}

}  // namespace weir::server::internal
