#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/internal/pool_actor.hpp>
#include <weir/runtime/pool_options.hpp>
#include <weir/runtime/router.hpp>

namespace weir {

/// Several actors of one class behind one address, started and looked after together.
///
///     auto pool = weir::spawn_pool<Resizer>(system, {.size = 4, .routing = weir::least_loaded});
///     pool.send<Image>(path);
///     auto done = co_await pool.ask<Status>();
///     pool.resize(8);
///
/// The workers are children of an actor that the pool consists of: they restart as their
/// supervision says, one that ends for good is replaced, and all stop when the pool stops. A
/// message goes from its sender to a worker directly. Cheap to copy, usable from any thread; the
/// pool lives until it is stopped, whoever holds a handle.
template <class A>
class ActorPool {
 public:
  using Router = internal::PoolRouter<A>;

  ActorPool() = default;
  ActorPool(ActorRef<internal::ResizePool, internal::DrainPool> actor, Router router) noexcept
      : actor_(std::move(actor)), router_(std::move(router)) {}

  template <class M, class... Args>
  SendResult<M> send(Args&&... args) const {
    return router_.template send<M>(std::forward<Args>(args)...);
  }
  template <class M>
  SendResult<std::remove_cvref_t<M>> send(M&& message) const {
    return router_.send(std::forward<M>(message));
  }
  template <class M, class... Args>
  auto deliver(Args&&... args) const {
    return router_.template deliver<M>(std::forward<Args>(args)...);
  }
  template <class M, class... Args>
  auto ask(Args&&... args) const {
    return router_.template ask<M>(std::forward<Args>(args)...);
  }

  /// Starts workers, or removes some: those handle everything that was sent to them and stop. Takes
  /// effect soon, not at once. A pool that resizes itself keeps to its limits and goes on from
  /// there.
  Result<> resize(std::size_t workers) const {
    if (workers == 0)
      return Error(Errc::invalid_argument, "resize of a pool to 0: stop it instead");
    if (auto sent = actor_.template send<internal::ResizePool>(workers); !sent) return sent.error();
    return {};
  }
  /// Workers that take messages.
  std::size_t size() const { return router_.size(); }

  /// Stops the pool and its workers. `Stop::when_drained`: after they have handled everything that
  /// was sent to them.
  void stop(Stop how = Stop::now) const {
    if (how != Stop::when_drained || !actor_.template send<internal::DrainPool>()) actor_.stop(how);
  }

  bool is_alive() const noexcept { return actor_.is_alive(); }
  ActorId id() const noexcept { return actor_.id(); }
  /// The pool as an actor, to monitor or link to.
  ActorRef<> ref() const noexcept { return actor_; }
  /// The same workers without the rights to resize or stop.
  const Router& router() const noexcept { return router_; }

 private:
  ActorRef<internal::ResizePool, internal::DrainPool> actor_;
  Router router_;
};

/// Starts a pool at the top of the tree. Every worker is made from copies of `args`. Throws what
/// the constructor of a worker throws, and `std::invalid_argument` for options that make no sense.
template <class A, class... Args>
ActorPool<A> spawn_pool(ActorSystem& system, PoolOptions<A> options, const Args&... args) {
  return internal::spawn_pool_under<A>(system.core(), nullptr, std::move(options), args...);
}

/// The same inside an actor, whose child the pool becomes.
template <class A, class... Args>
ActorPool<A> spawn_pool(PoolOptions<A> options, const Args&... args) {
  internal::Cell& parent = internal::parent_for_pool();
  return internal::spawn_pool_under<A>(*parent.core, &parent, std::move(options), args...);
}

namespace internal {

template <class A, class... Args>
ActorPool<A> spawn_pool_under(Core& core, Cell* parent, PoolOptions<A> options,
                              const Args&... args) {
  PoolRouter<A> router(options.routing);
  SpawnOptions own{.name = options.name};
  auto actor = spawn<PoolActor<A, std::decay_t<const Args&>...>>(
      core, parent, &own, std::move(options), router, args...);
  return ActorPool<A>(std::move(actor), std::move(router));
}

}  // namespace internal
}  // namespace weir
