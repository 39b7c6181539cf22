// What somebody who watches asks for about once a second: the whole in one small object, the graph
// of tables and views with what goes along its edges, and messages that nobody handled.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <weir/flow/data/calendar.hpp>
#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/introspection.hpp>
#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/process_stats.hpp>
#include <weir/server/internal/relations.hpp>

namespace weir::server::internal {
namespace {

namespace view = flow::view;
using storage::Version;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// How far a view is behind the store, whoever has written what it has not seen.
struct Behind {
  std::uint64_t versions = 0;
  double seconds = 0;
};

/// Views are mostly at one version, so the log is asked once for all of them: only for the first
/// record that they have not seen, however far they are behind.
class BehindReader {
 public:
  explicit BehindReader(const storage::Store* store) : store_(store), newest_(store->version()) {}

  Task<Behind> at(Version position) {
    if (position >= newest_) co_return Behind{};
    const auto known = known_.find(position);
    if (known != known_.end()) co_return known->second;
    Behind behind{.versions = newest_.number - position.number};
    const auto records = co_await store_->log().read(position, {.records_max = 1});
    if (records && !records->empty()) {
      const auto age = store_->time() - records->front().time();
      behind.seconds = std::max(seconds(std::chrono::duration_cast<Duration>(age)), 0.0);
    }
    known_.emplace(position, behind);
    co_return behind;
  }

