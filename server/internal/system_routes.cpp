// The process itself: whether it is there, what it measures, which actors it has, what it offers.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/data/calendar.hpp>
#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/json_writer.hpp>
#include <weir/telemetry/prometheus.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::server::internal {
namespace {

constexpr telemetry::PrometheusFormat metrics_format = telemetry::PrometheusFormat::text;
constexpr std::size_t actors_max = 10'000;

char folded(char character) noexcept {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character + 32) : character;
}

Task<Response> health(const Call*) { co_return Response::json(R"({"status":"ok"})"); }

Task<Response> readiness(const Call* call) {
  if (call->core->is_draining.load(std::memory_order_relaxed)) {
    co_return Problem{.status = 503, .code = "stopping", .detail = "the server is about to stop"};
  }
  // What was read before may be in memory when the disk has failed, so reading alone does not tell.
  WEIR_CO_TRY_VOID(call->core->store->check_open());
  WEIR_CO_TRY_VOID(co_await call->core->store->spaces());
  co_return Response::json(R"({"status":"ready"})");
}

Task<Response> metrics(const Call* call) {
  telemetry::Telemetry* telemetry = call->core->telemetry();
  if (!telemetry) {
    co_return Problem{.status = 404,
                      .code = "no_telemetry",
                      .detail = "the server was started without telemetry"};
  }
  // Collecting looks at every actor, and may wait for a callback that runs elsewhere.
  auto page = [telemetry] { return prometheus_page(telemetry->collect(), metrics_format); };
  WEIR_CO_TRY(text, co_await on_blocking_pool(std::move(page)));
  Response response;
  response.type = content_type(metrics_format);
  response.body = std::move(text);
  co_return response;
}

void write_actor(JsonWriter& json, const ActorInfo& actor) {
  json.begin_object().key("id").number(std::uint64_t{actor.id.value});
  json.key("parent").number(std::uint64_t{actor.parent.value});
  json.key("type").text(actor.type).key("name").text(actor.name);
  json.key("phase").text(actor.phase).key("phase_seconds");
  json.number(std::chrono::duration<double>(actor.phase_age).count());
  json.key("mailbox_depth").number(std::uint64_t{actor.mailbox_depth});
  json.key("mailbox_capacity").number(std::uint64_t{actor.mailbox_capacity});
  json.key("messages_handled").number(actor.messages_handled);
  json.key("restarts").number(std::uint64_t{actor.restarts});
  json.key("last_failure").text(actor.last_failure);
  json.key("stopping").boolean(actor.is_stopping).end_object();
}

using ActorFigure = std::uint64_t (*)(const ActorInfo&);

/// Those with the most of it come first; null for what is no order.
ActorFigure figure_named(std::string_view name) noexcept {
  if (name == "id") return [](const ActorInfo&) { return std::uint64_t{0}; };
  if (name == "mailbox")
    return [](const ActorInfo& actor) { return std::uint64_t{actor.mailbox_depth}; };
  if (name == "handled") return [](const ActorInfo& actor) { return actor.messages_handled; };
  if (name == "restarts")
    return [](const ActorInfo& actor) { return std::uint64_t{actor.restarts}; };
  if (name == "phase_age") {
    return [](const ActorInfo& actor) {
      return static_cast<std::uint64_t>(std::max(actor.phase_age, Duration::zero()).count());
    };
  }
  return nullptr;
}

/// Brings the first ones of an order to the front; of equal ones those that are older.
void sort_first(std::vector<ActorInfo>& actors, std::size_t count, ActorFigure figure) {
  std::ranges::partial_sort(actors, actors.begin() + static_cast<std::ptrdiff_t>(count),
                            [figure](const ActorInfo& a, const ActorInfo& b) {
                              const std::uint64_t left = figure(a);
                              const std::uint64_t right = figure(b);
                              return left != right ? left > right : a.id.value < b.id.value;
                            });
}

bool contains(std::string_view text, std::string_view words) noexcept {
  return words.empty() || !std::ranges::search(text, words, {}, folded, folded).empty();
}

bool shows(const ActorInfo& actor, std::string_view words) {
  return contains(actor.name, words) || contains(actor.type, words) ||
         contains(actor.phase, words) || contains("#" + std::to_string(actor.id.value), words);
}

Task<Response> actors(const Call* call) {
  WEIR_CO_TRY(limit, call->number("limit", actors_max, actors_max));
  const std::string* sort = call->query("sort");
  const ActorFigure figure = figure_named(sort ? std::string_view(*sort) : "id");
  if (!figure) {
    co_return Problem{.status = 400,
                      .code = "invalid_parameter",
                      .detail = "'sort' is id, mailbox, handled, restarts or phase_age"};
  }
  std::vector<ActorInfo> found = call->core->system().actors();
  const std::size_t total = found.size();
  if (const std::string* words = call->query("contains"))
    std::erase_if(found, [&](const ActorInfo& actor) { return !shows(actor, *words); });
  const std::size_t shown = std::min<std::size_t>(limit, found.size());
  sort_first(found, shown, figure);
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("actors").begin_array();
  for (std::size_t index = 0; index < shown; ++index) write_actor(json, found[index]);
  json.end_array().key("found").number(std::uint64_t{found.size()});
  json.key("total").number(std::uint64_t{total}).end_object();
  co_return Response::json(std::move(text));
}

