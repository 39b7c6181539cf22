#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/task.hpp>
#include <weir/server/internal/access.hpp>
#include <weir/server/internal/message.hpp>
#include <weir/server/internal/target.hpp>

namespace weir::server::internal {

struct GatewayCore;
struct Call;

/// A parameter of the query.
struct Parameter {
  std::string_view name;
  std::string_view type;  // of JSON schema: `integer`, `string`
  std::string_view description;
};

/// What a caller can ask for. From these both the router and the description of the API are made.
struct Route {
  using Handler = Task<Response> (*)(const Call* call);

  std::string_view method;
  std::string_view path;       // `/api/v1/tables/{table}`
  std::string_view operation;  // its id: `get_table`
  std::string_view summary;
  /// None: for everybody.
  std::optional<Role> role = Role::read;
  /// Not for tokens of some namespaces.
  bool is_global = false;
  /// It may take long, as it waits for something to happen.
  bool waits = false;
  /// The connection becomes a WebSocket.
  bool upgrades = false;
  std::vector<Parameter> query = {};
  /// Names of schemas in `schemas()`; without a request there is no body.
  std::string_view request = {};
  std::string_view response = {};
  /// What is answered, if it is not JSON.
  std::string_view response_type = json_type;
  /// The status is 201.
  bool creates = false;
  Handler handle = nullptr;
  /// Of the path, for the router to fill in.
  std::vector<std::string_view> segments = {};
};

/// A request that is about to be answered.
struct Call {
  GatewayCore* core = nullptr;
  const Request* request = nullptr;
  const Route* route = nullptr;
  Caller caller = {};
  Target target = {};
  /// Comes when the gateway drains, or the client hangs up while a route waits: who waits for
  /// something gives up.
  CancellationToken drain = {};

  /// A parameter of the path, decoded; it is UTF-8, as the router has seen.
  std::string parameter(std::string_view name) const;
  /// The same as it came.
  std::string_view encoded(std::string_view name) const;
  const std::string* query(std::string_view name) const;
  /// A number, or `otherwise` if it is not there. A problem if it is none, or beyond `most`.
  Outcome<std::uint64_t> number(std::string_view name, std::uint64_t otherwise,
                                std::uint64_t most) const;
};

// What there is, by what it is about.
std::vector<Route> system_routes();
std::vector<Route> overview_routes();
std::vector<Route> console_routes();
std::vector<Route> relation_routes();
std::vector<Route> view_routes();
std::vector<Route> subscribe_routes();
std::vector<Route> write_routes();
std::vector<Route> log_routes();
std::vector<Route> execution_routes();
std::vector<Route> execution_control_routes();
std::vector<Route> workflow_routes();
std::vector<Route> graph_routes();
std::vector<Route> claim_routes();
std::vector<Route> lane_routes();
std::vector<Route> notice_routes();
/// All of them.
std::vector<Route> all_routes();

}  // namespace weir::server::internal
