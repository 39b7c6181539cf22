#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <weir/runtime/clock.hpp>
#include <weir/storage/postgres/isolation.hpp>

namespace weir::storage::postgres {

/// Something the server wants people to know: a warning, a deprecated feature.
struct Notice {
  std::string severity;  // `NOTICE`, `WARNING`
  std::string sqlstate;
  std::string message;
};

/// How often what met `contention` is run again.
struct RetryOptions {
  unsigned attempts_max = 3;
  /// Before the second attempt, at most; twice that before each further one. The time is drawn
  /// evenly from zero up to it, so that those who met do not meet again.
  Duration backoff = std::chrono::milliseconds(10);
  Duration backoff_max = std::chrono::seconds(1);
};

/// Where the server is, and how it is used.
struct Options {
  /// As libpq takes it: `host=/run/postgresql dbname=weir`, or `postgresql://...`. What is missing
  /// comes from the environment (`PGHOST`, `PGUSER`, ...). Names of hosts are looked up on the
  /// blocking pool.
  std::string connection = {};
  /// Shown in metrics, logs and the server's `application_name`.
  std::string name = "weir";

  unsigned connections = 4;
  /// Calls sent on one connection before the first of them is answered.
  unsigned pipeline_depth_max = 64;
  /// Calls that may wait for a connection; those beyond are refused: `overloaded`.
  std::uint32_t queue_max = 65'536;
  /// Statements kept prepared on each connection. Texts beyond are sent whole each time.
  std::uint32_t prepared_max = 1'024;

  Isolation isolation = Isolation::read_committed;
  RetryOptions retry = {};

  Duration connect_timeout = std::chrono::seconds(5);
  /// How long a call may take, unless it says otherwise. The server ends the statement then.
  Duration call_timeout = std::chrono::seconds(30);
  /// A connection on which a call is this late, and nothing else is answered either, is dead.
  Duration hang_grace = std::chrono::seconds(2);
  /// The server ends a transaction in which nothing happens for so long.
  Duration transaction_idle_timeout = std::chrono::minutes(1);

  /// How often a listener asks whether its connection is still there.
  Duration heartbeat = std::chrono::seconds(10);

  /// How long calls wait for the server to come back before they get `unavailable`.
  Duration reconnect_budget = std::chrono::seconds(10);
  /// Between attempts to connect: doubled each time, up to the most, and drawn evenly from the
  /// upper half.
  Duration reconnect_backoff = std::chrono::milliseconds(50);
  Duration reconnect_backoff_max = std::chrono::seconds(2);

  /// Called by an actor, so it must be quick. Without one, notices go to the system's log.
  std::function<void(const Notice&)> on_notice = {};
};

/// How one call is made.
struct CallOptions {
  /// Zero: `Options::call_timeout`.
  Duration timeout = Duration::zero();
  /// Without one: `Options::isolation`. Changing it between calls costs a message, so let most
  /// calls of a pool be of one kind.
  std::optional<Isolation> isolation = {};
  /// How often it is run when it meets `contention`; `retry_exhausted` afterwards. One: once, and
  /// the error is `contention` itself.
  unsigned attempts_max = 1;
};

}  // namespace weir::storage::postgres
