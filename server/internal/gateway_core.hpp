#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include <weir/flow/view/database.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/server/gateway.hpp>
#include <weir/server/internal/access.hpp>
#include <weir/server/internal/feed.hpp>
#include <weir/server/internal/handle_secret.hpp>
#include <weir/server/internal/network.hpp>
#include <weir/server/internal/relation_cache.hpp>
#include <weir/server/internal/router.hpp>
#include <weir/storage/store.hpp>
#include <weir/telemetry/instrument.hpp>

namespace weir::server::internal {

/// Hangs up on everybody, and cuts off who is not done after `drain`.
struct Shutdown {
  using Reply = DrainReport;
  Duration drain = {};
};

/// What the actors of a gateway share. All but the counters stay as they are made.
struct GatewayCore : std::enable_shared_from_this<GatewayCore> {
  GatewayCore(Served served, GatewayOptions the_options, Access the_access,
              std::shared_ptr<Acceptor> the_acceptor);
  GatewayCore(const GatewayCore&) = delete;
  GatewayCore& operator=(const GatewayCore&) = delete;

  ActorSystem& system() const noexcept { return store->system(); }
  telemetry::Telemetry* telemetry() const noexcept { return store->system().options().telemetry; }

  const std::shared_ptr<storage::Store> store;
  const std::shared_ptr<flow::view::Database> database;
  const std::shared_ptr<flow::workflow::Engine> engine;  // null if there is none
  const GatewayOptions options;
  const Access access;
  const Router router;
  const std::string openapi;
  const std::shared_ptr<Acceptor> acceptor;
  const std::uint16_t port;
  const TimePoint started;
  const storage::Version started_at;
  telemetry::Histogram durations;

  RelationCache relations;
  Feeds feeds;
  HandleSecret handle_secret;

  std::atomic<std::size_t> connections{0};
  std::atomic<std::size_t> subscriptions{0};  // over WebSockets
  std::atomic<bool> is_draining{false};
  /// 1 when the listener has gone, and with it all connections.
  const std::shared_ptr<SequenceBarrier> gone = std::make_shared<SequenceBarrier>();
};

/// What is told of a request when it has been answered: to the audit log and to the metrics.
struct Answered {
  const Request* request;
  const Route* route;  // null if there is none
  const Caller* caller;
  const Response* response;
  const Stream* stream;
  Duration taken;
};
void tell(const GatewayCore& core, const Answered& answered);

}  // namespace weir::server::internal
