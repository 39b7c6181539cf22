// Lanes and limits: how much is done at once, and how fast.

#include <utility>

#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/relations.hpp>
#include <weir/server/internal/workflow_calls.hpp>
#include <weir/server/internal/workflow_json.hpp>
#include <weir/server/internal/workflow_requests.hpp>

namespace weir::server::internal {

namespace workflow = flow::workflow;

namespace {

void write_limit(JsonWriter& json, const std::optional<std::uint32_t>& concurrency_max) {
  json.key("concurrency_max");
  if (concurrency_max) {
    json.number(std::uint64_t{*concurrency_max});
  } else {
    json.null();
  }
}

Task<Response> get_lane(const Call* call) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY(limit, page_limit(call));
  const std::string name = call->parameter("lane");
  WEIR_CO_TRY(queue, co_await engine->queue(name, limit));
  co_return answer_object([&](JsonWriter& json) {
    json.key("lane").text(name).key("state").text(to_string(queue.lane.state));
    write_limit(json, queue.lane.concurrency_max);
    json.key("rate");
    write_rate(json, queue.lane.rate);
    json.key("active").number(queue.lane.active).key("refusal");
    write_admission(json, queue.admission);
    json.key("counts");
    write_counts(json, queue.counts);
    json.key("waiting").begin_array();
    for (const workflow::QueueInfo::Waiting& waiting : queue.waiting) {
      json.begin_object().key("id").text(to_string(waiting.id)).key("since");
      write_time(json, waiting.since);
      json.key("refusal");
      write_admission(json, waiting.admission);
      json.end_object();
    }
    json.end_array();
  });
}

Task<Response> change_lane_state(const Call* call, workflow::LaneState state) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY_VOID(co_await engine->set_lane_state(call->parameter("lane"), state));
  co_return answer_nothing();
}

Task<Response> pause_lane(const Call* call) {
  return change_lane_state(call, workflow::LaneState::paused);
}
Task<Response> open_lane(const Call* call) {
  return change_lane_state(call, workflow::LaneState::active);
}

Task<Response> set_lane_state(const Call* call) {
  WEIR_CO_TRY(body, parse_body(call));
  auto state = workflow::LaneState::active;
  JsonFields fields(body.root());
  fields.required("state", state);
  if (auto refused = fields.finish()) co_return *std::move(refused);
  co_return co_await change_lane_state(call, state);
}

/// What a body with one field says of a lane; without the field there is no such limit.
template <class Value, auto Set>
Task<Response> bound_lane(const Call* call, std::string_view field) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY(body, parse_body(call));
  std::optional<Value> bound;
  JsonFields fields(body.root());
  fields.optional(field, bound);
  if (auto refused = fields.finish()) co_return *std::move(refused);
  WEIR_CO_TRY_VOID(co_await (engine->*Set)(call->parameter("lane"), bound));
  co_return answer_nothing();
}

Task<Response> set_lane_limit(const Call* call) {
  return bound_lane<std::uint32_t, &workflow::Engine::set_lane_limit>(call, "concurrency_max");
}
Task<Response> set_lane_rate(const Call* call) {
  return bound_lane<workflow::Rate, &workflow::Engine::set_lane_rate>(call, "rate");
}

Task<Response> resume_lane(const Call* call) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY(body, parse_body(call));
  workflow::ResumeLane request;
  JsonFields fields(body.root());
  fields.required("to", request.to)
      .optional("from", request.from)
      .optional("over_seconds", request.over);
  if (auto refused = fields.finish()) co_return *std::move(refused);
  WEIR_CO_TRY_VOID(co_await engine->resume_lane(call->parameter("lane"), request));
  co_return answer_nothing();
}

Task<Response> get_limit(const Call* call) {
  WEIR_CO_TRY(engine, engine_of(call));
  const std::string key = call->parameter("limit");
  WEIR_CO_TRY(limit, co_await engine->limit(key));
  co_return answer_object([&](JsonWriter& json) {
    json.key("key").text(key);
    write_limit(json, limit.concurrency_max);
    json.key("rate");
    write_rate(json, limit.rate);
    json.key("active").number(limit.active);
  });
}

Task<Response> set_limit(const Call* call) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY(body, parse_body(call));
  std::optional<std::uint32_t> most;
  std::optional<workflow::Rate> rate;
  JsonFields fields(body.root());
  fields.optional("concurrency_max", most).optional("rate", rate);
  if (auto refused = fields.finish()) co_return *std::move(refused);
  WEIR_CO_TRY_VOID(co_await engine->set_limit(call->parameter("limit"), most, rate));
  co_return answer_nothing();
}

/// They belong to no namespace: what is done to a lane is done to all of them.
Route operator_route(std::string_view method, std::string_view path, std::string_view operation,
                     std::string_view summary, std::string_view request, Route::Handler handle) {
  return {.method = method,
          .path = path,
          .operation = operation,
          .summary = summary,
          .role = Role::operate,
          .is_global = true,
          .request = request,
          .handle = handle};
}

}  // namespace

std::vector<Route> lane_routes() {
  return {
      {.method = "GET",
       .path = "/api/v1/lanes/{lane}",
       .operation = "get_lane",
       .summary = "A lane: its state and limits, and who waits in it, with why.",
       .is_global = true,
       .query = {limit_parameter()},
       .response = "Lane",
       .handle = &get_lane},
      operator_route("PUT", "/api/v1/lanes/{lane}/state", "set_lane_state",
                     "Whether executions of a lane are claimed.", "LaneState", &set_lane_state),
      operator_route("POST", "/api/v1/lanes/{lane}/pause", "pause_lane",
                     "Nothing of it is claimed any more.", "", &pause_lane),
      operator_route("POST", "/api/v1/lanes/{lane}/open", "open_lane", "It is claimed again.", "",
                     &open_lane),
      operator_route("POST", "/api/v1/lanes/{lane}/resume", "resume_lane",
                     "The same little by little.", "ResumeLane", &resume_lane),
      operator_route("PUT", "/api/v1/lanes/{lane}/limit", "set_lane_limit",
                     "How many leases it has at once.", "LaneLimit", &set_lane_limit),
      operator_route("PUT", "/api/v1/lanes/{lane}/rate", "set_lane_rate",
                     "How fast leases of it begin.", "LaneRate", &set_lane_rate),
      {.method = "GET",
       .path = "/api/v1/limits/{limit}",
       .operation = "get_limit",
       .summary = "What executions that name a key may do together.",
       .is_global = true,
       .response = "Limit",
       .handle = &get_limit},
      operator_route("PUT", "/api/v1/limits/{limit}", "set_limit",
                     "Of one key, or of all that begin so: customer:*.", "NewLimit", &set_limit),
  };
}

}  // namespace weir::server::internal
