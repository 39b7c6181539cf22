// What workers do: they claim executions, keep their leases, and say what came of it.

#include <utility>

#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/handle_text.hpp>
#include <weir/server/internal/workflow_calls.hpp>
#include <weir/server/internal/workflow_json.hpp>
#include <weir/server/internal/workflow_requests.hpp>
#include <weir/telemetry/w3c.hpp>

namespace weir::server::internal {

namespace workflow = flow::workflow;
using workflow::Claimed;
using workflow::Handle;

namespace {

/// Each may have a payload of a megabyte, and inputs of as much.
constexpr std::size_t claims_max = 100;

struct ClaimBody {
  workflow::ClaimRequest request;
  Duration wait = {};
};

/// Those that were asked for, or all of the caller's.
Refused settle_spaces(const Call* call, const JsonReader& json, std::vector<std::string>& spaces) {
  for (const std::string& space : spaces) {
    if (sees_space(call->caller, space)) continue;
    Problem problem =
        json.refuse_field("namespaces", "wrong_namespace", "the token is not for '" + space + "'");
    problem.status = 403;
    return problem;
  }
  if (spaces.empty()) spaces = call->caller.namespaces;
  return std::nullopt;
}

Outcome<ClaimBody> read_claim(const Call* call) {
  auto document = parse_body(call);
  if (!document) return std::move(document).error();
  const JsonReader root = document->root();
  ClaimBody body{.request = {.worker = {}}};
  workflow::ClaimRequest& request = body.request;
  JsonFields fields(root);
  fields.required("worker", request.worker)
      .optional("lane", request.lane)
      .optional("capabilities", request.capabilities)
      .optional("namespaces", request.spaces)
      .optional("lease_seconds", request.lease)
      .optional("executions_max", request.executions_max)
      .optional("wait_seconds", body.wait);
  if (auto refused = fields.finish()) return *std::move(refused);
  if (request.executions_max == 0 || request.executions_max > claims_max) {
    return root.refuse_field("executions_max", "out_of_range",
                             "a number from 1 to " + std::to_string(claims_max) + " is needed");
  }
  const auto most = std::chrono::floor<std::chrono::seconds>(call->core->options.limits.wait_time);
  if (body.wait > most) {
    return root.refuse_field("wait_seconds", "out_of_range",
                             "it is at most " + std::to_string(most.count()));
  }
  if (auto refused = settle_spaces(call, root, request.spaces)) return *std::move(refused);
  return body;
}

Task<> give_up_after(Duration time, CancellationSource* until) {
  if (co_await sleep_for(time)) until->cancel();
}
Task<> give_up_with(CancellationToken call, CancellationSource* until) {
  if (co_await call.cancelled()) until->cancel();
}

/// Waits for some, but no longer than was asked for, nor for who has gone. Whoever is late gets
/// what the engine gave in the same moment: to cancel the question would leave that to nobody.
Task<Result<std::vector<Claimed>>> claim_or_wait(const Call* call, ClaimBody body) {
  const workflow::Engine* engine = call->core->engine.get();
  if (body.wait == Duration::zero()) co_return co_await engine->claim(std::move(body.request));
  CancellationSource until;
  body.request.until = until.token();
  TaskScope watch;
  watch.spawn(give_up_after(body.wait, &until));
  watch.spawn(give_up_with(call->drain, &until));
  auto claimed = co_await engine->next(std::move(body.request));
  watch.cancel_all();
  co_await watch.join();
  co_return claimed;
}

/// Others need not wait until the leases expire. The attempts go on with whoever claims next.
Task<> give_back_claims(const workflow::Engine* engine, std::vector<Handle> handles) {
  const CancellationShield shield;
  for (const Handle& handle : handles)
    static_cast<void>(co_await engine->delay(handle, engine->time()));
}

void write_claimed(JsonWriter& json, const Claimed& claimed, const std::string& secret) {
  json.begin_object().key("handle").text(print_handle(claimed.handle, secret));
  json.key("execution").text(to_string(claimed.handle.execution));
  json.key("kind").text(claimed.spec.kind).key("payload");
  write_payload(json, claimed.spec.payload);
  json.key("inputs").begin_array();
  for (const workflow::Input& input : claimed.inputs) {
    json.begin_object().key("name").text(input.name);
    json.key("upstream").text(to_string(input.upstream)).key("payload");
    write_payload(json, input.payload);
    json.end_object();
  }
  json.end_array().key("attempt").number(std::uint64_t{claimed.handle.attempt});
  json.key("attempt_kind").text(to_string(claimed.attempt_kind)).key("lease_until");
  write_time(json, claimed.expires_at);
  json.key("created");
  write_time(json, claimed.spec.created_at);
  json.key("creator").text(claimed.spec.creator).key("resumed");
  write_resumption(json, claimed.resumed);
  json.key("traceparent");
  const telemetry::TraceContext& trace = claimed.spec.trace;
  write_text(json, trace.is_valid() ? telemetry::print_traceparent(trace) : std::string());
  json.end_object();
}

Task<Response> claim_executions(const Call* call) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY(body, read_claim(call));
  WEIR_CO_TRY(secret, co_await call->core->handle_secret.get());
  WEIR_CO_TRY(claims, co_await claim_or_wait(call, std::move(body)));
  Response response = answer_object([&](JsonWriter& json) {
    json.key("claims").begin_array();
    for (const Claimed& claimed : claims) write_claimed(json, claimed, secret);
    json.end_array();
  });
  if (claims.empty()) co_return response;
  std::vector<Handle> handles;
  for (const Claimed& claimed : claims) handles.push_back(claimed.handle);
  response.undo = [engine, handles] { return give_back_claims(engine, handles); };
  co_return response;
}

/// The body of a worker that has a lease: `handle`, and what `take` takes of the rest.
template <class Take>
Task<Outcome<Handle>> read_held(const Call* call, Take take) {
  WEIR_CO_TRY_VOID(engine_of(call));
  WEIR_CO_TRY(document, parse_body(call));
  WEIR_CO_TRY(secret, co_await call->core->handle_secret.get());
  Handle handle;
  JsonFields fields(document.root());
  take(fields.required("handle", HandleField{&handle, secret}));
  if (auto refused = fields.finish()) co_return *std::move(refused);
  if (auto refused = co_await check_execution(call, handle.execution))
    co_return *std::move(refused);
  co_return handle;
}

Task<Response> renew_lease(const Call* call) {
  Duration lease = std::chrono::seconds(30);
  WEIR_CO_TRY(handle, co_await read_held(call, [&](JsonFields& fields) {
                fields.optional("lease_seconds", lease);
              }));
  WEIR_CO_TRY(until, co_await call->core->engine->renew(handle, lease));
  co_return answer_object([&](JsonWriter& json) {
    json.key("lease_until");
    write_time(json, until);
  });
}

Task<Response> complete_execution(const Call* call) {
  std::string result;
  WEIR_CO_TRY(handle, co_await read_held(call, [&](JsonFields& fields) {
                fields.optional("result", PayloadField{&result});
              }));
  WEIR_CO_TRY_VOID(co_await call->core->engine->complete(handle, std::move(result)));
  co_return answer_nothing();
}

Task<Response> fail_execution(const Call* call) {
  workflow::Failure failure;
  WEIR_CO_TRY(handle, co_await read_held(call, [&](JsonFields& fields) {
                fields.required("reason", failure.reason)
                    .optional("category", failure.category)
                    .optional("final", failure.is_final);
              }));
  WEIR_CO_TRY(failed, co_await call->core->engine->fail(handle, std::move(failure)));
  co_return answer_object([&](JsonWriter& json) {
    json.key("retry_at");
    write_time(json, failed.retry_at);
  });
}

Task<Response> delay_execution(const Call* call) {
  std::optional<Duration> delay;
  std::optional<workflow::Time> until;
  WEIR_CO_TRY(handle, co_await read_held(call, [&](JsonFields& fields) {
                fields.optional("until", until).optional("delay_seconds", delay);
              }));
  if (until && delay) {
    co_return Problem{.status = 422,
                      .code = "invalid_value",
                      .detail = "'until' is there already",
                      .pointer = "/delay_seconds"};
  }
  const auto from_now = std::chrono::ceil<workflow::Time::duration>(delay.value_or(Duration()));
  const workflow::Engine* engine = call->core->engine.get();
  WEIR_CO_TRY_VOID(co_await engine->delay(handle, until.value_or(engine->time() + from_now)));
  co_return answer_nothing();
}

Task<Response> suspend_execution(const Call* call) {
  workflow::SuspendRequest request{.condition = {}};
  WEIR_CO_TRY(handle, co_await read_held(call, [&](JsonFields& fields) {
                fields.required("condition", request.condition)
                    .optional("key", request.key)
                    .optional("reason", request.reason)
                    .optional("timeout_seconds", request.timeout)
                    .optional("on_timeout", request.on_timeout)
                    .optional("resume_delay_seconds", request.resume_delay);
              }));
  WEIR_CO_TRY(suspended, co_await call->core->engine->suspend(handle, std::move(request)));
  co_return answer_object([&](JsonWriter& json) {
    json.key("resumed");
    write_resumption(json, suspended.resumed);
    json.key("tokens").begin_array();
    for (const workflow::WaitpointToken& token : suspended.tokens) {
      json.begin_object().key("waitpoint").text(token.waitpoint);
      json.key("token").text(token.token).end_object();
    }
    json.end_array();
  });
}

std::vector<Route> ending_routes() {
  return {
      {.method = "POST",
       .path = "/api/v1/claims/complete",
       .operation = "complete_execution",
       .summary = "It is done; its result is for those who depend on it.",
       .role = Role::write,
       .request = "Completion",
       .handle = &complete_execution},
      {.method = "POST",
       .path = "/api/v1/claims/fail",
       .operation = "fail_execution",
       .summary = "It failed, and is tried again if its policy says so.",
       .role = Role::write,
       .request = "FailureReport",
       .response = "FailureTaken",
       .handle = &fail_execution},
      {.method = "POST",
       .path = "/api/v1/claims/delay",
       .operation = "delay_execution",
       .summary = "Gives it back, to be claimed again after a time.",
       .role = Role::write,
       .request = "DelayRequest",
       .handle = &delay_execution},
      {.method = "POST",
       .path = "/api/v1/claims/suspend",
       .operation = "suspend_execution",
       .summary = "Gives it back until what it waits for has come.",
       .role = Role::write,
       .request = "SuspendRequest",
       .response = "Suspended",
       .handle = &suspend_execution},
  };
}

}  // namespace

std::vector<Route> claim_routes() {
  std::vector<Route> routes = ending_routes();
  const std::vector<Route> of_leases = {
      {.method = "POST",
       .path = "/api/v1/claims",
       .operation = "claim_executions",
       .summary = "Claims executions, the most urgent first; waits for some if asked to.",
       .role = Role::write,
       .waits = true,
       .request = "ClaimRequest",
       .response = "Claims",
       .handle = &claim_executions},
      {.method = "POST",
       .path = "/api/v1/claims/renew",
       .operation = "renew_lease",
       .summary = "Keeps a lease for longer.",
       .role = Role::write,
       .request = "Renewal",
       .response = "Renewed",
       .handle = &renew_lease},
  };
  routes.insert(routes.end(), of_leases.begin(), of_leases.end());
  return routes;
}

}  // namespace weir::server::internal
