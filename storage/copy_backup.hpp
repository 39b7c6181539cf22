#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include <weir/runtime/result.hpp>
#include <weir/storage/backup.hpp>

namespace weir::storage {

/// Told after each file how many bytes of how many have been read and copied.
using BackupProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// As in backup.hpp, for who shows how far it is.
Result<BackupInfo> check_backup(const std::filesystem::path& directory,
                                const BackupProgress& on_progress);
Result<BackupInfo> restore_backup(const std::filesystem::path& backup,
                                  const std::filesystem::path& target,
                                  const BackupProgress& on_progress);

/// Checks a backup and copies it to `target`, which must not be there yet: a backup again. For
/// savepoints, which share their files with the store, and are lost with its disk. If it fails,
/// `target` is not there.
Result<BackupInfo> copy_backup(const std::filesystem::path& backup,
                               const std::filesystem::path& target,
                               const BackupProgress& on_progress = {});

}  // namespace weir::storage
