#include <weir/cli/files.hpp>

#include <fstream>
#include <iterator>
#include <system_error>

#include <weir/cli/errc.hpp>
#include <weir/runtime/error.hpp>
#include <weir/storage/errc.hpp>

namespace weir::cli {

Result<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error(Errc::not_found, path.string() + " cannot be read");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Error explain(const Error& error, const std::filesystem::path& directory) {
  const std::string detail =
      error.detail().empty() ? directory.string() + ": " + error.message() : error.detail();
  if (error == storage::Errc::locked) {
    return {Errc::in_use,
            detail +
                ": end that process first, as only one may have a store open; `weir backup` "
                "copies one that is served"};
  }
  if (error == storage::Errc::not_found) return {Errc::not_found, detail};
  if (error == storage::Errc::corruption) {
    return {Errc::failed, "corruption: " + detail + "; `weir restore` makes a store of a backup"};
  }
  if (error == storage::Errc::no_space) {
    return {Errc::failed, detail + ": the disk is full, make room"};
  }
  return {Errc::failed, detail};
}

Result<> check_is_store(const std::filesystem::path& directory) {
  std::error_code ignored;
  if (!std::filesystem::exists(directory, ignored)) {
    return Error(Errc::not_found, directory.string() + " is not there: --directory names a store");
  }
  if (!std::filesystem::is_directory(directory, ignored)) {
    return Error(Errc::failed, directory.string() + " is no directory: --directory names a store");
  }
  if (std::filesystem::exists(directory / "BACKUP", ignored)) {
    return Error(Errc::failed,
                 directory.string() + " is a backup: `weir restore` makes a store of it");
  }
  if (!std::filesystem::exists(directory / "FORMAT", ignored)) {
    return Error(Errc::failed, directory.string() + " has no file FORMAT, so it is no Weir store");
  }
  return {};
}

}  // namespace weir::cli
