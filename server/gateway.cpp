#include <weir/server/gateway.hpp>

#include <exception>
#include <utility>

#include <weir/runtime/check.hpp>
#include <weir/server/errc.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/listener.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::server {
namespace internal {

GatewayCore::GatewayCore(Served served, GatewayOptions the_options, Access the_access,
                         std::shared_ptr<Acceptor> the_acceptor)
    : store(served.store->share()),
      database(served.database->share()),
      engine(served.engine ? served.engine->share() : nullptr),
      options(std::move(the_options)),
      access(std::move(the_access)),
      router(all_routes()),
      openapi(print_openapi(router.routes())),
      acceptor(std::move(the_acceptor)),
      port(acceptor->port()),
      started(system().now()),
      started_at(store->version()),
      relations(store.get(), database.get()),
      handle_secret(engine.get()) {
  if (telemetry() && telemetry()->measures()) {
    durations = telemetry()->meter().histogram(
        "http.server.request.duration",
        {.description = "How long requests took, from their last byte to their answer."});
  }
}

}  // namespace internal

namespace {

Task<Result<DrainReport>> shut_down(ActorRef<internal::Shutdown> listener, Duration drain,
                                    std::shared_ptr<SequenceBarrier> gone) {
  auto report =
      co_await listener.ask<internal::Shutdown>(drain).within(drain + std::chrono::seconds(10));
  if (report) static_cast<void>(co_await gone->wait_until(1));
  co_return report;
}

Result<> check_options(const GatewayOptions& options) {
  auto is_loopback = internal::is_loopback_address(options.address);
  if (!is_loopback) return std::move(is_loopback).error();
  if (!*is_loopback && options.tokens.empty()) {
    return Error(Errc::needs_tokens,
                 "'" + options.address +
                     "' can be reached by others: give it tokens, or listen on 127.0.0.1");
  }
  const Limits& limits = options.limits;
  const bool has_times =
      limits.header_time > Duration::zero() && limits.body_time > Duration::zero() &&
      limits.write_time > Duration::zero() && limits.idle_time > Duration::zero() &&
      limits.snapshot_time > Duration::zero() && limits.ping_time > Duration::zero();
  if (!has_times || limits.header_bytes_max < 1024 || limits.connections_max == 0)
    return Error(Errc::invalid_argument, "limits: nobody could ask anything");
  return {};
}

}  // namespace

Gateway::Gateway(std::shared_ptr<internal::GatewayCore> core) noexcept : core_(std::move(core)) {}
Gateway::Gateway(Gateway&&) noexcept = default;

Gateway::~Gateway() {
  if (!core_ || !listener_.is_alive()) return;
  try {
    static_cast<void>(core_->system().run(shut_down(listener_, Duration::zero(), core_->gone)));
  } catch (const std::exception&) {
    // Inside an actor, which must not wait, or the system has stopped and with it the connections.
    listener_.stop();
  }
}

Result<Gateway> Gateway::start(Served served, GatewayOptions options) {
  if (!served.store || !served.database)
    return Error(Errc::invalid_argument, "a gateway needs a store and a database");
  if (auto checked = check_options(options); !checked) return std::move(checked).error();
  auto access = internal::Access::make(options.tokens);
  if (!access) return std::move(access).error();
  auto acceptor = internal::Acceptor::listen(served.store->system(), options);
  if (!acceptor) return std::move(acceptor).error();
  Gateway gateway(std::make_shared<internal::GatewayCore>(
      served, std::move(options), *std::move(access), *std::move(acceptor)));
  gateway.listener_ = served.store->system().spawn<internal::Listener>(
      SpawnOptions{.name = "gateway"}, gateway.core_);
  return gateway;
}

std::uint16_t Gateway::port() const noexcept { return core_->port; }

std::string Gateway::url() const {
  const GatewayOptions& options = core_->options;
  const bool is_v6 = options.address.find(':') != std::string::npos;
  return std::string(options.tls ? "https://" : "http://") +
         (is_v6 ? "[" + options.address + "]" : options.address) + ":" +
         std::to_string(core_->port);
}

std::size_t Gateway::connections() const noexcept {
  return core_->connections.load(std::memory_order_relaxed);
}

Task<Result<DrainReport>> Gateway::stop() {
  core_->is_draining.store(true, std::memory_order_relaxed);
  return shut_down(listener_, core_->options.drain, core_->gone);
}

}  // namespace weir::server
