// What views are doing, and what is done about those that fail.

#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/relations.hpp>

namespace weir::server::internal {
namespace {

Task<Response> lag(const Call* call) {
  WEIR_CO_TRY(relation, co_await find_relation(call, Wanted::view));
  WEIR_CO_TRY(behind, co_await call->core->database->lag(relation));
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("versions").number(behind.versions).key("seconds");
  json.number(std::chrono::duration<double>(behind.time).count()).end_object();
  co_return Response::json(std::move(text));
}

Task<Response> quarantine(const Call* call) {
  WEIR_CO_TRY(relations, co_await list_relations(call, Wanted::view));
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("views").begin_array();
  for (const Relation& relation : relations) {
    const auto status = call->core->database->status(relation);
    if (!status || !status->is_behind()) continue;
    json.begin_object().key("name").text(relation.name()).key("status");
    write_status(json, *status);
    json.end_object();
  }
  json.end_array().end_object();
  co_return Response::json(std::move(text));
}

using Repair = Task<Result<>> (flow::view::Database::*)(Relation view);

template <Repair How>
Task<Response> repair(const Call* call) {
  WEIR_CO_TRY(relation, co_await find_relation(call, Wanted::view));
  WEIR_CO_TRY_VOID(co_await (call->core->database.get()->*How)(relation));
  Response response;
  response.status = 204;
  co_return response;
}

Route repair_route(std::string_view path, std::string_view operation, std::string_view summary,
                   Route::Handler handle) {
  return {.method = "POST",
          .path = path,
          .operation = operation,
          .summary = summary,
          .role = Role::operate,
          .handle = handle};
}

}  // namespace

std::vector<Route> view_routes() {
  using flow::view::Database;
  return {
      {.method = "GET",
       .path = "/api/v1/views/{view}/lag",
       .operation = "get_view_lag",
       .summary = "How far a view is behind the tables that it is made of.",
       .response = "Lag",
       .handle = &lag},
      {.method = "GET",
       .path = "/api/v1/quarantine",
       .operation = "list_quarantine",
       .summary = "Views that have failed, or wait for one that has.",
       .response = "Quarantine",
       .handle = &quarantine},
      repair_route("/api/v1/views/{view}/resume", "resume_view",
                   "Lets a view that failed go on where it stopped.", &repair<&Database::resume>),
      repair_route("/api/v1/views/{view}/skip", "skip_view",
                   "The same, but leaves out the first version whose changes fail.",
                   &repair<&Database::skip>),
      repair_route("/api/v1/views/{view}/rebuild", "rebuild_view",
                   "Builds a view again from its sources.", &repair<&Database::rebuild>),
  };
}

}  // namespace weir::server::internal
