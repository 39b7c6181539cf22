#include <weir/cli/actors.hpp>

#include <algorithm>
#include <limits>
#include <tuple>

#include <weir/cli/format.hpp>
#include <weir/cli/json.hpp>

namespace weir::cli {
namespace {

using boost::json::value;

constexpr std::uint64_t unbounded = std::numeric_limits<std::uint32_t>::max();

const char* field_of(const std::string& order) {
  if (order == "handled") return "messages_handled";
  if (order == "restarts") return "restarts";
  return "mailbox_depth";
}

}  // namespace

void sort_actors(boost::json::array& actors, const std::string& order) {
  const auto rank = [&](const value& actor) {
    if (order == "name") return std::tuple(actor_name(actor), std::uint64_t{0}, count(actor, "id"));
    if (order == "phase")
      return std::tuple(text(actor, "phase"), std::uint64_t{0}, count(actor, "id"));
    return std::tuple(std::string(), ~count(actor, field_of(order)), count(actor, "id"));
  };
  std::ranges::sort(actors, {}, rank);
}

std::string actor_name(const value& actor) {
  std::string name = text(actor, "name");
  return name.empty() ? text(actor, "type") + " " + text(actor, "id") : name;
}

Result<> show_actors(const ActorOptions& options, Output& output) {
  return show(options.server, "/api/v1/actors", output, [&](const value& answer) {
    boost::json::array actors = items(answer, "actors");
    sort_actors(actors, options.order);
    if (options.limit > 0 && actors.size() > options.limit) actors.resize(options.limit);
    TextTable table({"ACTOR", "TYPE", "PHASE", ">FOR", ">MAILBOX", ">ROOM", ">HANDLED", ">RESTARTS",
                     "LAST FAILURE"});
    for (const value& actor : actors) {
      const std::uint64_t depth = count(actor, "mailbox_depth");
      const std::uint64_t room = count(actor, "mailbox_capacity");
      const std::string phase = text(actor, "phase");
      table.add({actor_name(actor),
                 text(actor, "type"),
                 flag(actor, "stopping") ? "stopping" : phase,
                 phase.empty() ? "" : seconds(number(actor, "phase_seconds")),
                 {grouped(depth), depth * 2 > room && room > 0 ? Style::warning : Style::plain},
                 room == unbounded ? "any" : grouped(room),
                 grouped(count(actor, "messages_handled")),
                 grouped(count(actor, "restarts")),
                 {text(actor, "last_failure"), Style::bad}});
    }
    output.table(table);
  });
}

}  // namespace weir::cli
