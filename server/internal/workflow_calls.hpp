#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/workflow/engine.hpp>
#include <weir/server/internal/json_fields.hpp>
#include <weir/server/internal/json_writer.hpp>
#include <weir/server/internal/route.hpp>

// What the routes about workflows share.
namespace weir::server::internal {

/// A problem if the gateway serves none.
Outcome<const flow::workflow::Engine*> engine_of(const Call* call);

/// Whether what is in a namespace of workflows is there for the caller.
bool sees_space(const Caller& caller, std::string_view space) noexcept;
/// The namespace of what a caller makes: its own, if it is of one and has named none. `at` has the
/// field `namespace`, if there is one.
Refused settle_space(const Call* call, const JsonReader& at, std::string& space);

/// Ids as they are written in paths and queries. Of an execution, besides `{fp:7}:<uuid>`, also
/// `7:<uuid>`, in which nothing needs to be encoded.
Outcome<flow::workflow::ExecutionId> parse_execution(std::string_view text);
Outcome<flow::workflow::WorkflowId> parse_workflow(std::string_view text);

/// The one that the path names, as far as it is there for the caller.
Task<Outcome<flow::workflow::ExecutionInfo>> find_execution(const Call* call);
Task<Outcome<flow::workflow::WorkflowInfo>> find_workflow(const Call* call);
/// Whether the caller may name it. Asks the engine only if the caller does not see everything.
Task<Refused> check_execution(const Call* call, flow::workflow::ExecutionId id);
Task<Refused> check_workflow(const Call* call, flow::workflow::WorkflowId id);

/// How many a page has: the parameter `limit`.
Outcome<std::size_t> page_limit(const Call* call);

/// The body as JSON.
Outcome<JsonDocument> parse_body(const Call* call);

/// An answer of one object that `write` fills.
template <class Write>
Response answer_object(Write write, int status = 200) {
  std::string text;
  JsonWriter json(&text);
  json.begin_object();
  write(json);
  json.end_object();
  Response response = Response::json(std::move(text));
  response.status = status;
  return response;
}
Response answer_nothing();

Parameter after_parameter();

}  // namespace weir::server::internal
