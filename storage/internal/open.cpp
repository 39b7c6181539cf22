#include <weir/storage/internal/open.hpp>

#include <cstdio>
#include <string>
#include <utility>

#include <weir/storage/change.hpp>
#include <weir/storage/engine/memory_engine.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/internal/change_format.hpp>
#include <weir/storage/internal/checkpoint_format.hpp>
#include <weir/storage/internal/commit_actor.hpp>
#include <weir/storage/internal/row_format.hpp>
#include <weir/storage/rocksdb/engine.hpp>

namespace weir::storage::internal {
namespace {

using engine::Engine;
using engine::Family;
using engine::Wait;

/// What an engine says about the store that is in it.
struct StoredStore {
  Version newest;
  Version horizon;
  Version log_floor{1};
  LogRetention retention;
};

Result<> read_newest(const Engine& engine, StoredStore& store) {
  const auto cursor = engine.make_cursor(Family::log, {});
  cursor->seek_back(log_key(Version{~std::uint64_t{0}}));
  if (auto status = cursor->status(); !status) return status;
  if (!cursor->is_valid()) return {};
  const auto version = parse_version(cursor->key());
  if (!version) {
    return Error(Errc::corruption, "change log: " + printable(cursor->key()) + ": not a version");
  }
  auto record = ChangeRecord::decode(*version, cursor->value());
  if (!record) return record.error();
  store.newest = *version;
  store.retention.total_bytes = record->total_bytes();
  return {};
}

Result<> read_meta(const Engine& engine, std::string_view key, Version& version) {
  std::string value;
  auto found = engine.get(Family::meta, key, value, Wait::allowed);
  if (!found) return found.error();
  if (!*found) return {};
  const auto parsed = parse_version(value);
  if (!parsed) return Error(Errc::corruption, "meta: " + std::string(key) + ": not a version");
  version = *parsed;
  return {};
}

Result<> read_consumers(const Engine& engine, LogRetention& retention) {
  const auto cursor = engine.make_cursor(Family::checkpoints, {});
  for (cursor->seek({}); cursor->is_valid(); cursor->next()) {
    const auto value = parse_stored(cursor->value());
    const auto checkpoint = value ? parse_checkpoint(value->value) : std::nullopt;
    if (!checkpoint) {
      return Error(Errc::corruption, "checkpoint " + printable(cursor->key()) + ": not one");
    }
    retention.consumers[std::string(cursor->key())] = checkpoint->version;
  }
  return cursor->status();
}

Result<StoredStore> read_store(const Engine& engine) {
  StoredStore store;
  if (auto read = read_newest(engine, store); !read) return read.error();
  if (auto read = read_meta(engine, horizon_key, store.horizon); !read) return read.error();
  if (auto read = read_meta(engine, log_floor_key, store.log_floor); !read) return read.error();
  if (auto read = read_consumers(engine, store.retention); !read) return read.error();
  if (store.horizon > store.newest || store.log_floor > store.newest.next()) {
    return Error(Errc::corruption, "the newest version is " + to_string(store.newest) +
                                       ", but the store says it keeps versions from " +
                                       to_string(store.horizon) + " and changes from " +
                                       to_string(store.log_floor));
  }
  return store;
}

Result<std::shared_ptr<StoreCore>> start(ActorSystem& system, StoreOptions options,
                                         std::unique_ptr<Engine> engine,
                                         std::optional<StoreDirectory> directory) {
  auto store = read_store(*engine);
  if (!store) return store.error();
  engine->set_horizon(store->horizon.number);
  auto core =
      std::make_shared<StoreCore>(std::move(options), std::move(directory), std::move(engine),
                                  store->newest, store->horizon, store->log_floor);
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
