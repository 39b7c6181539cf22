#include <weir/storage/internal/store_directory.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <system_error>

#include <weir/storage/errc.hpp>
#include <weir/storage/internal/files.hpp>
#include <weir/storage/internal/manifest.hpp>

namespace weir::storage::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "weir store\nformat ";

std::string pid_in(int lock) {
  std::array<char, 16> text{};
  const ssize_t read = ::pread(lock, text.data(), text.size(), 0);
  if (read <= 0) return "unknown";
  std::string pid(text.data(), static_cast<std::size_t>(read));
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return pid;
}

/// Why the lock was not to be had. Closes it.
Error not_locked(const fs::path& path, int lock, int error) {
  const std::string pid = pid_in(lock);
  // Who reads does not leave its number, and shares.
  const bool is_read = ::flock(lock, LOCK_SH | LOCK_NB) == 0;
  ::close(lock);
  if (error != EWOULDBLOCK) return file_error(error, path / "LOCK", "cannot be locked");
  if (is_read) return Error(Errc::locked, path.string() + " is being verified");
  return Error(Errc::locked, path.string() + " is open in process " + pid +
                                 (pid == std::to_string(::getpid()) ? ", this one" : ""));
}

Result<int> lock_in(const fs::path& path) {
  const fs::path file = path / "LOCK";
  const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0) return file_error(errno, file, "cannot be opened");
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) return not_locked(path, lock, errno);
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock, 0) != 0 ||
      ::pwrite(lock, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    const int error = errno;
    ::close(lock);
    return file_error(error, file, "cannot be written");
  }
  return lock;
}

/// Shared with others who read; -1 if nobody has opened the store yet.
Result<int> lock_to_read(const fs::path& path) {
  const fs::path file = path / "LOCK";
  const int lock = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (lock < 0 && errno == ENOENT) return -1;
  if (lock < 0) return file_error(errno, file, "cannot be opened");
  if (::flock(lock, LOCK_SH | LOCK_NB) != 0) return not_locked(path, lock, errno);
  return lock;
}

Result<> check_kind(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return Error(Errc::not_a_store, path.string() + " is not a directory");
  }
  if (fs::exists(path / manifest_name, error)) {
    return Error(Errc::not_a_store,
                 path.string() + " is a backup: restore it to a directory of its own");
  }
  return {};
}

/// True if nothing is there but what a store that was being made leaves behind.
Result<bool> is_unused(const fs::path& path) {
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    const bool is_empty_data = name == "data" && fs::is_empty(entry->path(), error);
    if (name != "LOCK" && name != "FORMAT.new" && !is_empty_data) return false;
  }
  if (error) return file_error(error.value(), path, "cannot be listed");
  return true;
}

/// FORMAT comes last: what has one has all its names on disk, and had a directory for data.
Result<> make_in(const fs::path& path) {
  if (auto synced = sync_name(path); !synced) return synced;
  const fs::path data = path / "data";
  if (::mkdir(data.c_str(), 0755) != 0 && errno != EEXIST) {
    return file_error(errno, data, "cannot be made");
  }
  return StoreDirectory::write_format(path);
}

std::optional<std::uint64_t> identity_in(const fs::path& file) {
  const auto content = read_whole_file(file);
  std::uint64_t identity = 0;
  if (!content || content->size() != 17 || !content->ends_with('\n')) return std::nullopt;
  const char* end = content->data() + 16;
  const auto [rest, error] = std::from_chars(content->data(), end, identity, 16);
  return error == std::errc() && rest == end ? std::optional(identity) : std::nullopt;
}

/// Without room for it on the disk the store has this one until it is opened again.
std::uint64_t identity_of(const fs::path& path) {
  const fs::path file = path / "IDENTITY";
  if (const auto known = identity_in(file)) return *known;
  const std::uint64_t identity = draw_identity();
  std::array<char, 18> text{};
  std::snprintf(text.data(), text.size(), "%016llx\n", static_cast<unsigned long long>(identity));
  static_cast<void>(write_whole_file(file, text.data()));
  return identity;
}

Result<> check_data(const fs::path& data) {
  std::error_code error;
  if (fs::is_directory(data, error)) return {};
  return Error(
      Errc::corruption,
      data.string() + " is missing: restore a backup, or remove what is left of the store");
}

}  // namespace

std::uint64_t draw_identity() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random();
}

Result<> StoreDirectory::check_format(const fs::path& path) {
  const fs::path file = path / "FORMAT";
  auto content = read_whole_file(file);
  if (!content) {
    return Error(Errc::not_a_store, path.string() + " has no readable file FORMAT");
  }
  std::string_view rest = *content;
  if (!rest.starts_with(magic)) {
    return Error(Errc::not_a_store, file.string() + " is not of a Weir store");
  }
  rest.remove_prefix(magic.size());
  int found = 0;
  const auto [end, parsed] = std::from_chars(rest.data(), rest.data() + rest.size(), found);
  if (parsed != std::errc() || std::string_view(end, rest.data() + rest.size()) != "\n") {
    return Error(Errc::corruption, file.string() + " names no format");
  }
  if (found != format) {
    return Error(Errc::unsupported_format, file.string() + ": format " + std::to_string(found) +
                                               "; this version of Weir knows format " +
                                               std::to_string(format));
  }
  return {};
}

Result<> StoreDirectory::write_format(const fs::path& path) {
  return write_whole_file(path / "FORMAT", std::string(magic) + std::to_string(format) + "\n");
}

Result<> StoreDirectory::check_store(const fs::path& path) {
  if (auto checked = check_format(path); !checked) return checked;
  return check_data(path / "data");
}

Result<StoreDirectory> StoreDirectory::open(fs::path path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    return file_error(errno, path, "cannot be made");
  }
  if (auto checked = check_kind(path); !checked) return checked.error();
  std::error_code error;
  const bool has_format = fs::exists(path / "FORMAT", error);
  if (!has_format) {
    auto unused = is_unused(path);
    if (!unused) return unused.error();
    if (!*unused) {
      return Error(Errc::not_a_store,
                   path.string() + " is not empty, and has no file FORMAT: not a Weir store");
    }
  } else if (auto checked = check_store(path); !checked) {
    return checked.error();
  }
  auto lock = lock_in(path);
  if (!lock) return lock.error();
  StoreDirectory directory(std::move(path), *lock);
  if (!has_format) {
    if (auto made = make_in(directory.path_); !made) return made.error();
  }
  directory.identity_ = identity_of(directory.path_);
  return directory;
}

Result<StoreDirectory> StoreDirectory::open_to_read(fs::path path) {
  if (auto checked = check_kind(path); !checked) return checked.error();
  if (auto checked = check_store(path); !checked) return checked.error();
  auto lock = lock_to_read(path);
  if (!lock) return lock.error();
  return StoreDirectory(std::move(path), *lock);
}

StoreDirectory::~StoreDirectory() {
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace weir::storage::internal
