// The change log, as far as it can be told without knowing what is in rows.

#include <map>
#include <utility>

#include <weir/flow/data/calendar.hpp>
#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/relations.hpp>

namespace weir::server::internal {
namespace {

constexpr std::uint64_t records_max = 1'000;

/// Key spaces by their numbers: tables and views by their names, what is inside by that of its
/// space.
using SpaceNames = std::map<std::uint32_t, std::string>;

Task<Result<SpaceNames>> space_names(const GatewayCore* core) {
  std::map<std::string, std::string> relations;
  WEIR_CO_TRY(known, co_await core->database->relations());
  for (const Relation& relation : known)
    relations.emplace("weir.flow.rows." + std::to_string(relation.id()), relation.name());
  WEIR_CO_TRY(spaces, co_await core->store->spaces());
  SpaceNames names;
  for (const storage::SpaceInfo& space : spaces) {
    const auto relation = relations.find(space.name);
    names.emplace(space.id, relation == relations.end() ? space.name : relation->second);
  }
  co_return names;
}

void write_space(JsonWriter& json, const storage::SpaceChanges& changes, const SpaceNames& names) {
  std::uint64_t inserts = 0;
  std::uint64_t updates = 0;
  std::uint64_t removes = 0;
  for (const storage::Change& change : changes) {
    inserts += change.kind == storage::ChangeKind::insert ? 1 : 0;
    updates += change.kind == storage::ChangeKind::update ? 1 : 0;
    removes += change.kind == storage::ChangeKind::remove ? 1 : 0;
  }
  const auto name = names.find(changes.space());
  json.begin_object().key("name");
  json.text(name == names.end() ? "#" + std::to_string(changes.space()) : name->second);
  json.key("inserts").number(inserts).key("updates").number(updates);
  json.key("removes").number(removes).end_object();
}

void write_record(JsonWriter& json, const storage::ChangeRecord& record, const SpaceNames& names) {
  const auto time = std::chrono::floor<std::chrono::microseconds>(record.time());
  json.begin_object().key("version").number(record.version().number);
  json.key("time").text(flow::data::to_string(flow::data::Timestamp(time)));
  json.key("origin").text(record.origin()).key("trace");
  if (record.trace().is_valid()) {
    json.text(to_string(record.trace().trace));
  } else {
    json.null();
  }
  json.key("spaces").begin_array();
  for (const storage::SpaceChanges& changes : record.spaces()) write_space(json, changes, names);
  json.end_array().end_object();
}

Task<Response> tail(const Call* call) {
  const storage::ChangeLog log = call->core->store->log();
  WEIR_CO_TRY(limit, call->number("limit", 100, records_max));
  const std::uint64_t newest = log.newest().number;
  const std::uint64_t oldest = log.oldest().number;
  const std::uint64_t recent = newest > limit ? newest - limit : 0;
  WEIR_CO_TRY(after,
              call->number("after", std::max(recent, oldest > 0 ? oldest - 1 : 0), any_number));
  const auto wait_max =
      std::chrono::floor<std::chrono::milliseconds>(call->core->options.limits.wait_time);
  WEIR_CO_TRY(wait, call->number("wait", 0, static_cast<std::uint64_t>(wait_max.count())));
  const storage::ReadLimits limits{.records_max = std::max<std::uint64_t>(limit, 1)};
  WEIR_CO_TRY(records, co_await log.read({after}, limits));
  if (records.empty() && wait > 0) {
    co_await wait_past(call, {after}, std::chrono::milliseconds(wait));
    WEIR_CO_TRY(later, co_await log.read({after}, limits));
    records = std::move(later);
  }
  WEIR_CO_TRY(names, co_await space_names(call->core));
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("oldest").number(oldest).key("newest").number(newest);
  json.key("records").begin_array();
  for (const storage::ChangeRecord& record : records) write_record(json, record, names);
  json.end_array().key("after");
  json.number(records.empty() ? after : records.back().version().number).end_object();
  co_return Response::json(std::move(text));
}

}  // namespace

std::vector<Route> log_routes() {
  return {{.method = "GET",
           .path = "/api/v1/log",
           .operation = "tail_log",
           .summary = "Commits after a version, or the latest: when, by whom, and how many rows "
                      "of what they changed.",
           .is_global = true,
           .waits = true,
           .query = {{"after", "integer", "the version that was seen last"},
                     limit_parameter(),
                     wait_parameter()},
           .response = "Log",
           .handle = &tail}};
}

}  // namespace weir::server::internal
