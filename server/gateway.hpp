#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/runtime/actor_ref.hpp>
#include <weir/runtime/result.hpp>
#include <weir/runtime/task.hpp>
#include <weir/server/audit.hpp>
#include <weir/server/limits.hpp>
#include <weir/server/token.hpp>

namespace weir::storage {
class Store;
}
namespace weir::flow::view {
class Database;
}
namespace weir::flow::workflow {
class Engine;
}

namespace weir::server {

namespace internal {
struct GatewayCore;
struct Shutdown;
}  // namespace internal

/// A certificate and its key, in files of PEM. Read once, at the start.
struct TlsOptions {
  /// With those that it was signed by, if there are any between it and the root.
  std::string certificate_file;
  std::string key_file;
};

/// How a gateway is run.
struct GatewayOptions {
  /// An IPv4 or IPv6 address; no name. Others than those of this machine alone need `tokens`.
  std::string address = "127.0.0.1";
  /// Zero for any that is free.
  std::uint16_t port = 8080;
  /// Who may call. Without any, everybody who can reach it may do everything.
  std::vector<Token> tokens = {};
  /// Plain HTTP without it.
  std::optional<TlsOptions> tls = {};
  Limits limits = {};
  /// How long `stop` waits for answers that are under way.
  Duration drain = std::chrono::seconds(10);
  /// Without one, records become lines of the system's log, if it has telemetry.
  AuditSink audit = {};
};

/// What a gateway makes reachable. The gateway is stopped before any of it is closed.
struct Served {
  storage::Store* store = nullptr;
  flow::view::Database* database = nullptr;
  /// Null if there are no workflows.
  flow::workflow::Engine* engine = nullptr;
};

/// What a gateway was doing when it was stopped.
struct DrainReport {
  /// Connections that were cut off as `drain` was over.
  std::size_t cut_off = 0;
};

/// Serves a database and its workflows over HTTP: tables, views, the change log and executions as
/// JSON under `/api/v1`, with a description of itself at `/api/v1/openapi.json`; `/healthz`,
/// `/readyz` and `/metrics`; at `/` the console, a page for browsers.
///
///     auto gateway = Gateway::start({&store, &database, &engine}).value();
///     std::printf("%s\n", gateway.url().c_str());
///     ...
///     co_await gateway.stop();
///
/// Each connection is an actor of the store's system. Usable from any thread.
class Gateway {
 public:
  /// Accepts connections from then on. `needs_tokens`, `cannot_listen`, `bad_certificate`,
  /// `invalid_argument`.
  static Result<Gateway> start(Served served, GatewayOptions options = {});

  Gateway(Gateway&&) noexcept;
  Gateway& operator=(Gateway&&) = delete;
  /// Cuts all connections off, if nobody has stopped it. Inside an actor it does not wait for that.
  ~Gateway();

  std::uint16_t port() const noexcept;
  /// `http://127.0.0.1:8080`.
  std::string url() const;
  /// Those that are open.
  std::size_t connections() const noexcept;

  /// Accepts no more, answers what has been asked, and cuts off who is not done after `drain`. From
  /// its begin `/readyz` says that it is not ready.
  Task<Result<DrainReport>> stop();

 private:
  explicit Gateway(std::shared_ptr<internal::GatewayCore> core) noexcept;

  std::shared_ptr<internal::GatewayCore> core_;  // null when moved from
  ActorRef<internal::Shutdown> listener_;
};

}  // namespace weir::server
