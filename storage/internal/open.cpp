#include <weir/storage/internal/open.hpp>

#include <utility>

#include <weir/storage/engine/memory_engine.hpp>
#include <weir/storage/internal/commit_actor.hpp>
#include <weir/storage/internal/stored_store.hpp>
#include <weir/storage/rocksdb/engine.hpp>

namespace weir::storage::internal {
namespace {

using engine::Engine;

Result<std::shared_ptr<StoreCore>> start(ActorSystem& system, StoreOptions options,
                                         std::unique_ptr<Engine> engine,
                                         std::optional<StoreDirectory> directory) {
  auto store = read_stored_store(*engine);
  if (!store) return store.error();
  engine->set_horizon(store->horizon.number);
  auto core = std::make_shared<StoreCore>(std::move(options), system.now(), std::move(directory),
                                          std::move(engine), store->newest, store->horizon,
                                          store->log_floor);
  SpawnOptions spawning{.name = "store", .mailbox_capacity = unbounded};
  core->committer =
      system.spawn<CommitActor>(std::move(spawning), core, std::move(store->retention));
  return core;
}

}  // namespace

Result<std::shared_ptr<StoreCore>> open_core(ActorSystem& system, StoreOptions options) {
  if (options.directory.empty()) {
    auto engine = std::make_unique<engine::MemoryEngine>(options.disk);
    return start(system, std::move(options), std::move(engine), std::nullopt);
  }
  auto directory = StoreDirectory::open(options.directory);
  if (!directory) return directory.error();
  auto engine =
      rocksdb::open_engine({.directory = directory->data(),
                            .memory_budget = options.memory_budget,
                            .write_ahead = options.durability.mode != Durability::Mode::memory});
  if (!engine) return engine.error();
  return start(system, std::move(options), *std::move(engine), *std::move(directory));
}

Result<std::shared_ptr<StoreCore>> open_core_on(ActorSystem& system, StoreOptions options,
                                                std::unique_ptr<Engine> engine) {
  return start(system, std::move(options), std::move(engine), std::nullopt);
}

}  // namespace weir::storage::internal
