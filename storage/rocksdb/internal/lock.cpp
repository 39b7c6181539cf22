#include <weir/storage/rocksdb/internal/lock.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include <weir/storage/engine/errc.hpp>

namespace weir::storage::rocksdb::internal {
namespace {

/// The process that holds a POSIX lock on the file; 0 if that is unknown, or this one.
pid_t holder_of(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return 0;
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const int result = ::fcntl(descriptor, F_GETLK, &lock);
  ::close(descriptor);
  return result == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
}

}  // namespace

std::optional<Error> lock_error(const ::rocksdb::Status& status,
                                const std::filesystem::path& directory) {
  const std::string text = status.ToString();
  const auto file = directory / "LOCK";
  if (!status.IsIOError() || text.find(file.string()) == std::string::npos) return std::nullopt;
  std::string holder;
  if (text.find("lock hold by current process") != std::string::npos) {
    // Closing a descriptor of the file would end this process's lock: do not ask.
    holder = "this process, " + std::to_string(::getpid());
  } else if (const pid_t process = holder_of(file); process != 0) {
    holder = "process " + std::to_string(process);
  } else {
    return std::nullopt;
  }
  return Error(engine::Errc::locked, directory.string() + " is open in " + holder);
}

}  // namespace weir::storage::rocksdb::internal
