#include <weir/storage/rocksdb/internal/open.hpp>

#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/storage/rocksdb/internal/database.hpp>
#include <weir/storage/rocksdb/internal/diagnosis.hpp>

namespace weir::storage::rocksdb {
namespace internal {
namespace {

using engine::Errc;
using std::filesystem::path;

/// Of a file in an engine's directory, by its name.
enum class FileKind : std::uint8_t { current, data, other, foreign };

FileKind kind_of(const path& file) {
  const std::string name = file.filename().string();
  const std::string extension = file.extension().string();
  if (name == "CURRENT") return FileKind::current;
  if (extension == ".sst" || extension == ".log") return FileKind::data;
  for (const std::string_view prefix : {"MANIFEST-", "OPTIONS-", "LOG", "LOCK", "IDENTITY"}) {
    if (name.starts_with(prefix)) return FileKind::other;
  }
  // Left by a crash while a file was being replaced, and by file systems.
  return extension == ".dbtmp" || name == "lost+found" ? FileKind::other : FileKind::foreign;
}

/// Refuses to begin a new engine over something that is there. What a crash leaves while an engine
/// is being made has no data yet.
Result<> check_content(const path& directory) {
  bool has_current = false;
  std::optional<path> data;
  std::optional<path> foreign;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    switch (kind_of(entry.path())) {
      case FileKind::current: has_current = true; break;
      case FileKind::data: data = entry.path(); break;
      case FileKind::foreign: foreign = entry.path(); break;
      case FileKind::other: break;
    }
  }
  if (error) return Error(Errc::io_error, directory.string() + ": " + error.message());
  if (has_current) return {};
  if (foreign) {
    return Error(Errc::not_a_store, directory.string() + " holds " + foreign->filename().string());
  }
  if (data) {
    return Error(Errc::corruption, (directory / "CURRENT").string() + " is missing, but " +
                                       data->filename().string() + " is there");
  }
  return {};
}

/// Before anything is written every family has been made.
Result<> prepare_to_read(const path& directory, ::rocksdb::Env* environment) {
  const Error not_made(Errc::not_found, directory.string() + " holds no engine");
  std::error_code error;
  if (!std::filesystem::exists(directory, error)) return not_made;
  if (auto checked = check_content(directory); !checked) return checked;
  if (!std::filesystem::exists(directory / "CURRENT", error)) return not_made;
  ::rocksdb::DBOptions options;
  if (environment) options.env = environment;
  std::vector<std::string> families;
  const auto listed = ::rocksdb::DB::ListColumnFamilies(options, directory.string(), &families);
  if (!listed.ok()) return diagnose(listed, directory, environment);
  if (families.size() < engine::family_count) return not_made;
  return {};
}

Result<> prepare(const path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  const bool is_refused =
      error == std::errc::permission_denied || error == std::errc::read_only_file_system;
  if (error) {
    return Error(is_refused ? Errc::read_only : Errc::io_error,
                 directory.string() + ": " + error.message());
  }
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    return Error(Errc::read_only, directory.string() + " cannot be written to");
  }
  return check_content(directory);
}

}  // namespace

Result<std::unique_ptr<engine::Engine>> open_engine_on(
    EngineOptions options, const std::shared_ptr<::rocksdb::Env>& environment) {
  if (options.directory.empty()) {
    return Error(Errc::invalid_argument, "an engine needs a directory");
  }
  if (options.memory_budget < memory_budget_min) {
    return Error(Errc::invalid_argument,
                 "a memory budget of " + std::to_string(options.memory_budget) +
                     " bytes is less than " + std::to_string(memory_budget_min));
  }
  options.directory = std::filesystem::absolute(options.directory).lexically_normal();
  if (!options.directory.has_filename()) options.directory = options.directory.parent_path();
  auto prepared = options.is_read_only ? prepare_to_read(options.directory, environment.get())
                                       : prepare(options.directory);
  if (!prepared) return std::move(prepared).error();
  const path directory = options.directory;
  auto database = std::make_unique<Database>(std::move(options), environment);
  if (const auto status = database->open(); !status.ok()) {
    return diagnose(status, directory, environment.get());
  }
  return std::unique_ptr<engine::Engine>(std::move(database));
}

}  // namespace internal

Result<std::unique_ptr<engine::Engine>> open_engine(EngineOptions options) {
  return internal::open_engine_on(std::move(options), nullptr);
}

}  // namespace weir::storage::rocksdb
