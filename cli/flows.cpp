#include <weir/cli/flows.hpp>

#include <chrono>
#include <map>
#include <set>
#include <vector>

#include <boost/json/array.hpp>
#include <weir/cli/format.hpp>
#include <weir/cli/json.hpp>
#include <weir/cli/terminal.hpp>

namespace weir::cli {
namespace {

using boost::json::value;
using Seconds = std::chrono::duration<double>;

/// The graph of an answer, and that of one before.
class FlowTree {
 public:
  FlowTree(const value& before, const value& now, double interval)
      : now_(now), interval_(interval) {
    for (const value& node : items(before, "nodes")) rows_before_[text(node, "name")] = rows(node);
    for (const value& edge : items(now, "edges")) {
      readers_[text(edge, "from")].push_back(text(edge, "to"));
      has_source_.insert(text(edge, "to"));
    }
    for (const value& node : items(now, "nodes")) nodes_.emplace(text(node, "name"), &node);
  }

  TextTable print() {
    for (const value& node : items(now_, "nodes"))
      if (!has_source_.contains(text(node, "name"))) add(text(node, "name"), 0);
    return std::move(table_);
  }

 private:
  static std::uint64_t rows(const value& node) {
    return count(node, "rows_in") + count(node, "rows_out");
  }

  std::string rate_of(const std::string& name, const value& node) const {
    const auto before = rows_before_.find(name);
    if (interval_ <= 0 || before == rows_before_.end()) return "";
    const std::uint64_t now = rows(node);
    return rate(now > before->second ? static_cast<double>(now - before->second) / interval_ : 0);
  }

  /// What reads several is below each of them, but with what reads it only once.
  void add(const std::string& name, std::size_t depth) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) return;
    const value& node = *found->second;
    const bool is_again = !shown_.insert(name).second;
    const bool is_table = at(node, "state").is_null();
    const std::string state = text(node, "state");
    const value& progress = at(node, "progress");
    std::string done;
    if (progress.is_object())
      done =
          grouped(count(progress, "rows_done")) + " of " + grouped(count(progress, "rows_total"));
    table_.add({std::string(depth * 2, ' ') + name + (is_again ? " (above)" : ""),
                text(node, "kind"),
                text(node, "mode"),
                {state, state == "live" ? Style::good : Style::warning},
                grouped(count(node, "rows_in")),
                grouped(count(node, "rows_out")),
                rate_of(name, node),
                is_table ? "" : seconds(number(node, "lag_seconds")),
                done});
    if (is_again) return;
    for (const std::string& reader : readers_[name]) add(reader, depth + 1);
  }

  const value& now_;
  const double interval_;
  std::map<std::string, std::uint64_t> rows_before_;
  std::map<std::string, std::vector<std::string>> readers_;
  std::map<std::string, const value*> nodes_;
  std::set<std::string> has_source_;
  std::set<std::string> shown_;
  TextTable table_{
      {"FLOW", "KIND", "MODE", "STATE", ">ROWS IN", ">ROWS OUT", ">RATE", ">LAG", "PROGRESS"}};
};

}  // namespace

Result<> show_flows(const FlowOptions& options, Output& output) {
  constexpr const char* path = "/api/v1/flows";
  if (output.is_json()) return show(options.server, path, output, {});
  Signals signals;
  auto client = Client::open(options.server);
  if (!client) return client.error();
  client->obey(&signals);
  const auto before = client->get(path);
  if (!before) return before.error();
  const auto begin = std::chrono::steady_clock::now();
  const auto interval =
      std::chrono::ceil<std::chrono::milliseconds>(Seconds(options.interval_seconds));
  if (interval.count() == 0) {
    output.table(FlowTree(before->json, before->json, 0).print());
    return {};
  }
  if (signals.wait(interval)) return {};
  const auto now = client->get(path);
  if (!now) return now.error();
  const double taken = Seconds(std::chrono::steady_clock::now() - begin).count();
  output.table(FlowTree(before->json, now->json, taken).print());
  return {};
}

}  // namespace weir::cli
