// Executions: making them, and looking at them.

#include <algorithm>
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

namespace {

Problem invalid_parameter(std::string detail) {
  return {.status = 400, .code = "invalid_parameter", .detail = std::move(detail)};
}

/// `waiting,active`
Outcome<std::vector<workflow::PublicState>> parse_states(std::string_view text) {
  std::vector<workflow::PublicState> states;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    const auto state = workflow::parse_word<workflow::PublicState>(word);
    if (!state) return invalid_parameter("there is no state '" + std::string(word) + "'");
    states.push_back(*state);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return states;
}

Outcome<workflow::ExecutionFilter> read_filter(const Call* call) {
  workflow::ExecutionFilter filter;
  if (const std::string* states = call->query("state")) {
    auto parsed = parse_states(*states);
    if (!parsed) return std::move(parsed).error();
    filter.states = *std::move(parsed);
  }
  if (const std::string* space = call->query("namespace")) filter.space = *space;
  if (const std::string* lane = call->query("lane")) filter.lane = *lane;
  if (const std::string* id = call->query("workflow")) {
    auto parsed = parse_workflow(*id);
    if (!parsed) return std::move(parsed).error();
    filter.workflow = *parsed;
  }
  if (const std::string* tag = call->query("tag")) {
    const std::size_t colon = tag->find(':');
    if (colon == std::string::npos)
      return invalid_parameter("a tag is written key:value, not '" + *tag + "'");
    filter.tags.emplace(tag->substr(0, colon), tag->substr(colon + 1));
  }
  return filter;
}

Task<Response> list_all_executions(const Call* call) {
  WEIR_CO_TRY(filter, read_filter(call));
  if (filter.workflow) {
    if (auto refused = co_await check_workflow(call, *filter.workflow))
      co_return *std::move(refused);
  }
  co_return co_await execution_page(call, std::move(filter));
}

Task<Response> create_execution(const Call* call) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY(body, parse_body(call));
  WEIR_CO_TRY(request, read_new_execution(call, body.root()));
  if (request.workflow) {
    if (auto refused = co_await check_workflow(call, *request.workflow))
      co_return *std::move(refused);
  }
  WEIR_CO_TRY(created, co_await engine->create_execution(std::move(request)));
  co_return answer_object(
      [&](JsonWriter& json) {
        json.key("id").text(to_string(created.id));
        json.key("is_duplicate").boolean(created.is_duplicate);
      },
      201);
}

Task<Response> get_execution(const Call* call) {
  WEIR_CO_TRY(found, co_await find_execution(call));
  std::string text;
  JsonWriter json(&text);
  write_execution(json, found, With::payload);
  co_return Response::json(std::move(text));
}

Task<Response> get_result(const Call* call) {
  WEIR_CO_TRY(found, co_await find_execution(call));
  WEIR_CO_TRY(result, co_await call->core->engine->result(found.id));
  co_return answer_object([&](JsonWriter& json) {
    json.key("state").text(to_string(found.state)).key("result");
    if (result) {
      write_payload(json, *result);
    } else {
      json.null();
    }
  });
}

Task<Response> list_attempts(const Call* call) {
  WEIR_CO_TRY(found, co_await find_execution(call));
  WEIR_CO_TRY(attempts, co_await call->core->engine->attempts(found.id));
  co_return answer_object([&](JsonWriter& json) {
    json.key("attempts").begin_array();
    for (std::size_t number = 0; number < attempts.size(); ++number)
      write_attempt(json, number, attempts[number]);
    json.end_array();
  });
}

Task<Response> list_signals(const Call* call) {
  WEIR_CO_TRY(from, call->number("from", 0, workflow::signals_max));
  WEIR_CO_TRY(limit, page_limit(call));
  WEIR_CO_TRY(found, co_await find_execution(call));
  WEIR_CO_TRY(signals, co_await call->core->engine->signals(
                           found.id, static_cast<std::uint32_t>(from), limit));
  co_return answer_object([&](JsonWriter& json) {
    json.key("signals").begin_array();
    for (const workflow::Signal& signal : signals) write_signal(json, signal);
    json.end_array().key("next");
    if (signals.size() == limit) {
      json.number(std::uint64_t{from + limit});
    } else {
      json.null();
    }
  });
}

Task<Response> get_suspension(const Call* call) {
  WEIR_CO_TRY(found, co_await find_execution(call));
  WEIR_CO_TRY(suspension, co_await call->core->engine->suspension(found.id));
  co_return answer_object([&](JsonWriter& json) {
    json.key("suspension");
    if (suspension) {
      write_suspension(json, *suspension);
    } else {
      json.null();
    }
  });
}

Task<Response> get_journal(const Call* call) {
  WEIR_CO_TRY(found, co_await find_execution(call));
  WEIR_CO_TRY(journal, co_await call->core->engine->journal(found.id));
  std::string text;
  JsonWriter json(&text);
  write_journal(json, journal);
  co_return Response::json(std::move(text));
}

std::vector<Route> detail_routes() {
  return {
      {.method = "GET",
       .path = "/api/v1/executions/{execution}/result",
       .operation = "get_execution_result",
       .summary = "What an execution gave, if it has completed.",
       .response = "ExecutionResult",
       .handle = &get_result},
      {.method = "GET",
       .path = "/api/v1/executions/{execution}/attempts",
       .operation = "list_execution_attempts",
       .summary = "Each try, in order: by whom, when, and what came of it.",
       .response = "Attempts",
       .handle = &list_attempts},
      {.method = "GET",
       .path = "/api/v1/executions/{execution}/signals",
       .operation = "list_execution_signals",
       .summary = "Signals that were sent to an execution, in order.",
       .query = {{"from", "integer", "the number of the first; they are numbered from 0"},
                 limit_parameter()},
       .response = "Signals",
       .handle = &list_signals},
      {.method = "GET",
       .path = "/api/v1/executions/{execution}/suspension",
       .operation = "get_execution_suspension",
       .summary = "What an execution waits for, or waited for last.",
       .response = "SuspensionSeen",
       .handle = &get_suspension},
      {.method = "GET",
       .path = "/api/v1/executions/{execution}/journal",
       .operation = "get_execution_journal",
       .summary = "The steps that a durable coroutine has done.",
       .response = "Journal",
       .handle = &get_journal},
  };
}

}  // namespace

std::vector<Route> execution_routes() {
  std::vector<Route> routes = detail_routes();
  const std::vector<Route> of_executions = {
      {.method = "GET",
       .path = "/api/v1/executions",
       .operation = "list_executions",
       .summary = "Executions in order of their ids, page by page. A page may have few or none and "
                  "not be the last.",
       .query = {{"state", "string", "one or more, with commas: waiting,active"},
                 {"lane", "string", "in this lane"},
                 {"namespace", "string", "in this namespace"},
                 {"tag", "string", "with this tag: key:value"},
                 {"workflow", "string", "of this workflow"},
                 after_parameter(),
                 limit_parameter()},
       .response = "Executions",
       .handle = &list_all_executions},
      {.method = "POST",
       .path = "/api/v1/executions",
       .operation = "create_execution",
       .summary = "Makes an execution, for some worker to claim.",
       .role = Role::write,
       .request = "NewExecution",
       .response = "ExecutionCreated",
       .creates = true,
       .handle = &create_execution},
      {.method = "GET",
       .path = "/api/v1/executions/{execution}",
       .operation = "get_execution",
       .summary = "All that is known of an execution.",
       .response = "Execution",
       .handle = &get_execution},
  };
  routes.insert(routes.end(), of_executions.begin(), of_executions.end());
  return routes;
}

}  // namespace weir::server::internal
