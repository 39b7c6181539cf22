#include <weir/cli/relations.hpp>

#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <weir/cli/errc.hpp>
#include <weir/cli/format.hpp>
#include <weir/cli/json.hpp>
#include <weir/cli/progress.hpp>

namespace weir::cli {
namespace {

using boost::json::value;

std::string joined(const boost::json::array& texts) {
  std::string all;
  for (const value& each : texts) all += (all.empty() ? "" : ", ") + text(each);
  return all;
}

std::string column_names(const value& relation) {
  std::string all;
  for (const value& column : items(at(relation, "schema"), "columns"))
    all += (all.empty() ? "" : ", ") + text(column, "name");
  return all;
}

void print_schema(const value& relation, Output& output) {
  TextTable table({"COLUMN", "TYPE", "NULL", "KEY"});
  const value& schema = at(relation, "schema");
  const boost::json::array& key = items(schema, "primary_key");
  for (const value& column : items(schema, "columns")) {
    std::string place;
    for (std::size_t part = 0; part < key.size(); ++part)
      if (text(key[part]) == text(column, "name")) place = std::to_string(part + 1);
    table.add({text(column, "name"), text(column, "type"), flag(column, "nullable") ? "null" : "",
               place});
  }
  output.table(table);
}

void print_rows(const value& relation, const value& page, Output& output) {
  const boost::json::array& described = items(at(relation, "schema"), "columns");
  const boost::json::array& weights = items(page, "weights");
  const bool has_weights = at(page, "weights").is_array();
  std::vector<std::string> titles;
  for (const value& column : described) {
    const std::string type = text(column, "type");
    const bool is_number = type.starts_with("int") || type.starts_with("uint") ||
                           type.starts_with("float") || type.starts_with("decimal");
    titles.push_back((is_number ? ">" : "") + text(column, "name"));
  }
  if (has_weights) titles.emplace_back(">WEIGHT");
  TextTable table(std::move(titles));
  std::size_t place = 0;
  for (const value& row : items(page, "rows")) {
    std::vector<TextTable::Cell> cells;
    for (const value& column : described) {
      const value& field = at(row, text(column, "name"));
      cells.emplace_back(field.is_null() ? "null" : text(field),
                         field.is_null() ? Style::faint : Style::plain);
    }
    if (has_weights) cells.emplace_back(place < weights.size() ? text(weights[place]) : "");
    table.add(std::move(cells));
    ++place;
  }
  output.table(table);
  const std::string next = text(page, "next");
  if (!next.empty()) output.line("more: --after '" + printable(next) + "'");
}

void print_tables(const value& answer, Output& output) {
  TextTable table({"TABLE", "KIND", "PRIMARY KEY", "COLUMNS"});
  for (const value& relation : items(answer, "tables")) {
    table.add({text(relation, "name"), flag(relation, "appended") ? "appended" : "table",
               joined(items(at(relation, "schema"), "primary_key")), column_names(relation)});
  }
  output.table(table);
}

Result<> show_rows(Client& client, const std::string& path, const RelationOptions& options,
                   Output& output) {
  Query query(path + "/rows");
  query.add("limit", std::to_string(options.limit)).add_if_any("after", options.after);
  if (options.at) query.add("at", std::to_string(*options.at));
  const auto page = client.get(query.path());
  if (!page) return page.error();
  if (output.is_json()) {
    output.line(page->body);
    return {};
  }
  const auto relation = client.get(path);
  if (!relation) return relation.error();
  print_rows(relation->json, page->json, output);
  return {};
}

Style style_of(const std::string& phase) {
  if (phase == "live") return Style::good;
  return phase == "quarantined" || phase == "failing" ? Style::bad : Style::warning;
}

std::string progress_of(const value& status) {
  const std::uint64_t total = count(status, "rows_total");
  if (text(status, "phase") != "backfilling") return "";
  std::string shown = grouped(count(status, "rows_taken"));
  if (total > 0) shown += " of " + grouped(total);
  if (!at(status, "seconds_left").is_null())
    shown += ", " + seconds(number(status, "seconds_left")) + " left";
  return shown;
}

std::string trouble_of(const value& status) {
  const std::string error = text(status, "error");
  const std::string waits_for = text(status, "waits_for");
  return error.empty() && !waits_for.empty() ? "waits for " + waits_for : error;
}

std::string lag_of(const value& view) {
  const value& lag = at(view, "lag");
  return lag.is_object() ? seconds(number(lag, "seconds")) : "-";
}

void add_view(TextTable& table, const value& view) {
  const value& status = at(view, "status");
  const value& counts = at(status, "counts");
  const std::string phase = text(status, "phase");
  table.add({text(view, "name"),
             {phase, style_of(phase)},
             lag_of(view),
             grouped(count(status, "position")),
             grouped(count(counts, "rows_in")),
             grouped(count(counts, "rows_out")),
             progress_of(status),
             {trouble_of(status), Style::bad}});
}

/// The lag is asked for view by view; of one that is gone by then there is none.
Result<> add_lag(Client& client, value& view) {
  if (!view.is_object()) return {};
  auto lag = client.get("/api/v1/views/" + encoded(text(view, "name")) + "/lag");
  if (!lag && lag.error() != Errc::not_found && lag.error() != Errc::failed) return lag.error();
  view.get_object()["lag"] = lag ? std::move(lag->json) : value();
  return {};
}

TextTable view_table() {
  return TextTable(
      {"VIEW", "PHASE", ">LAG", ">VERSION", ">ROWS IN", ">ROWS OUT", "PROGRESS", "TROUBLE"});
}

/// However many requests that takes, it is one thing that is waited for.
Result<boost::json::array> views_with_lag(Client& client) {
  client.be_quiet();
  Progress progress("waiting for " + client.url());
  auto answer = client.get("/api/v1/views");
  if (!answer) return answer.error();
  boost::json::array views = items(answer->json, "views");
  std::uint64_t done = 0;
  for (value& view : views) {
    if (auto added = add_lag(client, view); !added) return added.error();
    progress.update(Progress::Unit::entries, ++done, views.size());
  }
  return views;
}

Result<> list_views(Client& client, Output& output) {
  auto listed = views_with_lag(client);
  if (!listed) return listed.error();
  boost::json::array& views = *listed;
  TextTable table = view_table();
  for (const value& view : views) add_view(table, view);
  if (output.is_json()) {
    output.line(boost::json::serialize(boost::json::object{{"views", std::move(views)}}));
  } else {
    output.table(table);
  }
  return {};
}

Result<> show_view(Client& client, const std::string& path, Output& output) {
  auto answer = client.get(path);
  if (!answer) return answer.error();
  value& view = answer->json;
  if (auto added = add_lag(client, view); !added) return added;
  if (output.is_json()) {
    output.line(boost::json::serialize(view));
    return {};
  }
  TextTable table = view_table();
  add_view(table, view);
  output.table(table);
  output.line("");
  print_schema(view, output);
  return {};
}

}  // namespace

Result<> show_tables(const RelationOptions& options, Output& output) {
  const std::string path = "/api/v1/tables/" + encoded(options.name);
  if (options.name.empty()) {
    return show(options.server, "/api/v1/tables", output,
                [&](const value& answer) { print_tables(answer, output); });
  }
  if (!options.shows_rows) {
    return show(options.server, path, output,
                [&](const value& answer) { print_schema(answer, output); });
  }
  auto client = Client::open(options.server);
  if (!client) return client.error();
  return show_rows(*client, path, options, output);
}

Result<> show_views(const RelationOptions& options, Output& output) {
  auto client = Client::open(options.server);
  if (!client) return client.error();
  if (options.name.empty()) return list_views(*client, output);
  const std::string path = "/api/v1/views/" + encoded(options.name);
  if (options.shows_rows) return show_rows(*client, path, options, output);
  return show_view(*client, path, output);
}

std::vector<std::string> relation_names(const ServerOptions& server, const std::string& kind) {
  std::vector<std::string> names;
  auto client = Client::open(server);
  if (!client) return names;
  client->be_quiet();
  const auto answer = client->get("/api/v1/" + kind);
  if (!answer) return names;
  for (const value& relation : items(answer->json, kind)) names.push_back(text(relation, "name"));
  return names;
}

Result<> repair_view(const RepairOptions& options, Output& output) {
  auto client = Client::open(options.server);
  if (!client) return client.error();
  const auto done =
      client->send("POST", "/api/v1/views/" + encoded(options.name) + "/" + options.how);
  if (!done) return done.error();
  if (output.is_json()) {
    output.line(boost::json::serialize(value{{"view", options.name}, {"done", options.how}}));
  } else {
    output.line(options.how + ": " + printable(options.name));
  }
  return {};
}

}  // namespace weir::cli
