// Tables and views, and the rows in them.

#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/json_value.hpp>
#include <weir/server/internal/relations.hpp>

namespace weir::server::internal {
namespace {

void write_relation(JsonWriter& json, const Call* call, const Relation& relation) {
  json.begin_object().key("name").text(relation.name());
  if (relation.is_view()) {
    json.key("transactional").boolean(relation.is_transactional()).key("status");
    const auto status = call->core->database->status(relation);
    if (status) {
      write_status(json, *status);
    } else {
      json.null();
    }
  } else {
    json.key("appended").boolean(relation.is_appended());
  }
  json.key("schema");
  write_schema(json, *relation.schema());
  json.end_object();
}

Task<Response> list(const Call* call, Wanted wanted) {
  WEIR_CO_TRY(relations, co_await list_relations(call, wanted));
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key(wanted == Wanted::table ? "tables" : "views").begin_array();
  for (const Relation& relation : relations) write_relation(json, call, relation);
  json.end_array().end_object();
  co_return Response::json(std::move(text));
}

Task<Response> describe(const Call* call, Wanted wanted) {
  WEIR_CO_TRY(relation, co_await find_relation(call, wanted));
  std::string text;
  JsonWriter json(&text);
  write_relation(json, call, relation);
  co_return Response::json(std::move(text));
}

/// The same for tables and for views.
template <Task<Response> (*Handle)(const Call*, Wanted), Wanted Of>
Task<Response> of(const Call* call) {
  return Handle(call, Of);
}

const std::vector<Parameter>& page_parameters() {
  static const std::vector<Parameter> parameters = {
      limit_parameter(), {"after", "string", "the `next` of the page before"}, at_parameter()};
  return parameters;
}

const std::vector<Parameter>& change_parameters() {
  static const std::vector<Parameter> parameters = {
      {"after", "integer", "the version that was seen last; the newest without it"},
      limit_parameter(),
      wait_parameter()};
  return parameters;
}

std::vector<Route> table_routes() {
  constexpr Wanted table = Wanted::table;
  return {
      {.method = "GET",
       .path = "/api/v1/tables",
       .operation = "list_tables",
       .summary = "All tables, with their schemas.",
       .response = "Tables",
       .handle = &of<list, table>},
      {.method = "GET",
       .path = "/api/v1/tables/{table}",
       .operation = "get_table",
       .summary = "One table and its schema.",
       .response = "Table",
       .handle = &of<describe, table>},
      {.method = "GET",
       .path = "/api/v1/tables/{table}/rows",
       .operation = "list_table_rows",
       .summary = "Rows in order of the primary key, page by page.",
       .query = page_parameters(),
       .response = "Rows",
       .handle = &of<rows_page, table>},
      {.method = "GET",
       .path = "/api/v1/tables/{table}/rows/{key}",
       .operation = "get_table_row",
       .summary = "One row by its primary key.",
       .query = {at_parameter()},
       .response = "Row",
       .handle = &of<one_row, table>},
      {.method = "GET",
       .path = "/api/v1/tables/{table}/changes",
       .operation = "list_table_changes",
       .summary = "What commits did to a table, after a version.",
       .waits = true,
       .query = change_parameters(),
       .response = "Changes",
       .handle = &of<changes_page, table>},
  };
}

}  // namespace

std::vector<Route> relation_routes() {
  constexpr Wanted view = Wanted::view;
  std::vector<Route> routes = table_routes();
  const std::vector<Route> of_views = {
      {.method = "GET",
       .path = "/api/v1/views",
       .operation = "list_views",
       .summary = "All views, with their schemas and what they are doing.",
       .response = "Views",
       .handle = &of<list, view>},
      {.method = "GET",
       .path = "/api/v1/views/{view}",
       .operation = "get_view",
       .summary = "One view: its schema, phase, progress and failure.",
       .response = "View",
       .handle = &of<describe, view>},
      {.method = "GET",
       .path = "/api/v1/views/{view}/rows",
       .operation = "list_view_rows",
       .summary = "Rows in order of the primary key, page by page.",
       .query = page_parameters(),
       .response = "Rows",
       .handle = &of<rows_page, view>},
      {.method = "GET",
       .path = "/api/v1/views/{view}/rows/{key}",
       .operation = "get_view_row",
       .summary = "One row by its primary key.",
       .query = {at_parameter()},
       .response = "Row",
       .handle = &of<one_row, view>},
      {.method = "GET",
       .path = "/api/v1/views/{view}/changes",
       .operation = "list_view_changes",
       .summary = "What commits did to a view, after a version.",
       .waits = true,
       .query = change_parameters(),
       .response = "Changes",
       .handle = &of<changes_page, view>},
  };
  routes.insert(routes.end(), of_views.begin(), of_views.end());
  return routes;
}

}  // namespace weir::server::internal
