#include <weir/storage/backup.hpp>

#include <sys/stat.h>

#include <cerrno>
#include <set>
#include <system_error>
#include <utility>

#include <weir/storage/copy_backup.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/internal/files.hpp>
#include <weir/storage/internal/make_backup.hpp>
#include <weir/storage/internal/manifest.hpp>
#include <weir/storage/internal/store_directory.hpp>

namespace weir::storage {
namespace {

namespace fs = std::filesystem;

using internal::Manifest;
using internal::ManifestFile;

/// Removes a directory that was begun and not finished.
class Unfinished {
 public:
  explicit Unfinished(fs::path path) : path_(std::move(path)) {}
  ~Unfinished() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  void keep() noexcept { path_.clear(); }

 private:
  fs::path path_;
};

Result<> make_directory(const fs::path& path) {
  if (::mkdir(path.c_str(), 0755) == 0) return {};
  return internal::file_error(errno, path, "cannot be made");
}

Result<> fill(engine::Engine& engine, const fs::path& directory, Manifest& manifest) {
  auto copied = engine.copy_to(directory / "data");
  if (!copied) return copied.error();
  if (auto format = internal::StoreDirectory::write_format(directory); !format) return format;
  manifest.files.clear();
  for (std::string& name : *copied) {
    auto file = internal::read_file(directory, "data/" + name);
    if (!file) return file.error();
    manifest.files.push_back(*std::move(file));
  }
  auto format = internal::read_file(directory, "FORMAT");
  if (!format) return format.error();
  manifest.files.push_back(*std::move(format));
  return internal::write_manifest(directory, manifest);
}

/// Bytes that have been read and copied, of those that will be.
class Passed {
 public:
  explicit Passed(const BackupProgress& on_progress) : on_progress_(on_progress) {}
  void expect(const Manifest& manifest, std::uint64_t times) {
    for (const ManifestFile& file : manifest.files) total_ += file.bytes * times;
  }
  void add(const ManifestFile& file) {
    done_ += file.bytes;
    if (on_progress_) on_progress_(done_, total_);
  }

 private:
  const BackupProgress& on_progress_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

Result<> check_files(const fs::path& directory, const Manifest& manifest, Passed& passed) {
  for (const ManifestFile& listed : manifest.files) {
    auto found = internal::read_file(directory, listed.path);
    if (!found) return found.error();
    passed.add(listed);
    if (found->bytes == listed.bytes && found->checksum == listed.checksum) continue;
    return Error(Errc::corruption,
                 (directory / listed.path).string() + " is not what was backed up: its " +
                     (found->bytes == listed.bytes ? "checksum" : "length") + " differs");
  }
  return {};
}

Result<> copy_files(const Manifest& manifest, const fs::path& from, const fs::path& to,
                    Passed& passed) {
  if (auto made = make_directory(to / "data"); !made) return made;
  for (const ManifestFile& file : manifest.files) {
    if (auto copied = internal::copy_file(from / file.path, to / file.path); !copied) {
      return copied;
    }
    passed.add(file);
  }
  if (auto synced = internal::sync_directory(to / "data"); !synced) return synced;
  return internal::sync_directory(to);
}

enum class Kind { store, backup };

Result<BackupInfo> check_and_copy(const fs::path& backup, const fs::path& target, Kind kind,
                                  const BackupProgress& on_progress) {
  // A slash at the end would name what is made aside within it.
  const fs::path place = target.has_filename() ? target : target.parent_path();
  auto manifest = internal::read_manifest(backup);
  if (!manifest) return manifest.error();
  Passed passed(on_progress);
  passed.expect(*manifest, 2);
  if (auto checked = check_files(backup, *manifest, passed); !checked) return checked.error();
  std::error_code error;
  if (fs::exists(place, error)) {
    return Error(Errc::already_exists, place.string() + " is there already");
  }
  // Made aside, so that a store or backup that is there is a whole one.
  fs::path aside = place;
  aside += kind == Kind::store ? ".restoring" : ".copying";
  fs::remove_all(aside, error);  // what a crash has left
  if (auto made = make_directory(aside); !made) return made.error();
  Unfinished unfinished(aside);
  if (auto copied = copy_files(*manifest, backup, aside, passed); !copied) return copied.error();
  if (kind == Kind::backup) {
    if (auto written = internal::write_manifest(aside, *manifest); !written) return written.error();
  }
  fs::rename(aside, place, error);
  if (error) return internal::file_error(error.value(), place, "cannot be named");
  unfinished.keep();
  if (auto synced = internal::sync_name(place); !synced) return synced.error();
  return manifest->info(place);
}

}  // namespace

namespace internal {

Result<BackupInfo> make_backup(engine::Engine& engine, const fs::path& directory, Version version,
                               std::uint64_t microseconds) {
  if (auto made = make_directory(directory); !made) return made.error();
  Unfinished unfinished(directory);
  Manifest manifest{.version = version, .microseconds = microseconds, .files = {}};
  if (auto filled = fill(engine, directory, manifest); !filled) return filled.error();
  if (auto synced = internal::sync_name(directory); !synced) return synced.error();
  unfinished.keep();
  return manifest.info(directory);
}

}  // namespace internal

Result<BackupInfo> read_backup(const fs::path& directory) {
  auto manifest = internal::read_manifest(directory);
  if (!manifest) return manifest.error();
  return manifest->info(directory);
}

Result<BackupInfo> check_backup(const fs::path& directory) { return check_backup(directory, {}); }

Result<BackupInfo> restore_backup(const fs::path& backup, const fs::path& target) {
  return restore_backup(backup, target, {});
}

Result<BackupInfo> check_backup(const fs::path& directory, const BackupProgress& on_progress) {
  auto manifest = internal::read_manifest(directory);
  if (!manifest) return manifest.error();
  Passed passed(on_progress);
  passed.expect(*manifest, 1);
  if (auto checked = check_files(directory, *manifest, passed); !checked) return checked.error();
  return manifest->info(directory);
}

Result<BackupInfo> restore_backup(const fs::path& backup, const fs::path& target,
                                  const BackupProgress& on_progress) {
  return check_and_copy(backup, target, Kind::store, on_progress);
}

Result<BackupInfo> copy_backup(const fs::path& backup, const fs::path& target,
                               const BackupProgress& on_progress) {
  return check_and_copy(backup, target, Kind::backup, on_progress);
}

}  // namespace weir::storage
