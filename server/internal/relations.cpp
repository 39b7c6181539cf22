#include <weir/server/internal/relations.hpp>

#include <algorithm>
#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/json_value.hpp>

namespace weir::server::internal {

namespace data = flow::data;
namespace view = flow::view;

namespace {

constexpr std::uint64_t page_rows_max = 10'000;
constexpr std::size_t page_bytes_max = std::size_t{4} << 20;
constexpr std::size_t scan_rows = 256;

Problem unknown(Wanted wanted, const std::string& name) {
  const char* what = wanted == Wanted::table ? "table" : "view";
  return {.status = 404,
          .code = "unknown_relation",
          .detail = std::string("there is no ") + what + " '" + name + "'"};
}

Outcome<Relation> as_wanted(Result<Relation> found, Wanted wanted, const std::string& name) {
  if (!found && found.error() == view::Errc::unknown_relation) return unknown(wanted, name);
  if (!found) return found.error();
  if (found->is_view() != (wanted == Wanted::view)) return unknown(wanted, name);
  return *std::move(found);
}

/// Where a page begins, and how long it is.
struct Page {
  std::uint64_t limit;
  Row after;                // of rows with a primary key
  std::uint64_t skips = 0;  // of others
};

Outcome<Page> read_page(const Call* call, const Relation& relation) {
  auto limit = call->number("limit", 100, page_rows_max);
  if (!limit) return std::move(limit).error();
  if (*limit == 0) {
    return Problem{.status = 400, .code = "invalid_parameter", .detail = "'limit' is at least 1"};
  }
  Page page{.limit = *limit, .after = {}};
  const std::string* after = call->query("after");
  if (!after) return page;
  if (relation.schema()->primary_key().empty()) {
    auto skips = call->number("after", 0, any_number);
    if (!skips) return std::move(skips).error();
    page.skips = *skips;
  } else {
    auto key = parse_key(*after, *relation.schema());
    if (!key) return std::move(key).error();
    page.after = *std::move(key);
  }
  return page;
}

bool has_key(const data::Schema& schema, const Row& row, const Row& key) {
  return std::ranges::equal(schema.primary_key(), key, {},
                            [&](std::size_t column) { return row[column]; });
}

/// Writes rows until the page is full, and says where the next one begins.
class PageWriter {
 public:
  PageWriter(const data::Schema& schema, Page page, JsonWriter& json, const std::string& text)
      : schema_(schema), page_(std::move(page)), json_(json), text_(text) {}

  /// False if this one is for the next page.
  bool add(Row row, data::Weight weight) {
    if (page_.skips > seen_++) return true;
    if (!page_.after.empty() && has_key(schema_, row, page_.after)) return true;
    if (written_ == page_.limit || (text_.size() > page_bytes_max && written_ > 0)) {
      is_full_ = true;
      return false;
    }
    write_row(json_, schema_, row);
    weights_.push_back(weight);
    last_ = std::move(row);
    ++written_;
    return true;
  }

  void finish() {
    json_.end_array();
    if (schema_.primary_key().empty()) {
      json_.key("weights").begin_array();
      for (const data::Weight weight : weights_) json_.number(weight);
      json_.end_array();
    }
    json_.key("next");
    if (!is_full_) {
      json_.null();
    } else if (schema_.primary_key().empty()) {
      json_.text(std::to_string(page_.skips + written_));
    } else {
      json_.text(print_key(schema_, last_));
    }
  }

