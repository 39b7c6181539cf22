#pragma once

#include <memory>
#include <utility>

#include <weir/storage/internal/open.hpp>
#include <weir/storage/store.hpp>
#include <weir/tests/storage/support/hesitant_engine.hpp>

namespace weir::storage::test {

/// A store on a simulated disk that often has to wait for it, so that others go on meanwhile.
inline Result<Store> open_hesitant(ActorSystem& system, StoreOptions options) {
  auto engine = std::make_unique<HesitantEngine>(options.disk);
  auto core = internal::open_core_on(system, std::move(options), std::move(engine));
  if (!core) return core.error();
  return internal::StoreAccess::make(system, *std::move(core));
}

}  // namespace weir::storage::test
