#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <weir/runtime/result.hpp>

namespace weir::storage::internal {

/// The error `error` of the operating system as one of the store, with the path in it.
Error file_error(int error, const std::filesystem::path& path, std::string_view what);

/// Writes a file aside, syncs it and renames it: it is whole or not there.
Result<> write_whole_file(const std::filesystem::path& path, std::string_view content);
Result<> sync_directory(const std::filesystem::path& path);
/// Syncs the directory that holds the name `path`: only then does what is in it survive a crash.
Result<> sync_name(const std::filesystem::path& path);
Result<std::string> read_whole_file(const std::filesystem::path& path);
/// Copies and syncs.
Result<> copy_file(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace weir::storage::internal
