#pragma once

#include <filesystem>

#include <rocksdb/env.h>
#include <rocksdb/status.h>
#include <weir/runtime/error.hpp>

namespace weir::storage::rocksdb::internal {

/// Why the engine in `directory` could not be opened. Finds the damaged file where RocksDB names
/// another: it blames the manifest for every file in it. `environment` may be null.
Error diagnose(const ::rocksdb::Status& status, const std::filesystem::path& directory,
               ::rocksdb::Env* environment);

}  // namespace weir::storage::rocksdb::internal
