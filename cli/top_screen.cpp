#include <weir/cli/top_screen.hpp>

#include <algorithm>
#include <map>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <weir/cli/actors.hpp>
#include <weir/cli/format.hpp>
#include <weir/cli/json.hpp>
#include <weir/cli/text_table.hpp>

namespace weir::cli {
namespace {

using boost::json::value;

/// Two samples, and what happened between them.
class Between {
 public:
  Between(const Sample& before, const Sample& now)
      : before_(before),
        now_(now),
        seconds_(std::chrono::duration<double>(now.at - before.at).count()) {}

  double per_second(const value& before, const value& now, std::string_view name) const {
    const double grown = number(now, name) - number(before, name);
    return seconds_ > 0 && grown > 0 && !before.is_null() ? grown / seconds_ : 0;
  }
  double per_second(std::string_view name) const {
    return per_second(before_.overview, now_.overview, name);
  }

 private:
  const Sample& before_;
  const Sample& now_;
  const double seconds_;
};

std::string executions_line(const value& executions) {
  std::string line = "executions";
  if (!executions.is_object()) return "";
  for (const auto& [state, number] : executions.get_object())
    line += "  " + std::string(state) + " " + text(number);
  return line;
}

std::vector<std::string> head(const Between& between, const Sample& now,
                              const ScreenOptions& options) {
  const value& all = now.overview;
  std::vector<std::string> lines;
  std::string first = "weir top  " + options.url;
  if (all.is_object()) {
    first += "  " + text(all, "name") + "  up " + seconds(number(all, "uptime_seconds")) +
             "  version " + grouped(count(all, "version"));
  }
  lines.push_back(first);
  if (!now.trouble.empty()) lines.push_back(now.trouble);
  if (!all.is_object()) return lines;
  lines.push_back("commits " + rate(between.per_second("commits")) + "  rows " +
                  rate(between.per_second("rows_changed")) + "  messages " +
                  rate(between.per_second("messages_handled")) + "  waiting in mailboxes " +
                  grouped(count(all, "mailbox_depth")));
  char cpu[16];
  std::snprintf(cpu, sizeof(cpu), "%.0f %%", between.per_second("cpu_seconds") * 100);
  lines.push_back("memory " + bytes(number(all, "resident_bytes")) + "  cpu " + cpu +
                  "  connections " + grouped(count(all, "connections")) + "  subscriptions " +
                  grouped(count(all, "subscriptions")) + "  restarts " +
                  grouped(count(all, "restarts")) + "  dead letters " +
                  grouped(count(all, "dead_letters")));
  const value& views = at(all, "views");
  lines.push_back(
      "views " + grouped(count(views, "total")) + "  behind " + grouped(count(views, "behind")) +
      "  filling " + grouped(count(views, "filling")) + "  quarantined " +
      grouped(count(views, "quarantined")) + "  lag " + seconds(number(all, "lag_seconds")));
  if (std::string line = executions_line(at(all, "executions")); !line.empty())
    lines.push_back(std::move(line));
  return lines;
}

std::map<std::string, const value*> by(const boost::json::array& all, std::string_view name) {
  std::map<std::string, const value*> found;
  for (const value& each : all) found.emplace(text(each, name), &each);
  return found;
}

const value& found_in(const std::map<std::string, const value*>& all, const std::string& name) {
  static const value nothing;
  const auto found = all.find(name);
  return found == all.end() ? nothing : *found->second;
}

/// The furthest behind come first.
TextTable busy_views(const Between& between, const Sample& before, const Sample& now,
                     std::size_t lines) {
  TextTable table({"VIEW", "STATE", ">LAG", ">IN", ">OUT", "TROUBLE"});
  boost::json::array views;
  for (const value& node : items(now.flows, "nodes"))
    if (!at(node, "state").is_null()) views.push_back(node);
  std::ranges::sort(views, {}, [](const value& view) {
    return std::pair(-number(view, "lag_seconds"), text(view, "name"));
  });
  const auto old = by(items(before.flows, "nodes"), "name");
  for (const value& view : views) {
    if (table.size() + 1 >= lines) break;
    const value& then = found_in(old, text(view, "name"));
    const std::string state = text(view, "state");
    table.add({text(view, "name"),
               {state, state == "live" ? Style::good : Style::bad},
               seconds(number(view, "lag_seconds")),
               rate(between.per_second(then, view, "rows_in")),
               rate(between.per_second(then, view, "rows_out")),
               {text(view, "error"), Style::bad}});
  }
  return table;
}

TextTable busy_actors(const Between& between, const Sample& before, const Sample& now,
                      const std::string& order, std::size_t lines) {
  TextTable table({order == "name" ? "ACTOR*" : "ACTOR", order == "phase" ? "PHASE*" : "PHASE",
                   order == "mailbox" ? ">MAILBOX*" : ">MAILBOX",
                   order == "handled" ? ">HANDLED*" : ">HANDLED",
                   order == "restarts" ? ">RESTARTS*" : ">RESTARTS"});
  boost::json::array actors = items(now.actors, "actors");
  sort_actors(actors, order);
  const auto old = by(items(before.actors, "actors"), "id");
  for (const value& actor : actors) {
    if (table.size() + 1 >= lines) break;
    const value& then = found_in(old, text(actor, "id"));
    table.add({actor_name(actor), text(actor, "phase"), grouped(count(actor, "mailbox_depth")),
               rate(between.per_second(then, actor, "messages_handled")),
               grouped(count(actor, "restarts"))});
  }
  return table;
}

}  // namespace

std::string draw_top(const Sample& before, const Sample& now, const ScreenOptions& options) {
  const Between between(before, now);
  const TextTable::Layout layout{.width = options.size.columns, .is_coloured = options.is_coloured};
  std::string drawn;
  std::size_t left = options.size.lines - (options.keys.empty() ? 0 : 1);
  for (const std::string& line : head(between, now, options)) {
    const Style style = drawn.empty() ? Style::bold : Style::plain;
    drawn += styled(cut(printable(line), options.size.columns), style, options.is_coloured) + "\n";
    if (--left == 0) break;
  }
  // Half of what is left for views, if there are so many, and the rest for actors.
  if (left > 2 && now.flows.is_object()) {
    const TextTable views =
        busy_views(between, before, now, std::max<std::size_t>(left / 2, 2) - 1);
    drawn += "\n" + views.print(layout);
    left -= std::min(left, views.size() + 2);
  }
  if (left > 2) {
    const TextTable actors = busy_actors(between, before, now, options.order, left - 1);
    drawn += "\n" + actors.print(layout);
  }
  return drawn + styled(cut(options.keys, options.size.columns), Style::faint, options.is_coloured);
}

}  // namespace weir::cli
