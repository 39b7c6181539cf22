// What an engine tells: ends, leases and signals, and what it has done.

#include <array>
#include <utility>

#include <weir/runtime/sleep.hpp>
#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/relations.hpp>
#include <weir/server/internal/workflow_calls.hpp>
#include <weir/server/internal/workflow_json.hpp>

namespace weir::server::internal {

namespace workflow = flow::workflow;
using workflow::EngineReport;
using workflow::Notice;

namespace {

/// How often an engine in another store is asked, which tells nobody here of its commits.
constexpr Duration notice_poll = std::chrono::milliseconds(250);

void write_notice(JsonWriter& json, std::uint64_t number, const Notice& notice) {
  json.begin_object().key("number").number(number).key("kind").text(to_string(notice.kind));
  json.key("execution").text(to_string(notice.execution)).key("workflow");
  write_text(json, notice.workflow ? to_string(*notice.workflow) : "");
  json.key("namespace").text(notice.space).key("outcome");
  write_text(json, notice.outcome == workflow::Outcome::none ? "" : to_string(notice.outcome));
  json.key("waitpoint");
  write_text(json, notice.waitpoint);
  json.key("at");
  write_time(json, notice.at);
  json.end_object();
}

Task<> wait_for_commit(const Call* call, storage::Version seen, Duration time) {
  const storage::Store* store = call->core->engine->store();
  if (store && *store == *call->core->store) {
    co_await wait_past(call, seen, time);
  } else {
    static_cast<void>(co_await sleep_for(std::min(time, notice_poll)));
  }
}

Task<Response> list_notices(const Call* call) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY(limit, page_limit(call));
  const auto wait_max =
      std::chrono::floor<std::chrono::milliseconds>(call->core->options.limits.wait_time);
  WEIR_CO_TRY(wait, call->number("wait", 0, static_cast<std::uint64_t>(wait_max.count())));
  WEIR_CO_TRY(first, co_await engine->first_notice());
  WEIR_CO_TRY(from, call->number("from", first, any_number));
  const TimePoint until = call->core->system().now() + std::chrono::milliseconds(wait);
  for (;;) {
    const storage::Version seen = call->core->store->version();
    WEIR_CO_TRY(notices, co_await engine->notices(from, limit));
    const Duration left = until - call->core->system().now();
    if (notices.empty() && left > Duration::zero() && !call->drain.is_cancelled()) {
      co_await wait_for_commit(call, seen, left);
      continue;
    }
    co_return answer_object([&](JsonWriter& json) {
      json.key("notices").begin_array();
      for (const auto& [number, notice] : notices)
        if (sees_space(call->caller, notice.space)) write_notice(json, number, notice);
      json.end_array().key("next");
      json.number(notices.empty() ? from : notices.back().first + 1);
    });
  }
}

Task<Response> acknowledge_notices(const Call* call) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY(body, parse_body(call));
  std::string consumer;
  std::uint64_t number = 0;
  JsonFields fields(body.root());
  fields.required("consumer", consumer).required("number", number);
  if (auto refused = fields.finish()) co_return *std::move(refused);
  WEIR_CO_TRY_VOID(co_await engine->acknowledge_notices(std::move(consumer), number));
  co_return answer_nothing();
}

Task<Response> list_consumers(const Call* call) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY(cursors, co_await engine->notice_cursors());
  WEIR_CO_TRY(first, co_await engine->first_notice());
  co_return answer_object([&](JsonWriter& json) {
    json.key("consumers").begin_object();
    for (const auto& [consumer, number] : cursors) json.key(consumer).number(number);
    json.end_object().key("first").number(first);
  });
}

Task<Response> drop_consumer(const Call* call) {
  WEIR_CO_TRY(engine, engine_of(call));
  const std::string consumer = call->parameter("consumer");
  WEIR_CO_TRY(was_known, co_await engine->drop_notice_cursor(consumer));
  if (was_known) co_return answer_nothing();
  co_return Problem{.status = 404,
                    .code = "not_found",
                    .detail = "nothing is known of a consumer '" + consumer + "'"};
}

