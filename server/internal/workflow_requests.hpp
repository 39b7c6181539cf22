#pragma once

#include <weir/flow/workflow/engine.hpp>
#include <weir/server/internal/json_fields.hpp>
#include <weir/server/internal/route.hpp>

// What callers send about workflows.
namespace weir::server::internal {

Outcome<flow::workflow::NewExecution> read_new_execution(const Call* call, const JsonReader& json);
/// Of a workflow that is there, whose namespace it has.
Outcome<flow::workflow::NewExecution> read_member(const Call* call, const JsonReader& json);
/// A body with `tags`, all of which may be set.
Outcome<flow::workflow::Tags> read_tags(const Call* call);
/// A workflow with its executions, edges and policies, if there are any.
Outcome<flow::workflow::NewGraph> read_new_graph(const Call* call, const JsonReader& json);

Refused read_json(const JsonReader& json, flow::workflow::RetryPolicy& to);
Refused read_json(const JsonReader& json, flow::workflow::EdgePolicy& to);
Refused read_json(const JsonReader& json, flow::workflow::NewEdge& to);
Refused read_json(const JsonReader& json, flow::workflow::NewGraph::Edge& to);
Refused read_json(const JsonReader& json, flow::workflow::NewGraph::Policy& to);
Refused read_json(const JsonReader& json, flow::workflow::Rate& to);
Refused read_json(const JsonReader& json, flow::workflow::WaitCondition& to);

}  // namespace weir::server::internal
