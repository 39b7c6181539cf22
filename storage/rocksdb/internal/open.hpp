#pragma once

#include <memory>

#include <rocksdb/file_system.h>
#include <weir/storage/rocksdb/engine.hpp>

namespace weir::storage::rocksdb::internal {

/// As `open_engine`, with all files read and written through `files`; null: the system's.
Result<std::unique_ptr<engine::Engine>> open_engine_on(
    EngineOptions options, std::shared_ptr<::rocksdb::FileSystem> files);

}  // namespace weir::storage::rocksdb::internal
