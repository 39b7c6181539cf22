// Workflows: making them, growing and ending them, and looking at them.

#include <map>
#include <utility>

#include <weir/runtime/try.hpp>
#include <weir/server/internal/execution_pages.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/relations.hpp>
#include <weir/server/internal/workflow_calls.hpp>
#include <weir/server/internal/workflow_json.hpp>
#include <weir/server/internal/workflow_requests.hpp>

namespace weir::server::internal {

namespace workflow = flow::workflow;
using workflow::WorkflowId;

namespace {

/// So many are looked at for one page, however few of them are listed.
constexpr std::size_t workflows_looked_at_max = 1'000;

struct WorkflowPage {
  std::vector<workflow::WorkflowInfo> items;
  std::optional<WorkflowId> next;
};

/// Those that the caller sees, of a namespace if it is given: there is no index by that.
Task<Result<WorkflowPage>> look_for_workflows(const Call* call, std::optional<WorkflowId> after,
                                              std::size_t limit) {
  const std::string* space = call->query("namespace");
  WorkflowPage page{.items = {}, .next = after};
  for (std::size_t looked_at = 0;
       page.items.size() < limit && looked_at < workflows_looked_at_max;) {
    const std::size_t wanted = limit - page.items.size();
    WEIR_CO_TRY(ids, co_await call->core->engine->list_workflows(page.next, wanted));
    looked_at += ids.items.size();
    page.next = ids.next;
    WEIR_CO_TRY(infos, co_await call->core->engine->workflows(std::move(ids.items)));
    for (workflow::WorkflowInfo& info : infos) {
      const std::string& own = info.workflow.space;
      if (sees_space(call->caller, own) && (!space || *space == own))
        page.items.push_back(std::move(info));
    }
    if (!page.next) break;
  }
  co_return page;
}

Task<Response> list_all_workflows(const Call* call) {
  WEIR_CO_TRY_VOID(engine_of(call));
  WEIR_CO_TRY(limit, page_limit(call));
  std::optional<WorkflowId> after;
  if (const std::string* text = call->query("after")) {
    WEIR_CO_TRY(id, parse_workflow(*text));
    after = id;
  }
  WEIR_CO_TRY(page, co_await look_for_workflows(call, after, limit));
  co_return answer_object([&](JsonWriter& json) {
    json.key("workflows").begin_array();
    for (const workflow::WorkflowInfo& info : page.items) write_workflow(json, info);
    json.end_array().key("next");
    write_text(json, page.next ? to_string(*page.next) : "");
  });
}

Task<Response> get_workflow(const Call* call) {
  WEIR_CO_TRY(found, co_await find_workflow(call));
  std::string text;
  JsonWriter json(&text);
  write_workflow(json, found);
  co_return Response::json(std::move(text));
}

Task<Response> list_members(const Call* call) {
  WEIR_CO_TRY(found, co_await find_workflow(call));
  co_return co_await execution_page(call, {.workflow = found.id});
}

Response answer_graph(const workflow::CreatedGraph& created) {
  return answer_object(
      [&](JsonWriter& json) {
        json.key("id").text(to_string(created.workflow)).key("executions").begin_array();
        for (const workflow::ExecutionId& id : created.executions) json.text(to_string(id));
        json.end_array();
      },
      201);
}

Task<Response> create_workflow(const Call* call) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY(body, parse_body(call));
  WEIR_CO_TRY(graph, read_new_graph(call, body.root()));
  // One without executions has nothing to apply, and is to be filled.
  if (graph.executions.empty() && graph.edges.empty() && graph.policies.empty()) {
    WEIR_CO_TRY(id, co_await engine->create_workflow(std::move(graph.workflow)));
    co_return answer_graph({id, {}});
  }
  WEIR_CO_TRY(created, co_await engine->create_graph(std::move(graph)));
  co_return answer_graph(created);
}

Task<Response> add_execution(const Call* call) {
  WEIR_CO_TRY(found, co_await find_workflow(call));
  WEIR_CO_TRY(body, parse_body(call));
  WEIR_CO_TRY(request, read_member(call, body.root()));
  request.workflow = found.id;
  request.space = found.workflow.space;
  WEIR_CO_TRY(created, co_await call->core->engine->create_execution(std::move(request)));
  co_return answer_object(
      [&](JsonWriter& json) {
        json.key("id").text(to_string(created.id));
        json.key("is_duplicate").boolean(created.is_duplicate);
      },
      201);
}

Task<Response> add_edges(const Call* call) {
  WEIR_CO_TRY(found, co_await find_workflow(call));
  WEIR_CO_TRY(body, parse_body(call));
  std::vector<workflow::NewEdge> edges;
  std::optional<std::uint64_t> revision;
  JsonFields fields(body.root());
  fields.required("edges", edges).optional("revision", revision);
  if (auto refused = fields.finish()) co_return *std::move(refused);
  WEIR_CO_TRY(grown, co_await call->core->engine->stage(found.id, std::move(edges), revision));
  co_return answer_object([&](JsonWriter& json) { json.key("revision").number(grown); });
}

Task<Response> set_edge_policy(const Call* call) {
  WEIR_CO_TRY(found, co_await find_workflow(call));
  WEIR_CO_TRY(body, parse_body(call));
  workflow::ExecutionId downstream;
  workflow::EdgePolicy policy;
  JsonFields fields(body.root());
  fields.required("downstream", downstream).required("policy", policy);
  if (auto refused = fields.finish()) co_return *std::move(refused);
  WEIR_CO_TRY(is_new, co_await call->core->engine->set_policy(found.id, downstream, policy));
  co_return answer_object([&](JsonWriter& json) { json.key("is_new").boolean(is_new); });
}

Task<Response> apply_workflow(const Call* call) {
  WEIR_CO_TRY(found, co_await find_workflow(call));
  WEIR_CO_TRY_VOID(co_await call->core->engine->apply(found.id));
  co_return answer_nothing();
}

Task<Response> close_workflow(const Call* call) {
  WEIR_CO_TRY(found, co_await find_workflow(call));
  WEIR_CO_TRY_VOID(co_await call->core->engine->close(found.id));
  co_return answer_nothing();
}

Task<Response> cancel_workflow(const Call* call) {
  WEIR_CO_TRY(found, co_await find_workflow(call));
  WEIR_CO_TRY(body, parse_body(call));
  auto policy = workflow::CancelPolicy::cancel_all;
  std::string reason;
  JsonFields fields(body.root());
  fields.optional("policy", policy).optional("reason", reason);
  if (auto refused = fields.finish()) co_return *std::move(refused);
  WEIR_CO_TRY(result, co_await call->core->engine->cancel(found.id, policy, std::move(reason)));
  co_return answer_object([&](JsonWriter& json) {
    json.key("is_new").boolean(result.is_new).key("cancelled").begin_array();
    for (const workflow::ExecutionId& id : result.cancelled) json.text(to_string(id));
    json.end_array();
  });
}

Task<Response> tag_workflow(const Call* call) {
  WEIR_CO_TRY(found, co_await find_workflow(call));
  WEIR_CO_TRY(tags, read_tags(call));
  for (const auto& [key, value] : tags)
    WEIR_CO_TRY_VOID(co_await call->core->engine->set_tag(found.id, key, value));
  co_return answer_nothing();
}

std::vector<Route> growing_routes() {
  return {
      {.method = "POST",
       .path = "/api/v1/workflows/{workflow}/executions",
       .operation = "add_workflow_execution",
       .summary = "Adds an execution, which begins when the workflow is applied.",
       .role = Role::write,
       .request = "GraphExecution",
       .response = "ExecutionCreated",
       .creates = true,
       .handle = &add_execution},
      {.method = "POST",
       .path = "/api/v1/workflows/{workflow}/edges",
       .operation = "stage_workflow_edges",
       .summary = "Adds edges, which count when they are applied.",
       .role = Role::write,
       .request = "NewEdges",
       .response = "Revision",
       .handle = &add_edges},
      {.method = "POST",
       .path = "/api/v1/workflows/{workflow}/policies",
       .operation = "set_edge_policy",
       .summary = "When an execution's dependencies are satisfied; before the first edge into it.",
       .role = Role::write,
       .request = "NewPolicy",
       .response = "PolicySet",
       .handle = &set_edge_policy},
      {.method = "POST",
       .path = "/api/v1/workflows/{workflow}/apply",
       .operation = "apply_workflow",
       .summary = "Puts staged edges in force, and lets executions begin that were added.",
       .role = Role::write,
       .handle = &apply_workflow},
      {.method = "POST",
       .path = "/api/v1/workflows/{workflow}/close",
       .operation = "close_workflow",
       .summary = "Seals a workflow that stays open as soon as its executions have ended.",
       .role = Role::write,
       .handle = &close_workflow},
      {.method = "POST",
       .path = "/api/v1/workflows/{workflow}/cancel",
       .operation = "cancel_workflow",
       .summary = "Cancels a workflow, with all, some or none of its executions.",
       .role = Role::operate,
       .request = "CancelWorkflow",
       .response = "WorkflowCancelled",
       .handle = &cancel_workflow},
      {.method = "POST",
       .path = "/api/v1/workflows/{workflow}/tags",
       .operation = "tag_workflow",
       .summary = "Sets tags; those that are not named stay as they are.",
       .role = Role::write,
       .request = "NewTags",
       .handle = &tag_workflow},
  };
}

}  // namespace

