// What is done to an execution from outside, by those who run it or have a token for it.

#include <utility>

#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/workflow_calls.hpp>
#include <weir/server/internal/workflow_json.hpp>
#include <weir/server/internal/workflow_requests.hpp>

namespace weir::server::internal {

namespace workflow = flow::workflow;

namespace {

/// Of a body that has nothing else, and need not have it.
Outcome<std::string> read_reason(const Call* call) {
  auto body = parse_body(call);
  if (!body) return std::move(body).error();
  std::string reason;
  JsonFields fields(body->root());
  fields.optional("reason", reason);
  if (auto refused = fields.finish()) return *std::move(refused);
  return reason;
}

Task<Response> cancel_execution(const Call* call) {
  WEIR_CO_TRY(found, co_await find_execution(call));
  WEIR_CO_TRY(reason, read_reason(call));
  WEIR_CO_TRY(is_new, co_await call->core->engine->cancel(found.id, std::move(reason)));
  co_return answer_object([&](JsonWriter& json) { json.key("is_new").boolean(is_new); });
}

Task<Response> revoke_lease(const Call* call) {
  WEIR_CO_TRY(found, co_await find_execution(call));
  WEIR_CO_TRY(reason, read_reason(call));
  WEIR_CO_TRY_VOID(co_await call->core->engine->revoke(found.id, std::move(reason)));
  co_return answer_nothing();
}

Task<Response> replay_execution(const Call* call) {
  WEIR_CO_TRY(found, co_await find_execution(call));
  WEIR_CO_TRY_VOID(co_await call->core->engine->replay(found.id));
  co_return answer_nothing();
}

Task<Response> resume_execution(const Call* call) {
  WEIR_CO_TRY(found, co_await find_execution(call));
  const std::string by = call->caller.name.empty() ? "operator" : call->caller.name;
  WEIR_CO_TRY_VOID(co_await call->core->engine->resume(found.id, by));
  co_return answer_nothing();
}

Task<Response> set_priority(const Call* call) {
  WEIR_CO_TRY(found, co_await find_execution(call));
  WEIR_CO_TRY(body, parse_body(call));
  std::int32_t priority = 0;
  JsonFields fields(body.root());
  fields.required("priority", priority);
  if (auto refused = fields.finish()) co_return *std::move(refused);
  WEIR_CO_TRY_VOID(co_await call->core->engine->change_priority(found.id, priority));
  co_return answer_nothing();
}

Task<Response> tag_execution(const Call* call) {
  WEIR_CO_TRY(found, co_await find_execution(call));
  WEIR_CO_TRY(tags, read_tags(call));
  for (const auto& [key, value] : tags)
    WEIR_CO_TRY_VOID(co_await call->core->engine->set_tag(found.id, key, value));
  co_return answer_nothing();
}

/// What a signal and an approval have in common.
void take_signal(JsonFields& fields, workflow::NewSignal& signal) {
  fields.required("waitpoint", signal.waitpoint)
      .optional("payload", PayloadField{&signal.payload})
      .optional("id", signal.id)
      .optional("source", signal.source);
}

Response answer_effect(workflow::SignalEffect effect) {
  return answer_object([&](JsonWriter& json) { json.key("effect").text(to_string(effect)); });
}

Task<Response> send_signal(const Call* call) {
  WEIR_CO_TRY(found, co_await find_execution(call));
  WEIR_CO_TRY(body, parse_body(call));
  workflow::NewSignal signal{.execution = found.id, .waitpoint = {}};
  std::string token;
  JsonFields fields(body.root());
  take_signal(fields.required("token", token), signal);
  if (auto refused = fields.finish()) co_return *std::move(refused);
  WEIR_CO_TRY(effect, co_await call->core->engine->signal(std::move(signal), std::move(token)));
  co_return answer_effect(effect);
}

Task<Response> approve_execution(const Call* call) {
  WEIR_CO_TRY(found, co_await find_execution(call));
  WEIR_CO_TRY(body, parse_body(call));
  workflow::NewSignal signal{.execution = found.id, .waitpoint = {}, .source = call->caller.name};
  JsonFields fields(body.root());
  take_signal(fields, signal);
  if (auto refused = fields.finish()) co_return *std::move(refused);
  WEIR_CO_TRY(effect, co_await call->core->engine->approve(std::move(signal)));
  co_return answer_effect(effect);
}

Task<Response> get_waitpoint_token(const Call* call) {
  WEIR_CO_TRY(found, co_await find_execution(call));
  const std::string waitpoint = call->parameter("waitpoint");
  WEIR_CO_TRY(token, co_await call->core->engine->waitpoint_token(found.id, waitpoint));
  co_return answer_object(
      [&](JsonWriter& json) { json.key("waitpoint").text(waitpoint).key("token").text(token); });
}

std::vector<Route> sent_routes() {
  return {
      {.method = "POST",
       .path = "/api/v1/executions/{execution}/tags",
       .operation = "tag_execution",
       .summary = "Sets tags; those that are not named stay as they are.",
       .role = Role::write,
       .request = "NewTags",
       .handle = &tag_execution},
      {.method = "POST",
       .path = "/api/v1/executions/{execution}/signals",
       .operation = "send_signal",
       .summary = "Sends a signal to a waitpoint, with the token of that.",
       .role = Role::write,
       .request = "NewSignal",
       .response = "SignalEffect",
       .handle = &send_signal},
      {.method = "POST",
       .path = "/api/v1/executions/{execution}/approve",
       .operation = "approve_execution",
       .summary = "The same without a token.",
       .role = Role::operate,
       .request = "NewApproval",
       .response = "SignalEffect",
       .handle = &approve_execution},
      {.method = "GET",
       .path = "/api/v1/executions/{execution}/waitpoints/{waitpoint}/token",
       .operation = "get_waitpoint_token",
       .summary = "With which others may send signals to a waitpoint.",
       .role = Role::operate,
       .response = "WaitpointToken",
       .handle = &get_waitpoint_token},
  };
}

}  // namespace

std::vector<Route> execution_control_routes() {
  std::vector<Route> routes = sent_routes();
  const std::vector<Route> of_operators = {
      {.method = "POST",
       .path = "/api/v1/executions/{execution}/cancel",
       .operation = "cancel_execution",
       .summary = "Ends an execution, whoever works on it.",
       .role = Role::operate,
       .request = "Reason",
       .response = "Cancelled",
       .handle = &cancel_execution},
      {.method = "POST",
       .path = "/api/v1/executions/{execution}/revoke",
       .operation = "revoke_lease",
       .summary = "Takes the lease from whoever has it: another attempt is made.",
       .role = Role::operate,
       .request = "Reason",
       .handle = &revoke_lease},
      {.method = "POST",
       .path = "/api/v1/executions/{execution}/replay",
       .operation = "replay_execution",
       .summary = "Runs an execution that has ended again, under the same id.",
       .role = Role::operate,
       .handle = &replay_execution},
      {.method = "POST",
       .path = "/api/v1/executions/{execution}/resume",
       .operation = "resume_execution",
       .summary = "Lets an execution that is suspended go on, whatever it waits for.",
       .role = Role::operate,
       .handle = &resume_execution},
      {.method = "POST",
       .path = "/api/v1/executions/{execution}/priority",
       .operation = "change_priority",
       .summary = "From 0 to 9000; higher ones are claimed first.",
       .role = Role::operate,
       .request = "NewPriority",
       .handle = &set_priority},
  };
  routes.insert(routes.end(), of_operators.begin(), of_operators.end());
  return routes;
}

}  // namespace weir::server::internal
