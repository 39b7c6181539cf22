#include <weir/storage/internal/files.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include <weir/storage/errc.hpp>

namespace weir::storage::internal {
namespace {

namespace fs = std::filesystem;

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Result<> sync_path(const fs::path& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return file_error(errno, path, "cannot be opened");
  const bool is_synced = ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  return is_synced ? Result<>() : file_error(error, path, "cannot be synced");
}

}  // namespace

Error file_error(int error, const fs::path& path, std::string_view what) {
  Errc code = Errc::io_error;
  if (error == EACCES || error == EROFS || error == EPERM) code = Errc::read_only;
  if (error == ENOSPC || error == EDQUOT) code = Errc::no_space;
  if (error == ENOENT) code = Errc::not_found;
  if (error == EEXIST || error == ENOTEMPTY) code = Errc::already_exists;
  return Error(code, path.string() + " " + std::string(what) + ": " +
                         std::error_code(error, std::generic_category()).message());
}

Result<> write_whole_file(const fs::path& path, std::string_view content) {
  fs::path aside = path;
  aside += ".new";
  const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return file_error(errno, aside, "cannot be opened");
  const bool is_written = write_all(file, content) && ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  if (!is_written) return file_error(error, aside, "cannot be written");
  if (::rename(aside.c_str(), path.c_str()) != 0) {
    return file_error(errno, path, "cannot be named");
  }
  return sync_directory(path.parent_path());
}

Result<> sync_directory(const fs::path& path) {
  return sync_path(path.empty() ? fs::path(".") : path, O_RDONLY | O_DIRECTORY);
}

Result<> sync_name(const fs::path& path) {
  // With or without a separator at its end.
  return sync_directory((path / "").parent_path().parent_path());
}

Result<std::string> read_whole_file(const fs::path& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return file_error(errno == 0 ? ENOENT : errno, path, "cannot be opened");
  std::string content((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) return file_error(EIO, path, "cannot be read");
  return content;
}

Result<> copy_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (!fs::copy_file(from, to, error)) return file_error(error.value(), to, "cannot be written");
  return sync_path(to, O_RDONLY);
}

}  // namespace weir::storage::internal
