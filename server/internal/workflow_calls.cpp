#include <weir/server/internal/workflow_calls.hpp>

#include <algorithm>

#include <weir/flow/workflow/errc.hpp>
#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>

namespace weir::server::internal {

namespace workflow = flow::workflow;
using workflow::ExecutionId;
using workflow::WorkflowId;

namespace {

constexpr std::uint64_t page_entries_max = 1'000;

Problem malformed_id(const Error& error) {
  return {.status = 400, .code = "malformed_id", .detail = error.detail()};
}

template <class Id>
Problem not_found(std::string_view what, const Id& id) {
  return {.status = 404,
          .code = "not_found",
          .detail = "there is no " + std::string(what) + " " + to_string(id)};
}

Task<Outcome<workflow::ExecutionInfo>> look_up(const Call* call, ExecutionId id) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY(found, co_await engine->describe(id));
  if (!found || !sees_space(call->caller, found->execution.space))
    co_return not_found("execution", id);
  co_return *std::move(found);
}

Task<Outcome<workflow::WorkflowInfo>> look_up(const Call* call, WorkflowId id) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY(found, co_await engine->describe(id));
  if (!found || !sees_space(call->caller, found->workflow.space))
    co_return not_found("workflow", id);
  co_return *std::move(found);
}

template <class Id>
Task<Refused> check_seen(const Call* call, Id id) {
  if (call->caller.sees_everything()) co_return std::nullopt;
  auto found = co_await look_up(call, id);
  if (!found) co_return std::move(found).error();
  co_return std::nullopt;
}

}  // namespace

Outcome<const workflow::Engine*> engine_of(const Call* call) {
  if (call->core->engine) return static_cast<const workflow::Engine*>(call->core->engine.get());
  return Problem{.status = 404,
                 .code = "no_engine",
                 .detail = "the server was started without an engine of workflows"};
}

bool sees_space(const Caller& caller, std::string_view space) noexcept {
  return caller.sees_everything() ||
         std::ranges::find(caller.namespaces, space) != caller.namespaces.end();
}

Refused settle_space(const Call* call, const JsonReader& at, std::string& space) {
  const std::vector<std::string>& own = call->caller.namespaces;
  if (const auto given = at.optional("namespace"); !given || given->is_null()) {
    if (own.size() == 1) space = own.front();
  }
  if (sees_space(call->caller, space)) return std::nullopt;
  Problem problem =
      at.refuse_field("namespace", "wrong_namespace", "the token is not for '" + space + "'");
  problem.status = 403;
  return problem;
}

Outcome<ExecutionId> parse_execution(std::string_view text) {
  const std::size_t colon = text.find(':');
  const bool is_short = colon != std::string_view::npos && !text.starts_with('{');
  std::string whole(text);
  if (is_short) whole = "{fp:" + whole.insert(colon, 1, '}');
  auto id = workflow::parse_execution_id(whole);
  if (!id) return malformed_id(id.error());
  return *id;
}

Outcome<WorkflowId> parse_workflow(std::string_view text) {
  auto id = workflow::parse_workflow_id(text);
  if (!id) return malformed_id(id.error());
  return *id;
}

Task<Outcome<workflow::ExecutionInfo>> find_execution(const Call* call) {
  WEIR_CO_TRY(id, parse_execution(call->parameter("execution")));
  co_return co_await look_up(call, id);
}

Task<Outcome<workflow::WorkflowInfo>> find_workflow(const Call* call) {
  WEIR_CO_TRY(id, parse_workflow(call->parameter("workflow")));
  co_return co_await look_up(call, id);
}

Task<Refused> check_execution(const Call* call, ExecutionId id) { return check_seen(call, id); }
Task<Refused> check_workflow(const Call* call, WorkflowId id) { return check_seen(call, id); }

Outcome<std::size_t> page_limit(const Call* call) {
  auto limit = call->number("limit", 100, page_entries_max);
  if (!limit) return std::move(limit).error();
  if (*limit == 0)
    return Problem{.status = 400, .code = "invalid_parameter", .detail = "'limit' is at least 1"};
  return static_cast<std::size_t>(*limit);
}

Outcome<JsonDocument> parse_body(const Call* call) {
  return JsonDocument::parse(call->request->body, call->core->options.limits.json_depth_max);
}

Response answer_nothing() {
  Response response;
  response.status = 204;
  return response;
}

Parameter after_parameter() { return {"after", "string", "the `next` of the page before"}; }

}  // namespace weir::server::internal
