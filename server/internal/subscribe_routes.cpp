// Subscriptions: requests that become WebSockets.

#include <algorithm>

#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/relations.hpp>
#include <weir/server/internal/subscriber.hpp>
#include <weir/storage/errc.hpp>

namespace weir::server::internal {
namespace {

constexpr std::uint64_t credit_max = 1'000'000'000;

/// Why a request cannot become a WebSocket; RFC 6455, 4.2.1.
std::optional<Response> check_upgrade(const Request& request) {
  if (request.method() == "GET" && !request.is_http_1_0 &&
      names_token(request.joined("upgrade"), "websocket") &&
      names_token(request.joined("connection"), "upgrade")) {
    if (request.header("sec-websocket-version") == "13") {
      const std::string_view key = request.header("sec-websocket-key");
      if (request.count("sec-websocket-key") == 1 && is_websocket_key(key)) return std::nullopt;
      return Problem{.status = 400,
                     .code = "malformed_request",
                     .detail = "one Sec-WebSocket-Key of 16 bytes in base64 is needed"};
    }
  }
  Response response = Problem{.status = 426,
                              .code = "upgrade_required",
                              .detail = "this is a WebSocket: version 13, by a GET of HTTP/1.1"};
  response.headers.emplace_back("Upgrade", "websocket");
  response.headers.emplace_back("Sec-WebSocket-Version", "13");
  return response;
}

Outcome<bool> wants_snapshot(const Call* call) {
  const std::string* given = call->query("snapshot");
  const bool resumes = call->query("resume") != nullptr;
  if (!given) return !resumes;
  if (*given == "false") return false;
  if (*given == "true" && !resumes) return true;
  return Problem{.status = 400,
                 .code = "invalid_parameter",
                 .detail = "'snapshot' is true or false, and not true with 'resume'"};
}

/// Behind which version it goes on, if it has been here before.
Outcome<std::optional<storage::Version>> resume_of(const Call* call, const Relation& relation) {
  const std::string* token = call->query("resume");
  if (!token) return std::optional<storage::Version>();
  const storage::ChangeLog log = call->core->store->log();
  auto version =
      parse_resume_token({.store = call->core->store->identity(), .relation = relation}, *token);
  if (!version) return std::move(version).error();
  if (*version > log.newest())
    return Error(storage::Errc::future_version, "the token is of version " + to_string(*version));
  if (log.oldest() > version->next()) {
    return Error(storage::Errc::overtaken, "the log begins behind version " + to_string(*version) +
                                               ": begin again with a snapshot");
  }
  return std::optional(*version);
}

Task<Response> subscribe(const Call* call, Wanted wanted) {
  WEIR_CO_TRY(relation, co_await find_relation(call, wanted));
  WEIR_CO_TRY(with_snapshot, wants_snapshot(call));
  WEIR_CO_TRY(credit, call->number("credit", 0, credit_max));
  WEIR_CO_TRY(resume, resume_of(call, relation));
  if (auto refused = check_upgrade(*call->request)) co_return *std::move(refused);
  // First the seat: from here on nothing that comes is missed.
  WEIR_CO_TRY(seat, call->core->feeds.join(call->core->shared_from_this(), relation));
  auto subscription = std::make_shared<NewSubscription>(
      NewSubscription{.relation = relation,
                      .seat = std::move(seat),
                      .position = {resume.value_or(call->core->store->version())}});
  if (call->query("credit")) subscription->credit = credit;
  if (with_snapshot) {
    flow::view::Snapshot now = call->core->database->read();
    subscription->position = {now.version()};
    flow::view::RowScan scan = now.scan(relation);
    WEIR_CO_TRY(batch, co_await scan.next(SnapshotRows::batch_rows));
    subscription->snapshot =
        SnapshotRows{.of = std::move(now), .scan = std::move(scan), .batch = std::move(batch)};
  }
  Response response;
  response.status = 101;
  response.headers.emplace_back("Upgrade", "websocket");
  response.headers.emplace_back("Sec-WebSocket-Accept",
                                accept_websocket_key(call->request->header("sec-websocket-key")));
  if (names_token(call->request->joined("sec-websocket-protocol"), websocket_protocol))
    response.headers.emplace_back("Sec-WebSocket-Protocol", websocket_protocol);
  response.subscription = std::move(subscription);
  co_return response;
}

template <Wanted Of>
Task<Response> subscribe_to(const Call* call) {
  return subscribe(call, Of);
}

Route subscribe_route(std::string_view path, std::string_view operation, Route::Handler handle) {
  return {.method = "GET",
          .path = path,
          .operation = operation,
          .summary = "Rows and then every change, over a WebSocket.",
          .waits = true,
          .upgrades = true,
          .query = {{"snapshot", "string", "false: without the rows that are there"},
                    {"resume", "string", "the token of the last message that was dealt with"},
                    {"credit", "integer", "messages to send before more are granted"}},
          .handle = handle};
}

}  // namespace

std::vector<Route> subscribe_routes() {
  return {subscribe_route("/api/v1/tables/{table}/subscribe", "subscribe_to_table",
                          &subscribe_to<Wanted::table>),
          subscribe_route("/api/v1/views/{view}/subscribe", "subscribe_to_view",
                          &subscribe_to<Wanted::view>)};
}

}  // namespace weir::server::internal
