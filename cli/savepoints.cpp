#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <weir/cli/backup.hpp>
#include <weir/cli/format.hpp>
#include <weir/cli/json.hpp>

namespace weir::cli {
namespace {

void add_savepoint(TextTable& table, const boost::json::value& savepoint) {
  table.add({text(savepoint, "name"), grouped(count(savepoint, "version")), text(savepoint, "time"),
             grouped(count(savepoint, "files")), bytes(number(savepoint, "bytes"))});
}

TextTable savepoint_table() {
  return TextTable({"SAVEPOINT", ">VERSION", "TIME", ">FILES", ">SIZE"});
}

std::string path_of(const SavepointOptions& options) {
  return "/api/v1/savepoints/" + encoded(options.name);
}

}  // namespace

std::chrono::milliseconds savepoint_wait(const ServerOptions& server) {
  const std::chrono::duration<double> more(9 * server.timeout_seconds);
  return std::chrono::duration_cast<std::chrono::milliseconds>(more);
}

Result<> list_savepoints(const SavepointOptions& options, Output& output) {
  return show(options.server, "/api/v1/savepoints", output, [&](const boost::json::value& answer) {
    TextTable table = savepoint_table();
    for (const auto& savepoint : items(answer, "savepoints")) add_savepoint(table, savepoint);
    output.table(table);
  });
}

Result<> make_savepoint(const SavepointOptions& options, Output& output) {
  auto client = Client::open(options.server);
  if (!client) return client.error();
  const auto made = client->send("PUT", path_of(options), savepoint_wait(options.server));
  if (!made) return made.error();
  if (output.is_json()) {
    output.line(made->body);
    return {};
  }
  TextTable table = savepoint_table();
  add_savepoint(table, made->json);
  output.table(table);
  return {};
}

Result<> remove_savepoint(const SavepointOptions& options, Output& output) {
  auto client = Client::open(options.server);
  if (!client) return client.error();
  if (const auto removed = client->send("DELETE", path_of(options)); !removed)
    return removed.error();
  if (output.is_json()) {
    output.line(boost::json::serialize(boost::json::value{{"removed", options.name}}));
  } else {
    output.line("removed: " + printable(options.name));
  }
  return {};
}

}  // namespace weir::cli
