#include <weir/cli/workflows.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <weir/cli/format.hpp>
#include <weir/cli/json.hpp>

namespace weir::cli {
namespace {

using boost::json::value;

Style style_of_state(const std::string& state) {
  if (state == "completed") return Style::good;
  if (state == "failed" || state == "expired") return Style::bad;
  return state == "active" || state == "running" ? Style::warning : Style::plain;
}

/// `2 waiting, 1 active`
std::string counts_of(const value& counts) {
  std::string all;
  if (!counts.is_object()) return all;
  for (const auto& [state, number] : counts.get_object()) {
    if (text(number) == "0") continue;
    all += (all.empty() ? "" : ", ") + text(number) + " " + std::string(state);
  }
  return all;
}

void print_next(const value& page, Output& output) {
  const std::string next = text(page, "next");
  if (!next.empty()) output.line("more: --after '" + printable(next) + "'");
}

void print_workflows(const value& page, Output& output) {
  TextTable table({"WORKFLOW", "KIND", "NAMESPACE", "STATE", "CREATED", "EXECUTIONS"});
  for (const value& workflow : items(page, "workflows")) {
    const std::string state = text(workflow, "state");
    table.add({text(workflow, "id"),
               text(workflow, "kind"),
               text(workflow, "namespace"),
               {state, style_of_state(state)},
               text(workflow, "created"),
               counts_of(at(workflow, "counts"))});
  }
  output.table(table);
  print_next(page, output);
}

TextTable::Cell state_cell(const value& from) {
  const std::string state = text(from, "state");
  return {state, style_of_state(state)};
}

void print_executions(const value& page, Output& output) {
  TextTable table(
      {"EXECUTION", "KIND", "LANE", "STATE", ">ATTEMPT", "CREATED", "WORKER", "REASON"});
  for (const value& execution : items(page, "executions")) {
    table.add({text(execution, "id"), text(execution, "kind"), text(execution, "lane"),
               state_cell(execution), text(execution, "attempt"), text(execution, "created"),
               text(execution, "worker"), text(execution, "reason")});
  }
  output.table(table);
  print_next(page, output);
}

/// Every field that says something, one a line.
void print_fields(const value& object, Output& output) {
  TextTable table({"FIELD", "VALUE"});
  if (!object.is_object()) return;
  for (const auto& [name, field] : object.get_object()) {
    const std::string shown = text(field);
    if (shown.empty() || shown == "[]" || shown == "{}") continue;
    table.add({std::string(name), shown});
  }
  output.table(table);
}

void print_graph(const value& graph, Output& output) {
  TextTable table({"EXECUTION", "KIND", "STATE", ">ATTEMPT", "STARTED", "ENDED", "AFTER"});
  for (const value& node : items(graph, "nodes")) {
    std::string upstream;
    for (const value& edge : items(graph, "edges")) {
      if (text(edge, "downstream") == text(node, "id"))
        upstream += (upstream.empty() ? "" : ", ") + text(edge, "upstream");
    }
    table.add({text(node, "id"), text(node, "kind"), state_cell(node), text(node, "attempt"),
               text(node, "started"), text(node, "ended"), upstream});
  }
  output.table(table);
  if (flag(graph, "truncated")) output.line("and more: `weir executions --workflow` lists all");
}

void print_attempts(const value& answer, Output& output) {
  TextTable table({">ATTEMPT", "KIND", "OUTCOME", "WORKER", "STARTED", "ENDED", "REASON"});
  for (const value& attempt : items(answer, "attempts")) {
    table.add({text(attempt, "attempt"), text(attempt, "kind"), text(attempt, "outcome"),
               text(attempt, "worker"), text(attempt, "started"), text(attempt, "ended"),
               text(attempt, "reason")});
  }
  output.table(table);
}

/// One of something, and what belongs to it at a path below.
struct Detail {
  std::string path;
  const char* name;
  const char* below;
  void (*print)(const value&, Output&);
};

Result<> show_detail(const ServerOptions& server, const Detail& detail, Output& output) {
  auto client = Client::open(server);
  if (!client) return client.error();
  auto found = client->get(detail.path);
  if (!found) return found.error();
  auto below = client->get(detail.path + "/" + detail.below);
  if (!below) return below.error();
  if (output.is_json()) {
    boost::json::object both;
    both[detail.name] = std::move(found->json);
    const value* only = below->json.is_object() && below->json.get_object().size() == 1
                            ? below->json.get_object().if_contains(detail.below)
                            : nullptr;
    both[detail.below] = only ? *only : below->json;
    output.line(boost::json::serialize(both));
    return {};
  }
  print_fields(found->json, output);
  output.line("");
  detail.print(below->json, output);
  return {};
}

}  // namespace

Result<> show_workflows(const WorkflowOptions& options, Output& output) {
  if (!options.id.empty()) {
    return show_detail(
        options.server,
        {"/api/v1/workflows/" + encoded(options.id), "workflow", "graph", &print_graph}, output);
  }
  Query query("/api/v1/workflows");
  query.add("limit", std::to_string(options.limit)).add_if_any("after", options.after);
  query.add_if_any("namespace", options.space);
  return show(options.server, query.path(), output,
              [&](const value& page) { print_workflows(page, output); });
}

Result<> show_executions(const ExecutionOptions& options, Output& output) {
  if (!options.id.empty()) {
    return show_detail(
        options.server,
        {"/api/v1/executions/" + encoded(options.id), "execution", "attempts", &print_attempts},
        output);
  }
  Query query("/api/v1/executions");
  query.add("limit", std::to_string(options.limit)).add_if_any("after", options.after);
  query.add_if_any("namespace", options.space).add_if_any("state", options.state);
  query.add_if_any("lane", options.lane).add_if_any("workflow", options.workflow);
  return show(options.server, query.path(), output,
              [&](const value& page) { print_executions(page, output); });
}

}  // namespace weir::cli
