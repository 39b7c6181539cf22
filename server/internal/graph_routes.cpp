// The graph of a workflow: its executions and the edges between them, for those who draw it.

#include <map>
#include <utility>

#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/workflow_calls.hpp>
#include <weir/server/internal/workflow_json.hpp>

namespace weir::server::internal {

namespace workflow = flow::workflow;
using workflow::ExecutionId;

namespace {

constexpr std::size_t nodes_max = 1'000;
constexpr std::size_t drawn_edges_max = 10'000;
constexpr std::size_t nodes_at_once = 100;

/// What is drawn of it.
struct Drawn {
  std::vector<workflow::ExecutionInfo> nodes;
  std::map<ExecutionId, workflow::EdgeGroup> groups;
  std::vector<workflow::EdgeInfo> edges;
  bool is_truncated = false;
};

Task<Result<Drawn>> draw(const workflow::Engine* engine, workflow::WorkflowId id) {
  Drawn drawn;
  std::optional<ExecutionId> after;
  do {
    WEIR_CO_TRY(members, co_await engine->members(id, after, nodes_at_once));
    WEIR_CO_TRY(groups, co_await engine->edge_groups(id, after, nodes_at_once));
    WEIR_CO_TRY(edges, co_await engine->edges(id, members.items));
    WEIR_CO_TRY(nodes, co_await engine->executions(std::move(members.items)));
    for (workflow::ExecutionInfo& node : nodes) drawn.nodes.push_back(std::move(node));
    for (auto& [downstream, group] : groups.items) drawn.groups.emplace(downstream, group);
    for (workflow::EdgeInfo& edge : edges) drawn.edges.push_back(std::move(edge));
    after = members.next;
    drawn.is_truncated =
        after && (drawn.nodes.size() >= nodes_max || drawn.edges.size() >= drawn_edges_max);
  } while (after && !drawn.is_truncated);
  co_return drawn;
}

Task<Response> get_graph(const Call* call) {
  WEIR_CO_TRY(found, co_await find_workflow(call));
  WEIR_CO_TRY(drawn, co_await draw(call->core->engine.get(), found.id));
  co_return answer_object([&](JsonWriter& json) {
    json.key("workflow").text(to_string(found.id)).key("revision").number(found.workflow.revision);
    json.key("nodes").begin_array();
    for (const workflow::ExecutionInfo& node : drawn.nodes) {
      const auto group = drawn.groups.find(node.id);
      write_node(json, node, group == drawn.groups.end() ? nullptr : &group->second);
    }
    json.end_array().key("edges").begin_array();
    for (const workflow::EdgeInfo& edge : drawn.edges) write_edge(json, edge);
    json.end_array().key("truncated").boolean(drawn.is_truncated);
  });
}

}  // namespace

std::vector<Route> graph_routes() {
  return {{.method = "GET",
           .path = "/api/v1/workflows/{workflow}/graph",
           .operation = "get_workflow_graph",
           .summary = "The executions of a workflow and the edges between them; of large ones the "
                      "first.",
           .response = "Graph",
           .handle = &get_graph}};
}

}  // namespace weir::server::internal
