#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/runtime/result.hpp>
#include <weir/storage/postgres/options.hpp>

struct pg_conn;

namespace weir::storage::postgres::internal {

/// What libpq is told: keywords and values.
struct ConnectionParameters {
  std::vector<std::pair<std::string, std::string>> values;

  /// Empty if there is none.
  std::string get(std::string_view keyword) const;
  void set(std::string_view keyword, std::string value);
};

/// Parses `Options::connection`: `invalid_argument` if libpq does not understand it.
Result<ConnectionParameters> parse_connection(const Options& options);

/// A server to connect to: one of a comma-separated list.
struct Host {
  std::string name;     // a path, a name or an address
  std::string address;  // if it is known
  std::string port;
};

/// Those whose address libpq would look up itself, and block.
bool needs_lookup(const Host& host);
std::vector<Host> hosts_of(const ConnectionParameters& parameters);
void set_hosts(ConnectionParameters& parameters, const std::vector<Host>& hosts);

/// Looks the addresses up, of which a host may have several. Blocks.
Result<std::vector<Host>> look_up(const std::vector<Host>& hosts);

struct FinishConnection {
  void operator()(pg_conn* connection) const noexcept;
};
using ConnectionHandle = std::unique_ptr<pg_conn, FinishConnection>;

/// Begins to connect; does not block.
Result<ConnectionHandle> start_connecting(const ConnectionParameters& parameters);

/// What a connection that is being made waits for.
enum class Polled : std::uint8_t { wants_read, wants_write, is_connected, has_failed };
Polled poll_connecting(pg_conn* connection);

/// The socket, or -1.
int socket_of(const pg_conn* connection);

/// What libpq says went wrong last.
std::string message_of(const pg_conn* connection);

}  // namespace weir::storage::postgres::internal
