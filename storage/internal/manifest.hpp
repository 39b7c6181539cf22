#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <weir/runtime/result.hpp>
#include <weir/storage/backup.hpp>

namespace weir::storage::internal {

// Persisted: docs/storage_format.md. A text file, the last one of a backup to be written:
//
//     weir backup
//     format 1
//     version <number>
//     microseconds <since 1970>
//     file <crc32> <bytes> <path>            once for every file; the checksum in hexadecimal
//     end <crc32 of everything above>
inline constexpr const char* manifest_name = "BACKUP";

struct ManifestFile {
  std::string path;  // within the backup
  std::uint64_t bytes = 0;
  std::uint32_t checksum = 0;
};

struct Manifest {
  Version version;
  std::uint64_t microseconds = 0;
  std::vector<ManifestFile> files;

  BackupInfo info(const std::filesystem::path& directory) const;
};

/// The size and checksum of a file as it is now.
Result<ManifestFile> read_file(const std::filesystem::path& directory, std::string path);

Result<> write_manifest(const std::filesystem::path& directory, const Manifest& manifest);
Result<Manifest> read_manifest(const std::filesystem::path& directory);

}  // namespace weir::storage::internal
