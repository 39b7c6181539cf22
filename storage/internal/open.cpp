#include <weir/storage/internal/open.hpp>

#include <utility>

#include <weir/storage/engine/memory_engine.hpp>
#include <weir/storage/internal/commit_actor.hpp>
#include <weir/storage/internal/stored_store.hpp>
#include <weir/storage/rocksdb/engine.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::storage::internal {
namespace {

using engine::Engine;

/// What a store consists of before it is one.
struct Parts {
  std::optional<StoreDirectory> directory;
  std::unique_ptr<StoreEvents> events;
  std::unique_ptr<Engine> engine;
};

Result<std::shared_ptr<StoreCore>> start(ActorSystem& system, StoreOptions options, Parts parts) {
  auto store = read_stored_store(*parts.engine);
  if (!store) return store.error();
  parts.engine->set_horizon(store->horizon.number);
  auto core =
      std::make_shared<StoreCore>(std::move(options), system.now(), std::move(parts.directory),
                                  std::move(parts.events), std::move(parts.engine), *store);
  if (auto* telemetry = system.options().telemetry) {
    core->metrics = std::make_unique<StoreMetrics>(*core, telemetry->meter());
  }
  SpawnOptions spawning{.name = "store", .mailbox_capacity = unbounded};
  core->committer = system.spawn<CommitActor>(std::move(spawning), core, *std::move(store));
  return core;
}

}  // namespace

Result<std::shared_ptr<StoreCore>> open_core(ActorSystem& system, StoreOptions options) {
  Parts parts;
  if (options.directory.empty()) {
    parts.engine = std::make_unique<engine::MemoryEngine>(options.disk);
    return start(system, std::move(options), std::move(parts));
  }
  auto directory = StoreDirectory::open(options.directory);
  if (!directory) return directory.error();
  parts.directory.emplace(*std::move(directory));
  if (auto* telemetry = system.options().telemetry) {
    parts.events = std::make_unique<StoreEvents>(telemetry->logger());
  }
  auto engine =
      rocksdb::open_engine({.directory = parts.directory->data(),
                            .memory_budget = options.memory_budget,
                            .write_ahead = options.durability.mode != Durability::Mode::memory,
                            .events = parts.events.get()});
  if (!engine) return engine.error();
  parts.engine = *std::move(engine);
  return start(system, std::move(options), std::move(parts));
}

Result<std::shared_ptr<StoreCore>> open_core_on(ActorSystem& system, StoreOptions options,
                                                std::unique_ptr<Engine> engine) {
  Parts parts;
  if (!options.directory.empty()) {
    auto directory = StoreDirectory::open(options.directory);
    if (!directory) return directory.error();
    parts.directory.emplace(*std::move(directory));
  }
  parts.engine = std::move(engine);
  return start(system, std::move(options), std::move(parts));
}

}  // namespace weir::storage::internal
