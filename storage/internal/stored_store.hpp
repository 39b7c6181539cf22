#pragma once

#include <cstdint>
#include <map>

#include <weir/runtime/result.hpp>
#include <weir/storage/engine/engine.hpp>
#include <weir/storage/internal/log_retention.hpp>
#include <weir/storage/version.hpp>

namespace weir::storage::internal {

/// What an engine says about the store that is in it.
struct StoredStore {
  Version newest;
  Version horizon;
  Version log_floor{1};
  LogRetention retention;
  /// Key spaces that were dropped, and whose content is still to be removed; since when.
  std::map<std::uint32_t, Version> dropped;
  /// The highest number that a dropped space had.
  std::uint32_t last_dropped = 0;
};

/// Reads it. Waits for the disk.
Result<StoredStore> read_stored_store(const engine::Engine& engine);

}  // namespace weir::storage::internal
