// Backups and savepoints of an open store.
#include <algorithm>
#include <system_error>
#include <utility>

#include <weir/runtime/blocking_pool.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/internal/files.hpp>
#include <weir/storage/internal/make_backup.hpp>
#include <weir/storage/internal/manifest.hpp>
#include <weir/storage/internal/store_core.hpp>
#include <weir/storage/store.hpp>

namespace weir::storage {
namespace {

namespace fs = std::filesystem;

using internal::StoreCore;

Result<fs::path> savepoint_path(const StoreCore& core, const std::string& name) {
  const auto is_allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '_' || c == '.';
  };
  if (name.empty() || name.size() > 128 || name.front() == '.' ||
      !std::all_of(name.begin(), name.end(), is_allowed)) {
    return Error(Errc::invalid_argument,
                 "\"" + name + "\" is no name for a savepoint: letters, digits, '-', '_' and, " +
                     "after the first, '.' make one");
  }
  if (!core.directory) return Error(Errc::invalid_argument, "a store in memory has no savepoints");
  return core.directory->savepoints() / name;
}

Result<BackupInfo> back_up_now(StoreCore& core, const fs::path& directory,
                               std::uint64_t microseconds) {
  return internal::make_backup(*core.engine, directory, core.newest(), microseconds);
}

/// The manifest first, and for sure: what is left by a crash has none, and so is no savepoint.
Result<> remove_backup(const fs::path& path) {
  std::error_code error;
  fs::remove(path / internal::manifest_name, error);
  if (error) return internal::file_error(error.value(), path, "cannot be removed");
  if (auto synced = internal::sync_directory(path); !synced) return synced;
  fs::remove_all(path, error);
  if (error) return internal::file_error(error.value(), path, "cannot be removed");
  return internal::sync_name(path);
}

Result<BackupInfo> make_savepoint_now(StoreCore& core, const std::string& name,
                                      std::uint64_t microseconds) {
  auto path = savepoint_path(core, name);
  if (!path) return path.error();
  std::error_code error;
  fs::create_directory(path->parent_path(), error);
  if (error) return internal::file_error(error.value(), path->parent_path(), "cannot be made");
  if (auto synced = internal::sync_name(path->parent_path()); !synced) return synced.error();
  // What a crash has left unfinished makes room.
  if (fs::exists(*path, error) && !fs::exists(*path / internal::manifest_name, error)) {
    if (auto removed = remove_backup(*path); !removed) return removed.error();
  }
  return back_up_now(core, *path, microseconds);
}

Result<> remove_savepoint_now(const StoreCore& core, const std::string& name) {
  auto path = savepoint_path(core, name);
  if (!path) return path.error();
  std::error_code error;
  if (!fs::exists(*path, error)) {
    return Error(Errc::not_found,
                 "no savepoint \"" + name + "\" in " + path->parent_path().string());
  }
  return remove_backup(*path);
}

Result<std::vector<BackupInfo>> list_savepoints(const StoreCore& core) {
  std::vector<BackupInfo> found;
  std::error_code error;
  if (!core.directory || !fs::exists(core.directory->savepoints(), error)) return found;
  for (const auto& entry : fs::directory_iterator(core.directory->savepoints(), error)) {
    // What has no manifest was not finished.
    if (auto info = read_backup(entry.path())) found.push_back(*std::move(info));
  }
  if (error) {
    return internal::file_error(error.value(), core.directory->savepoints(), "cannot be listed");
  }
  std::sort(found.begin(), found.end(),
            [](const BackupInfo& a, const BackupInfo& b) { return a.directory < b.directory; });
  return found;
}

}  // namespace

Task<Result<BackupInfo>> Store::back_up(fs::path directory) {
  return [](std::shared_ptr<StoreCore> core, fs::path path,
            std::uint64_t time) -> Task<Result<BackupInfo>> {
    co_return co_await on_blocking_pool(
        [core, path, time] { return back_up_now(*core, path, time); });
  }(core_, std::move(directory), microseconds());
}

Task<Result<BackupInfo>> Store::make_savepoint(std::string name) {
  return [](std::shared_ptr<StoreCore> core, std::string chosen,
            std::uint64_t time) -> Task<Result<BackupInfo>> {
    co_return co_await on_blocking_pool(
        [core, chosen, time] { return make_savepoint_now(*core, chosen, time); });
  }(core_, std::move(name), microseconds());
}

Task<Result<>> Store::remove_savepoint(std::string name) {
  return [](std::shared_ptr<StoreCore> core, std::string chosen) -> Task<Result<>> {
    co_return co_await on_blocking_pool(
        [core, chosen] { return remove_savepoint_now(*core, chosen); });
  }(core_, std::move(name));
}

Task<Result<std::vector<BackupInfo>>> Store::savepoints() const {
  return [](std::shared_ptr<StoreCore> core) -> Task<Result<std::vector<BackupInfo>>> {
    co_return co_await on_blocking_pool([core] { return list_savepoints(*core); });
  }(core_);
}

}  // namespace weir::storage
