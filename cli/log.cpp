#include <weir/cli/log.hpp>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <weir/cli/format.hpp>
#include <weir/cli/json.hpp>
#include <weir/cli/terminal.hpp>
#include <weir/runtime/error.hpp>

namespace weir::cli {
namespace {

using boost::json::value;
using namespace std::chrono_literals;

// Less than the minute after which a gateway answers in any case.
constexpr auto wait_time = 25s;
constexpr std::uint64_t records_at_a_time = 500;

/// `orders +1, stock ~2 -1`
std::string changes_of(const value& record) {
  std::string all;
  for (const value& space : items(record, "spaces")) {
    std::string one = printable(text(space, "name"));
    for (const auto& [sign, name] :
         {std::pair(" +", "inserts"), std::pair(" ~", "updates"), std::pair(" -", "removes")}) {
      if (const std::uint64_t rows = count(space, name); rows > 0) one += sign + grouped(rows);
    }
    all += (all.empty() ? "" : ", ") + one;
  }
  return all;
}

void print_record(const value& record, Output& output) {
  if (output.is_json()) {
    output.line(boost::json::serialize(record));
    return;
  }
  std::string version = text(record, "version");
  if (version.size() < 9) version.insert(0, 9 - version.size(), ' ');
  std::string origin = printable(text(record, "origin"));
  if (origin.empty()) origin = "-";
  output.line(styled(version, Style::bold, output.is_coloured()) + "  " +
              styled(printable(text(record, "time")), Style::faint, output.is_coloured()) + "  " +
              origin + "  " + changes_of(record));
}

/// The version after which to go on.
Result<std::string> print_page(Client& client, const Query& query, std::chrono::milliseconds wait,
                               Output& output) {
  const auto page = client.get(query.path(), wait);
  if (!page) return page.error();
  for (const value& record : items(page->json, "records")) print_record(record, output);
  if (auto written = output.flush(); !written) return written.error();
  return text(page->json, "after");
}

/// Told to end it has done what it was asked for.
Result<> follow(Client& client, std::string after, Output& output) {
  for (;;) {
    Query query("/api/v1/log");
    query.add("after", after).add("limit", std::to_string(records_at_a_time));
    query.add("wait", std::to_string(std::chrono::milliseconds(wait_time).count()));
    auto next = print_page(client, query, wait_time, output);
    if (!next && next.error() == weir::Errc::cancelled) return {};
    if (!next) return next.error();
    after = *std::move(next);
  }
}

}  // namespace

Result<> show_log(const LogOptions& options, Output& output) {
  Query query("/api/v1/log");
  if (options.after) query.add("after", std::to_string(*options.after));
  query.add("limit", std::to_string(options.limit));
  if (!options.follows && output.is_json()) return show(options.server, query.path(), output, {});
  Signals signals;
  auto client = Client::open(options.server);
  if (!client) return client.error();
  client->obey(&signals);
  if (options.follows) client->be_quiet();
  auto after = print_page(*client, query, 0ms, output);
  if (!after && after.error() == weir::Errc::cancelled) return {};
  if (!after) return after.error();
  return options.follows ? follow(*client, *std::move(after), output) : Result<>();
}

}  // namespace weir::cli
