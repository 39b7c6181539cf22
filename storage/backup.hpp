#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <weir/runtime/clock.hpp>
#include <weir/runtime/result.hpp>
#include <weir/storage/version.hpp>

namespace weir::storage {

/// What the manifest of a backup says.
///
/// A backup is a directory with the files of a store and a manifest that lists them with their
/// checksums; it is complete when the manifest is there. `Store::back_up` makes one anywhere on the
/// store's file system, `Store::make_savepoint` one by name inside the store's directory.
struct BackupInfo {
  std::filesystem::path directory;
  /// Everything up to this version is in it; later commits may be.
  Version version;
  std::chrono::sys_time<Duration> time{};
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

/// Reads the manifest. `not_found` if there is none, `corruption` if it is not whole.
Result<BackupInfo> read_backup(const std::filesystem::path& directory);

/// Reads every file of a backup and compares its checksum. Names the first that differs.
Result<BackupInfo> check_backup(const std::filesystem::path& directory);

/// Checks a backup and copies it to `target`, which must not be there yet: a store that can be
/// opened. If it fails, `target` is not there.
Result<BackupInfo> restore_backup(const std::filesystem::path& backup,
                                  const std::filesystem::path& target);

}  // namespace weir::storage