 private:
  const data::Schema& schema_;
  const Page page_;
  JsonWriter& json_;
  const std::string& text_;
  std::uint64_t seen_ = 0;
  std::uint64_t written_ = 0;
  bool is_full_ = false;
  std::vector<data::Weight> weights_;
  Row last_;
};

Task<> note_past(storage::ChangeLog log, storage::Version version, TaskScope* all) {
  static_cast<void>(co_await log.wait_past(version));
  all->cancel_all();
}
Task<> note_time(Duration time, TaskScope* all) {
  static_cast<void>(co_await sleep_for(time));
  all->cancel_all();
}
Task<> note_drain(CancellationToken drain, TaskScope* all) {
  static_cast<void>(co_await drain.cancelled());
  all->cancel_all();
}

void write_delta(JsonWriter& json, const view::Delta& delta) {
  json.begin_object().key("version").number(delta.changes.version.number);
  json.key("changes").begin_array();
  for (std::size_t row = 0; row < delta.changes.size(); ++row) {
    json.begin_object().key("weight").number(delta.changes.weights()[row]).key("row");
    write_row(json, *delta.changes.schema(), delta.changes.row(row));
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace

Parameter at_parameter() {
  return {"at", "integer", "the version to read, as long as it is kept; the newest without it"};
}
Parameter limit_parameter() { return {"limit", "integer", "how many at most"}; }
Parameter wait_parameter() {
  return {"wait", "integer", "milliseconds to wait for something to come, if there is nothing"};
}

Task<Outcome<Relation>> find_relation(const Call* call, Wanted wanted) {
  const std::string name = call->parameter(wanted == Wanted::table ? "table" : "view");
  if (!call->caller.sees(name)) co_return unknown(wanted, name);
  if (auto known = call->core->relations.find_known(name))
    co_return as_wanted(*std::move(known), wanted, name);
  co_return as_wanted(co_await call->core->relations.find(name), wanted, name);
}

Task<Outcome<std::vector<Relation>>> list_relations(const Call* call, Wanted wanted) {
  WEIR_CO_TRY(relations, co_await call->core->database->relations());
  std::erase_if(relations, [&](const Relation& relation) {
    return relation.is_view() != (wanted == Wanted::view) || !call->caller.sees(relation.name());
  });
  co_return relations;
}

Outcome<view::Snapshot> take_snapshot(const Call* call) {
  if (!call->query("at")) return call->core->database->read();
  auto version = call->number("at", 0, any_number);
  if (!version) return std::move(version).error();
  auto snapshot = call->core->database->read_at({*version});
  if (!snapshot) return snapshot.error();
  return *std::move(snapshot);
}

Task<Response> rows_page(const Call* call, Wanted wanted) {
  WEIR_CO_TRY(relation, co_await find_relation(call, wanted));
  WEIR_CO_TRY(page, read_page(call, relation));
  WEIR_CO_TRY(snapshot, take_snapshot(call));
  auto scan = snapshot.scan(relation);
  if (!page.after.empty()) {
    WEIR_CO_TRY(rest, snapshot.scan(relation, {.from = page.after}));
    scan = std::move(rest);
  }
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("version").number(snapshot.version().number).key("rows").begin_array();
  PageWriter writer(*relation.schema(), page, json, text);
  for (bool has_room = true; has_room;) {
    WEIR_CO_TRY(batch, co_await scan.next(std::min<std::size_t>(page.limit + 2, scan_rows)));
    if (batch.is_empty()) break;
    for (std::size_t row = 0; row < batch.size() && has_room; ++row)
      has_room = writer.add(batch.row(row), batch.weights()[row]);
  }
  writer.finish();
  json.end_object();
  co_return Response::json(std::move(text));
}

Task<Response> one_row(const Call* call, Wanted wanted) {
  WEIR_CO_TRY(relation, co_await find_relation(call, wanted));
  WEIR_CO_TRY(key, parse_key(call->encoded("key"), *relation.schema()));
  WEIR_CO_TRY(snapshot, take_snapshot(call));
  WEIR_CO_TRY(row, co_await snapshot.get(relation, key));
  if (!row) {
    co_return Problem{.status = 404,
                      .code = "unknown_key",
                      .detail = "'" + relation.name() + "' has no row with this key"};
  }
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("version").number(snapshot.version().number).key("row");
  write_row(json, *relation.schema(), *row);
  json.end_object();
  co_return Response::json(std::move(text));
}

Task<> wait_past(const Call* call, storage::Version version, Duration time) {
  TaskScope all;
  all.spawn(note_time(time, &all));
  all.spawn(note_drain(call->drain, &all));
  all.spawn(note_past(call->core->store->log(), version, &all));
  co_await all.join();
}

Task<Response> changes_page(const Call* call, Wanted wanted) {
  WEIR_CO_TRY(relation, co_await find_relation(call, wanted));
  WEIR_CO_TRY(limit, call->number("limit", 100, page_rows_max));
  const auto newest = call->core->store->version();
  WEIR_CO_TRY(after, call->number("after", newest.number, any_number));
  const auto wait_max =
      std::chrono::floor<std::chrono::milliseconds>(call->core->options.limits.wait_time);
  WEIR_CO_TRY(wait, call->number("wait", 0, static_cast<std::uint64_t>(wait_max.count())));
  WEIR_CO_TRY(subscription,
              call->core->database->subscribe(relation, {.after = storage::Version{after}}));
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("commits").begin_array();
  const TimePoint until = call->core->system().now() + std::chrono::milliseconds(wait);
  for (std::uint64_t count = 0; count < limit && text.size() < page_bytes_max;) {
    WEIR_CO_TRY(delta, co_await subscription.next_if_any());
    if (delta) {
      write_delta(json, *delta);
      ++count;
      continue;
    }
    const Duration left = until - call->core->system().now();
    if (count > 0 || left <= Duration::zero() || call->drain.is_cancelled()) break;
    co_await wait_past(call, subscription.seen(), left);
  }
  json.end_array().key("after").number(subscription.seen().number).end_object();
  co_return Response::json(std::move(text));
}

void write_status(JsonWriter& json, const view::ViewStatus& status) {
  json.begin_object().key("phase").text(to_string(status.phase));
  json.key("position").number(status.position.number);
  json.key("rows_taken").number(status.rows_taken).key("rows_total").number(status.rows_total);
  json.key("rows_per_second").number(status.rows_per_second).key("seconds_left");
  if (status.time_left) {
    json.number(std::chrono::duration<double>(*status.time_left).count());
  } else {
    json.null();
  }
  json.key("error").text(status.error).key("failures").number(std::uint64_t{status.failures});
  json.key("waits_for").text(status.waits_for).key("stopped").boolean(status.is_stopped);
  json.key("skipped").number(status.skipped).key("exact").boolean(status.is_exact);
  const view::ViewCounts& counts = status.counts;
  json.key("counts").begin_object();
  json.key("cycles").number(counts.cycles).key("rows_in").number(counts.rows_in);
  json.key("rows_out").number(counts.rows_out).key("row_errors").number(counts.row_errors);
  json.key("late_rows").number(counts.late_rows).key("failures").number(counts.failures);
  json.key("backfill_rows").number(counts.backfill_rows);
  json.key("state_bytes").number(counts.state_bytes).key("row_error").text(counts.row_error);
  json.end_object().end_object();
}

}  // namespace weir::server::internal
