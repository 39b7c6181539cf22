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

/// For tests that bring their own engine.
struct StoreAccess {
  static Store make(ActorSystem& system, std::shared_ptr<StoreCore> core) noexcept {
    return Store(system, std::move(core));
  }
};

}  // namespace weir::storage::internal
