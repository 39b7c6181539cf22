#pragma once

#include <filesystem>
#include <optional>

#include <rocksdb/status.h>
#include <weir/runtime/error.hpp>

namespace weir::storage::rocksdb::internal {

/// If opening `directory` failed because an engine is open there: an error that names its process.
std::optional<Error> lock_error(const ::rocksdb::Status& status,
                                const std::filesystem::path& directory);

}  // namespace weir::storage::rocksdb::internal