Task<Response> openapi(const Call* call) { co_return Response::json(call->core->openapi); }

void write_savepoint(JsonWriter& json, const storage::BackupInfo& savepoint) {
  const auto time = std::chrono::floor<std::chrono::microseconds>(savepoint.time);
  json.begin_object().key("name").text(savepoint.directory.filename().string());
  json.key("version").number(savepoint.version.number);
  json.key("time").text(flow::data::to_string(flow::data::Timestamp(time)));
  json.key("files").number(savepoint.files).key("bytes").number(savepoint.bytes).end_object();
}

Task<Response> list_savepoints(const Call* call) {
  WEIR_CO_TRY(savepoints, co_await call->core->store->savepoints());
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("savepoints").begin_array();
  for (const storage::BackupInfo& savepoint : savepoints) write_savepoint(json, savepoint);
  json.end_array().end_object();
  co_return Response::json(std::move(text));
}

/// What the store says names its directory, which is nobody's business outside.
Problem savepoint_problem(const Error& error, const std::string& name) {
  Problem problem = problem_of(error);
  if (problem.code == "not_found") problem.detail = "there is no savepoint '" + name + "'";
  if (problem.code == "already_exists")
    problem.detail = "there is a savepoint '" + name + "' already";
  return problem;
}

Task<Response> make_savepoint(const Call* call) {
  const std::string name = call->parameter("savepoint");
  auto made = co_await call->core->store->make_savepoint(name);
  if (!made) co_return savepoint_problem(made.error(), name);
  std::string text;
  JsonWriter json(&text);
  write_savepoint(json, *made);
  co_return Response::json(std::move(text));
}

Task<Response> remove_savepoint(const Call* call) {
  const std::string name = call->parameter("savepoint");
  const auto removed = co_await call->core->store->remove_savepoint(name);
  if (!removed) co_return savepoint_problem(removed.error(), name);
  Response response;
  response.status = 204;
  co_return response;
}

std::vector<Route> savepoint_routes() {
  return {
      {.method = "GET",
       .path = "/api/v1/savepoints",
       .operation = "list_savepoints",
       .summary = "Copies of the store inside its directory.",
       .is_global = true,
       .response = "Savepoints",
       .handle = &list_savepoints},
      {.method = "PUT",
       .path = "/api/v1/savepoints/{savepoint}",
       .operation = "make_savepoint",
       .summary = "Copies the store as it is.",
       .role = Role::operate,
       .is_global = true,
       .response = "Savepoint",
       .handle = &make_savepoint},
      {.method = "DELETE",
       .path = "/api/v1/savepoints/{savepoint}",
       .operation = "remove_savepoint",
       .summary = "Removes such a copy.",
       .role = Role::operate,
       .is_global = true,
       .handle = &remove_savepoint},
  };
}

}  // namespace

std::vector<Route> system_routes() {
  std::vector<Route> routes = savepoint_routes();
  routes.insert(
      routes.end(),
      {
          {.method = "GET",
           .path = "/api/v1/actors",
           .operation = "list_actors",
           .summary = "The actors that are alive: phase, mailbox, restarts, last failure.",
           .is_global = true,
           .query =
               {{"limit", "integer", "how many at most; 10,000 without it, and no more"},
                {"sort", "string", "id, or the most first: mailbox, handled, restarts, phase_age"},
                {"contains", "string", "what name, type, phase or #id has in it, in any case"}},
           .response = "Actors",
           .handle = &actors},
          {.method = "GET",
           .path = "/api/v1/openapi.json",
           .operation = "get_openapi",
           .summary = "This description.",
           .role = std::nullopt,
           .response = "Any",
           .handle = &openapi},
          {.method = "GET",
           .path = "/healthz",
           .operation = "get_health",
           .summary = "Whether the process answers.",
           .role = std::nullopt,
           .response = "Status",
           .handle = &health},
          {.method = "GET",
           .path = "/readyz",
           .operation = "get_readiness",
           .summary = "Whether requests should be sent here: not while it stops, nor when its "
                      "store has failed.",
           .role = std::nullopt,
           .response = "Status",
           .handle = &readiness},
          {.method = "GET",
           .path = "/metrics",
           .operation = "get_metrics",
           .summary = "Metrics as Prometheus reads them.",
           .is_global = true,
           .response_type = content_type(metrics_format),
           .handle = &metrics},
      });
  return routes;
}

}  // namespace weir::server::internal
