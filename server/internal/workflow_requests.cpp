#include <weir/server/internal/workflow_requests.hpp>

#include <utility>

#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/workflow_calls.hpp>

namespace weir::server::internal {

namespace workflow = flow::workflow;
using workflow::NewExecution;
using workflow::NewGraph;

namespace {

constexpr std::size_t graph_executions_max = 10'000;

/// Either the time itself, or how long from now: clocks of callers differ.
Refused settle_not_before(const Call* call, const JsonReader& json,
                          const std::optional<Duration>& delay, NewExecution& to) {
  if (!delay) return std::nullopt;
  if (to.not_before)
    return json.refuse_field("delay_seconds", "invalid_value", "'not_before' is there already");
  to.not_before = call->core->engine->time() + std::chrono::ceil<workflow::Time::duration>(*delay);
  return std::nullopt;
}

/// What an execution by itself and one of a graph have in common.
Refused read_execution_fields(const Call* call, const JsonReader& json, JsonFields& fields,
                              NewExecution& to) {
  std::optional<Duration> delay;
  to.creator = call->caller.name;
  fields.required("kind", to.kind)
      .optional("payload", PayloadField{&to.payload})
      .optional("lane", to.lane)
      .optional("id", to.id)
      .optional("idempotency_key", to.idempotency_key)
      .optional("priority", to.priority)
      .optional("not_before", to.not_before)
      .optional("delay_seconds", delay)
      .optional("deadline", to.deadline)
      .optional("attempt_timeout_seconds", to.attempt_timeout)
      .optional("retry", to.retry)
      .optional("capabilities", to.capabilities)
      .optional("limit_keys", to.limit_keys)
      .optional("tags", to.tags)
      .optional("creator", to.creator)
      .optional("reclaims_max", to.reclaims_max)
      .optional("replays_max", to.replays_max);
  if (auto refused = fields.finish()) return refused;
  return settle_not_before(call, json, delay, to);
}

void take_workflow_fields(JsonFields& fields, workflow::NewWorkflow& to) {
  fields.optional("kind", to.kind)
      .optional("namespace", to.space)
      .optional("id", to.id)
      .optional("on_failure", to.on_failure)
      .optional("stays_open", to.stays_open)
      .optional("tags", to.tags);
}

struct GraphExecutions {
  const Call* call;
  std::vector<NewExecution>* to;
};

Refused read_json(const JsonReader& json, GraphExecutions executions) {
  auto items = json.items();
  if (!items) return std::move(items).error();
  if (items->size() > graph_executions_max) {
    return json.refuse("too_large", "a graph has at most " + std::to_string(graph_executions_max) +
                                        " executions; more are added to it");
  }
  for (const JsonReader& item : *items) {
    JsonFields fields(item);
    auto refused =
        read_execution_fields(executions.call, item, fields, executions.to->emplace_back());
    if (refused) return refused;
  }
  return std::nullopt;
}

}  // namespace

Refused read_json(const JsonReader& json, workflow::RetryPolicy& to) {
  JsonFields fields(json);
  fields.optional("retries_max", to.retries_max)
      .optional("backoff_seconds", to.backoff)
      .optional("multiplier", to.multiplier)
      .optional("backoff_max_seconds", to.backoff_max)
      .optional("jitter", to.has_jitter)
      .optional("categories", to.categories);
  return fields.finish();
}

Refused read_json(const JsonReader& json, workflow::EdgePolicy& to) {
  JsonFields fields(json);
  fields.required("kind", to.kind).optional("on_satisfied", to.on_satisfied);
  if (to.kind == workflow::EdgePolicy::Kind::quorum) fields.required("count", to.k);
  return fields.finish();
}

Refused read_json(const JsonReader& json, workflow::NewEdge& to) {
  JsonFields fields(json);
  fields.required("upstream", to.upstream)
      .required("downstream", to.downstream)
      .optional("id", to.id)
      .optional("input", to.input)
      .optional("creator", to.creator);
  return fields.finish();
}

Refused read_json(const JsonReader& json, NewGraph::Edge& to) {
  JsonFields fields(json);
  fields.required("upstream", to.upstream)
      .required("downstream", to.downstream)
      .optional("input", to.input);
  return fields.finish();
}

Refused read_json(const JsonReader& json, NewGraph::Policy& to) {
  JsonFields fields(json);
  fields.required("downstream", to.downstream).required("policy", to.policy);
  return fields.finish();
}

Refused read_json(const JsonReader& json, workflow::Rate& to) {
  JsonFields fields(json);
  fields.required("count", to.count).optional("per_seconds", to.per).optional("burst", to.burst);
  return fields.finish();
}

Refused read_json(const JsonReader& json, workflow::WaitCondition& to) {
  using Condition = workflow::WaitCondition;
  std::string kind = "all_of";
  JsonFields fields(json);
  fields.optional("kind", kind).optional("waitpoints", to.waitpoints);
  if (kind == "count") fields.required("count", to.k).optional("distinct", to.distinct);
  if (auto refused = fields.finish()) return refused;
  if (kind == "any_of") {
    to = Condition::any_of(std::move(to.waitpoints));
  } else if (kind == "count") {
    to.kind = Condition::Kind::count;
  } else if (kind != "all_of") {
    return json.refuse_field("kind", "invalid_value",
                             "'" + kind + "' is none of all_of, any_of, count");
  }
  return std::nullopt;
}

Outcome<NewExecution> read_new_execution(const Call* call, const JsonReader& json) {
  NewExecution request;
  JsonFields fields(json);
  fields.optional("namespace", request.space).optional("workflow", request.workflow);
  if (auto refused = read_execution_fields(call, json, fields, request)) return *std::move(refused);
  if (auto refused = settle_space(call, json, request.space)) return *std::move(refused);
  return request;
}

Outcome<NewExecution> read_member(const Call* call, const JsonReader& json) {
  NewExecution request;
  JsonFields fields(json);
  if (auto refused = read_execution_fields(call, json, fields, request)) return *std::move(refused);
  return request;
}

Outcome<workflow::Tags> read_tags(const Call* call) {
  auto body = parse_body(call);
  if (!body) return std::move(body).error();
  workflow::Tags tags;
  JsonFields fields(body->root());
  fields.required("tags", tags);
  if (auto refused = fields.finish()) return *std::move(refused);
  if (auto valid = workflow::validate(tags); !valid) return valid.error();
  return tags;
}

Outcome<NewGraph> read_new_graph(const Call* call, const JsonReader& json) {
  NewGraph graph;
  JsonFields fields(json);
  take_workflow_fields(fields, graph.workflow);
  fields.optional("executions", GraphExecutions{call, &graph.executions})
      .optional("edges", graph.edges)
      .optional("policies", graph.policies);
  if (auto refused = fields.finish()) return *std::move(refused);
  if (auto refused = settle_space(call, json, graph.workflow.space)) return *std::move(refused);
  return graph;
}

}  // namespace weir::server::internal