std::vector<Route> workflow_routes() {
  std::vector<Route> routes = growing_routes();
  const std::vector<Route> of_workflows = {
      {.method = "GET",
       .path = "/api/v1/workflows",
       .operation = "list_workflows",
       .summary = "Workflows, page by page. A page may have few or none and not be the last.",
       .query = {{"namespace", "string", "in this namespace"},
                 after_parameter(),
                 limit_parameter()},
       .response = "Workflows",
       .handle = &list_all_workflows},
      {.method = "POST",
       .path = "/api/v1/workflows",
       .operation = "create_workflow",
       .summary = "Makes a workflow: with its executions, edges and policies, applied, in one "
                  "commit; or an empty one, to be filled.",
       .role = Role::write,
       .request = "NewWorkflow",
       .response = "WorkflowCreated",
       .creates = true,
       .handle = &create_workflow},
      {.method = "GET",
       .path = "/api/v1/workflows/{workflow}",
       .operation = "get_workflow",
       .summary = "All that is known of a workflow, with how many executions are in each state.",
       .response = "Workflow",
       .handle = &get_workflow},
      {.method = "GET",
       .path = "/api/v1/workflows/{workflow}/executions",
       .operation = "list_workflow_executions",
       .summary = "Executions of a workflow in order of their ids, page by page.",
       .query = {after_parameter(), limit_parameter()},
       .response = "Executions",
       .handle = &list_members},
  };
  routes.insert(routes.end(), of_workflows.begin(), of_workflows.end());
  return routes;
}

}  // namespace weir::server::internal
