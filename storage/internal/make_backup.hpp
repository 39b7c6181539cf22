#pragma once

#include <cstdint>
#include <filesystem>

#include <weir/runtime/result.hpp>
#include <weir/storage/backup.hpp>
#include <weir/storage/engine/engine.hpp>

namespace weir::storage::internal {

/// Copies an engine into a new directory and writes the manifest. Waits for the disk; if it fails,
/// the directory is not there.
Result<BackupInfo> make_backup(engine::Engine& engine, const std::filesystem::path& directory,
                               Version version, std::uint64_t microseconds);

}  // namespace weir::storage::internal