 private:
  const storage::Store* store_;
  const Version newest_;
  std::map<Version, Behind> known_;
};

/// Of all views together.
struct ViewsSummary {
  std::uint64_t total = 0;
  std::uint64_t behind = 0;
  std::uint64_t filling = 0;
  std::uint64_t quarantined = 0;
  Behind furthest = {};
};

void add_view(ViewsSummary& sum, const view::ViewStatus& status, Behind behind) {
  sum.behind += status.is_behind() ? 1 : 0;
  sum.filling += status.phase == view::ViewPhase::backfilling ? 1 : 0;
  sum.quarantined += status.phase == view::ViewPhase::quarantined ? 1 : 0;
  sum.furthest.versions = std::max(sum.furthest.versions, behind.versions);
  sum.furthest.seconds = std::max(sum.furthest.seconds, behind.seconds);
}

void write_views(JsonWriter& json, const ViewsSummary& views) {
  json.key("lag_versions").number(views.furthest.versions);
  json.key("lag_seconds").number(views.furthest.seconds);
  json.key("views").begin_object().key("total").number(views.total);
  json.key("behind").number(views.behind).key("filling").number(views.filling);
  json.key("quarantined").number(views.quarantined).end_object();
}

void write_actors(JsonWriter& json, ActorSystem& system) {
  const std::vector<ActorInfo> actors = system.actors();
  std::uint64_t depth = 0;
  for (const ActorInfo& actor : actors) depth += actor.mailbox_depth;
  const SystemTotals totals = totals_of(system);
  json.key("actors").number(std::uint64_t{actors.size()}).key("mailbox_depth").number(depth);
  json.key("messages_handled").number(totals.messages_handled);
  json.key("restarts").number(totals.restarts);
  json.key("dead_letters").number(system.dead_letters().total());
}

Task<Result<>> write_executions(JsonWriter* json, const flow::workflow::Engine* engine) {
  json->key("executions");
  if (engine == nullptr) {
    json->null();
    co_return {};
  }
  WEIR_CO_TRY(report, co_await engine->report());
  json->begin_object().key("waiting").number(report.waiting).key("delayed");
  json->number(report.delayed).key("active").number(report.active).key("suspended");
  json->number(report.suspended).key("claims").number(report.claims).key("retries");
  json->number(report.retries).key("leases_expired").number(report.leases_expired).end_object();
  co_return {};
}

void write_process(JsonWriter& json, const GatewayCore& core) {
  const ProcessStats process = process_stats();
  json.key("connections").number(std::uint64_t{core.connections.load(std::memory_order_relaxed)});
  json.key("subscriptions");
  json.number(std::uint64_t{core.subscriptions.load(std::memory_order_relaxed)});
  json.key("threads").number(std::uint64_t{core.system().threads()});
  json.key("resident_bytes").number(process.resident_bytes);
  json.key("cpu_seconds").number(process.cpu_seconds);
}

Task<Response> overview(const Call* call) {
  const GatewayCore& core = *call->core;
  WEIR_CO_TRY(relations, co_await core.database->relations());
  BehindReader reader(core.store.get());
  ViewsSummary views;
  std::uint64_t rows_changed = 0;
  for (const Relation& relation : relations) {
    rows_changed += core.database->rows_changed(relation);
    if (!relation.is_view()) continue;
    ++views.total;
    if (const auto status = core.database->status(relation))
      add_view(views, *status, co_await reader.at(status->position));
  }
  const Version version = core.store->version();
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("name").text(core.system().options().name);
  json.key("time").text(flow::data::to_string(core.store->time()));
  json.key("uptime_seconds").number(seconds(core.system().now() - core.started));
  json.key("version").number(version.number);
  json.key("commits").number(version.number - core.started_at.number);
  json.key("rows_changed").number(rows_changed);
  write_views(json, views);
  write_actors(json, core.system());
  WEIR_CO_TRY_VOID(co_await write_executions(&json, core.engine.get()));
  write_process(json, core);
  json.end_object();
  co_return Response::json(std::move(text));
}

void write_progress(JsonWriter& json, const view::ViewStatus& status) {
  json.key("progress");
  if (status.phase != view::ViewPhase::backfilling) {
    json.null();
    return;
  }
  json.begin_object().key("rows_done").number(status.rows_taken);
  json.key("rows_total").number(status.rows_total).key("rate").number(status.rows_per_second);
  json.key("seconds_left");
  status.time_left ? json.number(seconds(*status.time_left)) : json.null();
  json.end_object();
}

void write_view(JsonWriter& json, const view::ViewStatus& status, Behind behind) {
  json.key("state").text(to_string(status.phase)).key("position").number(status.position.number);
  json.key("lag_versions").number(behind.versions).key("lag_seconds").number(behind.seconds);
  json.key("error").text(status.error).key("failures").number(std::uint64_t{status.failures});
  json.key("waits_for").text(status.waits_for).key("stopped").boolean(status.is_stopped);
  json.key("skipped").number(status.skipped).key("exact").boolean(status.is_exact);
  json.key("row_errors").number(status.counts.row_errors);
  json.key("state_bytes").number(status.counts.state_bytes);
  write_progress(json, status);
}

Task<> write_node(JsonWriter* json, const Call* call, Relation relation, BehindReader* reader) {
  const view::Database& database = *call->core->database;
  json->begin_object().key("name").text(relation.name()).key("kind").text(relation.kind());
  json->key("mode");
  if (!relation.is_view()) {
    json->null();
  } else {
    json->text(relation.is_transactional() ? "transactional" : "deferred");
  }
  const auto status = relation.is_view() ? database.status(relation) : std::nullopt;
  json->key("rows_in").number(status ? status->counts.rows_in : 0);
  json->key("rows_out").number(database.rows_changed(relation));
  if (status) {
    write_view(*json, *status, co_await reader->at(status->position));
  } else {
    json->key("state").null().key("progress").null();
  }
  json->end_object();
}

void write_edges(JsonWriter& json, const Call* call, const Relation& relation) {
  const auto status = call->core->database->status(relation);
  const std::vector<std::string> sources = relation.sources();
  for (std::size_t index = 0; index < sources.size(); ++index) {
    if (!call->caller.sees(sources[index])) continue;
    const bool has_rows = status && index < status->counts.rows_from.size();
    json.begin_object().key("from").text(sources[index]).key("to").text(relation.name());
    json.key("rows").number(has_rows ? status->counts.rows_from[index] : 0).end_object();
  }
}

Task<Response> flows(const Call* call) {
  WEIR_CO_TRY(relations, co_await call->core->database->relations());
  std::erase_if(relations,
                [&](const Relation& relation) { return !call->caller.sees(relation.name()); });
  BehindReader reader(call->core->store.get());
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("nodes").begin_array();
  for (const Relation& relation : relations) co_await write_node(&json, call, relation, &reader);
  json.end_array().key("edges").begin_array();
  for (const Relation& relation : relations) write_edges(json, call, relation);
  json.end_array().end_object();
  co_return Response::json(std::move(text));
}

/// As the enumerators are called.
std::string_view name_of(DeadLetterReason reason) {
  switch (reason) {
    case DeadLetterReason::mailbox_full: return "mailbox_full";
    case DeadLetterReason::actor_stopped: return "actor_stopped";
    case DeadLetterReason::dropped_newest: return "dropped_newest";
    case DeadLetterReason::dropped_oldest: return "dropped_oldest";
    case DeadLetterReason::late_reply: return "late_reply";
    case DeadLetterReason::abandoned: return "abandoned";
    case DeadLetterReason::stash_full: return "stash_full";
  }
  return "unknown";
}

void write_letter(JsonWriter& json, const RecentDeadLetter& letter, const storage::Store& store) {
  const auto time = store.time() - std::chrono::floor<std::chrono::microseconds>(letter.age);
  json.begin_object().key("reason").text(name_of(letter.reason));
  json.key("message").text(letter.message).key("actor_type").text(letter.actor_type);
  json.key("actor_name").text(letter.actor_name);
  json.key("actor").number(std::uint64_t{letter.actor.value});
  json.key("time").text(flow::data::to_string(time)).end_object();
}

Task<Response> dead_letters(const Call* call) {
  ActorSystem& system = call->core->system();
  const DeadLetterCounts counts = system.dead_letters();
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("total").number(counts.total()).key("counts").begin_object();
  for (std::size_t index = 0; index < dead_letter_reasons; ++index)
    json.key(name_of(static_cast<DeadLetterReason>(index))).number(counts.by_reason[index]);
  json.end_object().key("newest").begin_array();
  for (const RecentDeadLetter& letter : recent_dead_letters(system))
    write_letter(json, letter, *call->core->store);
  json.end_array().end_object();
  co_return Response::json(std::move(text));
}

}  // namespace

std::vector<Route> overview_routes() {
  return {
      {.method = "GET",
       .path = "/api/v1/overview",
       .operation = "get_overview",
       .summary = "The whole in one small object. Counters are totals since the start: rates are "
                  "differences between two answers.",
       .is_global = true,
       .response = "Overview",
       .handle = &overview},
      {.method = "GET",
       .path = "/api/v1/flows",
       .operation = "get_flows",
       .summary = "Tables and views as a graph, with the rows that went along each edge, how far "
                  "each view is behind and how far a new one has come.",
       .response = "Flows",
       .handle = &flows},
      {.method = "GET",
       .path = "/api/v1/dead_letters",
       .operation = "list_dead_letters",
       .summary = "Messages that no actor handled: how many of each reason, and the newest.",
       .is_global = true,
       .response = "DeadLetters",
       .handle = &dead_letters},
  };
}

}  // namespace weir::server::internal
