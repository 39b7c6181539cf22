#pragma once

#include <memory>

#include <rocksdb/env.h>
#include <weir/storage/rocksdb/engine.hpp>

namespace weir::storage::rocksdb::internal {

/// As `open_engine`, with all files read and written, and time told, by `environment`; null: by the
/// system.
Result<std::unique_ptr<engine::Engine>> open_engine_on(
    EngineOptions options, const std::shared_ptr<::rocksdb::Env>& environment);

}  // namespace weir::storage::rocksdb::internal
