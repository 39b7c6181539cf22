#pragma once

#include <array>
#include <memory>

#include <rocksdb/cache.h>
#include <rocksdb/compaction_filter.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <weir/storage/engine/family.hpp>
#include <weir/storage/rocksdb/engine.hpp>

namespace weir::storage::rocksdb::internal {

/// RocksDB's options, all derived from ours.
struct Tuning {
  ::rocksdb::DBOptions database;
  std::array<::rocksdb::ColumnFamilyOptions, engine::family_count> families;
  std::shared_ptr<::rocksdb::Cache> cache;
};

/// Shares the memory budget out: three quarters to the cache, which is also charged for memtables
/// (a quarter of the budget at most), indexes and filters. The rest is for files being written,
/// read ahead and merged, which nobody counts.
Tuning make_tuning(const EngineOptions& options);

}  // namespace weir::storage::rocksdb::internal