using Figure = std::pair<std::string_view, std::uint64_t EngineReport::*>;

constexpr std::array figures_now = std::to_array<Figure>({{"waiting", &EngineReport::waiting},
                                                          {"delayed", &EngineReport::delayed},
                                                          {"active", &EngineReport::active},
                                                          {"suspended", &EngineReport::suspended},
                                                          {"due", &EngineReport::due}});

constexpr std::array figures_since_start = std::to_array<Figure>({
    {"commands", &EngineReport::commands},
    {"commits", &EngineReport::commits},
    {"claims", &EngineReport::claims},
    {"retries", &EngineReport::retries},
    {"leases_expired", &EngineReport::leases_expired},
    {"signals", &EngineReport::signals},
    {"groups_dispatched", &EngineReport::groups_dispatched},
    {"siblings_cancelled", &EngineReport::siblings_cancelled},
    {"siblings_spared", &EngineReport::siblings_spared},
    {"siblings_ended_before", &EngineReport::siblings_ended_before},
    {"dispatch_errors", &EngineReport::dispatch_errors},
    {"dispatches_filtered", &EngineReport::dispatches_filtered},
    {"executions_removed", &EngineReport::executions_removed},
    {"workflows_removed", &EngineReport::workflows_removed},
    {"notices_removed", &EngineReport::notices_removed},
    {"removals_postponed", &EngineReport::removals_postponed},
    {"removal_errors", &EngineReport::removal_errors},
    {"workflows_audited", &EngineReport::workflows_audited},
    {"workflows_drifted", &EngineReport::workflows_drifted},
    {"workflows_repaired", &EngineReport::workflows_repaired},
    {"audit_errors", &EngineReport::audit_errors},
});

Task<Response> get_engine(const Call* call) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY(report, co_await engine->report());
  WEIR_CO_TRY(set_aside, co_await engine->set_aside());
  co_return answer_object([&](JsonWriter& json) {
    json.key("time");
    write_time(json, engine->time());
    json.key("now").begin_object();
    for (const auto& [name, figure] : figures_now) json.key(name).number(report.*figure);
    json.end_object().key("since_start").begin_object();
    for (const auto& [name, figure] : figures_since_start) json.key(name).number(report.*figure);
    json.end_object().key("set_aside").begin_array();
    for (const workflow::SetAside& entry : set_aside) {
      json.begin_object().key("what").text(entry.what);
      json.key("reason").text(entry.reason.message()).end_object();
    }
    json.end_array();
  });
}

}  // namespace

std::vector<Route> notice_routes() {
  return {
      {.method = "GET",
       .path = "/api/v1/notices",
       .operation = "list_notices",
       .summary = "Ends, leases, signals and suspensions, in the order of commits, with numbers "
                  "without gaps.",
       .waits = true,
       .query = {{"from", "integer", "the number of the first; the first that is there without it"},
                 limit_parameter(),
                 wait_parameter()},
       .response = "Notices",
       .handle = &list_notices},
      {.method = "POST",
       .path = "/api/v1/notices/acknowledge",
       .operation = "acknowledge_notices",
       .summary = "A consumer has dealt with notices; those that none waits for may be removed.",
       .role = Role::write,
       .is_global = true,
       .request = "Acknowledgement",
       .handle = &acknowledge_notices},
      {.method = "GET",
       .path = "/api/v1/notices/consumers",
       .operation = "list_notice_consumers",
       .summary = "How far each consumer is, and which notice is the first that is there.",
       .is_global = true,
       .response = "NoticeConsumers",
       .handle = &list_consumers},
      {.method = "DELETE",
       .path = "/api/v1/notices/consumers/{consumer}",
       .operation = "drop_notice_consumer",
       .summary = "A consumer that will not come again holds up nothing.",
       .role = Role::operate,
       .is_global = true,
       .handle = &drop_consumer},
      {.method = "GET",
       .path = "/api/v1/engine",
       .operation = "get_engine",
       .summary = "What the engine has done since it was opened, and what there is to do.",
       .is_global = true,
       .response = "Engine",
       .handle = &get_engine},
  };
}

}  // namespace weir::server::internal
