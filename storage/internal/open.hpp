#pragma once

#include <memory>
#include <utility>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/result.hpp>
#include <weir/storage/engine/engine.hpp>
#include <weir/storage/internal/store_core.hpp>
#include <weir/storage/store.hpp>

namespace weir::storage::internal {

/// Opens what the options name and starts the commit actor.
Result<std::shared_ptr<StoreCore>> open_core(ActorSystem& system, StoreOptions options);

/// The same on an engine that is there already: that of the directory, if the options name one.
Result<std::shared_ptr<StoreCore>> open_core_on(ActorSystem& system, StoreOptions options,
                                                std::unique_ptr<engine::Engine> engine);

/// For tests that bring their own engine, and for who opens key spaces without their types.
struct StoreAccess {
  static Store make(ActorSystem& system, std::shared_ptr<StoreCore> core) noexcept {
    return Store(system, std::move(core));
  }
  static auto find_or_make_space(const Store& store, SpaceInfo wanted) {
    return Store::find_or_make_space(store.core_, std::move(wanted));
  }
  static std::uint64_t life_of(const Store& store) noexcept { return store.core_->life; }
};

}  // namespace weir::storage::internal
