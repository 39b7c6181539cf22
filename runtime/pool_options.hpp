#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <weir/runtime/clock.hpp>
#include <weir/runtime/internal/actor_type.hpp>
#include <weir/runtime/routing.hpp>
#include <weir/runtime/spawn_options.hpp>

namespace weir {

/// When a pool changes its size by itself.
///
/// It grows, at most twofold at a time, when more than `depth` messages wait for each worker, and
/// gives up one worker at a time when the rest would have less than half of that to do.
struct PoolLimits {
  std::size_t min = 1;
  std::size_t max = 16;
  std::uint32_t depth = 16;
  /// How often it looks.
  Duration every = std::chrono::milliseconds(100);
};

/// The size of a pool that `waiting` messages call for.
std::size_t next_pool_size(const PoolLimits& limits, std::size_t size,
                           std::uint64_t waiting) noexcept;

namespace internal {

template <class List>
struct RoutingOfList;
template <class... Ms>
struct RoutingOfList<MessageList<Ms...>> {
  using Type = Routing<Ms...>;
};

}  // namespace internal

/// How a pool of actors of class `A` is run.
template <class A>
struct PoolOptions {
  /// Of the pool; the workers' names are made from it.
  std::string name = {};
  std::size_t size = 2;
  /// Which worker a message goes to.
  typename internal::RoutingOfList<typename A::Messages>::Type routing = {};
  /// Of each worker.
  SpawnOptions worker = {.supervision = Supervision::restart()};
  /// A worker that has ended, by itself or because its supervision gave up, is replaced after this.
  /// If its constructor throws then, that is reported as a failure of the pool, which goes on and
  /// tries again after as long.
  Duration replace_after = std::chrono::milliseconds(100);
  /// Without limits the size changes only when `resize` is called.
  std::optional<PoolLimits> limits = {};
};

}  // namespace weir
