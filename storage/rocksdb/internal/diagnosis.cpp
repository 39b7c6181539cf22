#include <weir/storage/rocksdb/internal/diagnosis.hpp>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <weir/storage/engine/errc.hpp>
#include <weir/storage/rocksdb/internal/lock.hpp>
#include <weir/storage/rocksdb/internal/status.hpp>

namespace weir::storage::rocksdb::internal {
namespace {

using engine::Errc;
using ::rocksdb::Status;
using std::filesystem::path;

std::vector<path> files_ending_in(std::string_view extension, const path& directory) {
  std::vector<path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// The first sorted file that cannot be opened alone.
std::optional<Error> damaged_file(const path& directory, ::rocksdb::Env* environment) {
  ::rocksdb::Options options;
  if (environment) options.env = environment;
  for (const path& file : files_ending_in(".sst", directory)) {
    const Status opened = ::rocksdb::SstFileReader(options).Open(file.string());
    if (!opened.ok()) return to_error(opened, file.string());
  }
  return std::nullopt;
}

/// The logs that a message is about: it has a number at best.
std::optional<std::string> damaged_logs(const std::string& text, const path& directory) {
  static constexpr std::string_view number_follows = "log number: ";
  if (const auto at = text.find(number_follows); at != std::string::npos) {
    const auto begin = at + number_follows.size();
    std::string number = text.substr(begin, text.find_first_not_of("0123456789", begin) - begin);
    number.insert(0, 6 - std::min<std::size_t>(number.size(), 6), '0');
    return number + ".log";
  }
  if (text.find("ahead of WALs") == std::string::npos) return std::nullopt;
  std::string names = "one of the logs";
  for (const path& log : files_ending_in(".log", directory)) {
    names += " " + log.filename().string();
  }
  return names;
}

/// For messages that name no file: only the manifest is read without its name being told.
std::string manifest_of(const path& directory) {
  std::string name;
  std::ifstream(directory / "CURRENT") >> name;
  return name.starts_with("MANIFEST-") ? name : "CURRENT";
}

/// A sorted file that is missing is also looked for under the name it had in LevelDB, and that is
/// the name RocksDB tells.
std::string with_todays_names(std::string text) {
  for (auto at = text.find(".ldb"); at != std::string::npos; at = text.find(".ldb", at)) {
    text.replace(at, 4, ".sst");
  }
  return text;
}

}  // namespace

Error diagnose(const Status& status, const path& directory, ::rocksdb::Env* environment) {
  if (auto locked = lock_error(status, directory)) return *std::move(locked);
  const std::string text = with_todays_names(status.ToString());
  if (status.IsInvalidArgument() && text.find("olumn famil") != std::string::npos) {
    return Error(Errc::unsupported_format,
                 directory.string() + ": written by a newer version? " + text);
  }
  if (status.IsPathNotFound() || status.IsNotFound()) {
    return Error(Errc::corruption, (directory / "CURRENT").string() +
                                       " or the manifest names a file that is missing: " + text);
  }
  if (!status.IsCorruption()) return to_error(status, directory.string(), manifest_of(directory));
  if (text.find("No such file") != std::string::npos) return Error(Errc::corruption, text);
  if (const auto logs = damaged_logs(text, directory)) {
    return to_error(status, directory.string(), *logs);
  }
  if (auto damaged = damaged_file(directory, environment)) return *std::move(damaged);
  return to_error(status, directory.string(), manifest_of(directory));
}

}  // namespace weir::storage::rocksdb::internal
