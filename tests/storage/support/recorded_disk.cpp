#include <weir/tests/storage/support/recorded_disk.hpp>

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <weir/tests/storage/support/read_file.hpp>

namespace weir::storage::test {
namespace {

namespace fs = std::filesystem;

struct Entry {
  ino_t inode = 0;
  bool is_directory = false;
};
using Names = std::map<std::string, Entry>;

std::optional<Entry> entry_at(const fs::path& path) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
  return Entry{found.st_ino, S_ISDIR(found.st_mode)};
}

Names names_in(const fs::path& directory) {
  Names names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (auto found = entry_at(entry.path())) names[entry.path().filename()] = *found;
  }
  return names;
}

/// What is on the disk for sure, and what may be.
class Record {
 public:
  Record(fs::path root, RecordedDisk::Counted counted) : root_(std::move(root)), counted_(counted) {
    take_all(root_);
  }

  bool is_watched(const fs::path& path) const {
    const std::string& text = path.native();
    return text.starts_with(root_.native()) && path.filename() != "LOCK" &&
           !path.filename().native().starts_with("LOG");
  }
  /// False if the power is out, or fails with this operation.
  bool admit(const fs::path& path) {
    if (is_down) return false;
    const bool counts = counted_ == RecordedDisk::Counted::all || !is_in_data(path);
    if (counts && ++operations == crash_at) is_down = true;
    return !is_down;
  }
  void note_name(const fs::path& path) {
    const auto directory = entry_at(path.parent_path());
    if (directory) names_[directory->inode].push_back(names_in(path.parent_path()));
  }
  void note_directory(const fs::path& path) {
    if (const auto made = entry_at(path)) names_[made->inode] = {Names{}};
  }
  void note_new_file(const fs::path& path) {
    if (const auto made = entry_at(path)) contents_.erase(made->inode);
  }
  void note_sync(const fs::path& path) {
    const auto synced = entry_at(path);
    if (!synced) return;
    if (synced->is_directory) {
      names_[synced->inode] = {names_in(path)};
    } else {
      contents_[synced->inode] = read_file(path);
    }
  }

  void leave(std::uint64_t seed, RecordedDisk::Rest rest) {
    std::mt19937_64 random(seed);
    std::map<ino_t, std::string> written;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      const auto found = entry_at(entry.path());
      if (found && !found->is_directory) written[found->inode] = read_file(entry.path());
    }
    const fs::path aside = root_.native() + ".after";
    fs::create_directory(aside);
    const auto root = entry_at(root_);
    leave_directory(root->inode, aside, rest == RecordedDisk::Rest::some ? &random : nullptr,
                    written);
    fs::remove_all(root_);
    fs::rename(aside, root_);
  }

  std::uint64_t operations = 0;
  std::uint64_t crash_at = 0;
  bool is_down = false;

 private:
  static bool is_in_data(const fs::path& path) {
    for (const auto& part : path) {
      if (part.native().starts_with("data")) return true;
    }
    return false;
  }
  void take_all(const fs::path& directory) {
    note_sync(directory);
    for (const auto& [name, entry] : names_in(directory)) {
      if (entry.is_directory) {
        take_all(directory / name);
      } else {
        note_sync(directory / name);
      }
    }
  }
  void leave_directory(ino_t inode, const fs::path& to, std::mt19937_64* random,
                       const std::map<ino_t, std::string>& written) {
    const auto& states = names_[inode];
    if (states.empty()) return;
    const Names& names = states[random ? (*random)() % states.size() : 0];
    for (const auto& [name, entry] : names) {
      if (entry.is_directory) {
        fs::create_directory(to / name);
        leave_directory(entry.inode, to / name, random, written);
      } else {
        std::ofstream(to / name, std::ios::binary) << content_of(entry.inode, random, written);
      }
    }
  }
  /// What was synced, and maybe a part of what was written since.
  std::string content_of(ino_t inode, std::mt19937_64* random,
                         const std::map<ino_t, std::string>& written) {
    const std::string& synced = contents_[inode];
    const auto now = written.find(inode);
    if (!random || now == written.end() || !now->second.starts_with(synced)) return synced;
    const std::size_t more = now->second.size() - synced.size();
    return now->second.substr(0, synced.size() + (*random)() % (more + 1));
  }

  const fs::path root_;
  const RecordedDisk::Counted counted_;
  std::map<ino_t, std::string> contents_;      // of files, as they were synced
  std::map<ino_t, std::vector<Names>> names_;  // of directories: as synced, and each state since
};

std::mutex mutex;
std::optional<Record> record;

fs::path path_of(int file) {
  std::error_code error;
  return fs::read_symlink("/proc/self/fd/" + std::to_string(file), error);
}

fs::path path_at(int directory, const char* name) {
  if (name[0] == '/' || directory == AT_FDCWD) return name;
  return path_of(directory) / name;
}

enum class Verdict : std::uint8_t { apart, admitted, refused };

Verdict judge(const fs::path& path) {
  if (!record || !record->is_watched(path)) return Verdict::apart;
  return record->admit(path) ? Verdict::admitted : Verdict::refused;
}

int refuse() {
  errno = EIO;
  return -1;
}

template <class... Arguments>
int call(long number, Arguments... arguments) {
  return static_cast<int>(::syscall(number, arguments...));
}

/// One that changes the name `path`.
template <class Call>
int change_name(const fs::path& path, Call change) {
  const std::scoped_lock lock(mutex);
  const Verdict verdict = judge(path);
  if (verdict == Verdict::refused) return refuse();
  const int done = change();
  if (verdict == Verdict::admitted && done >= 0) {
    const int error = errno;
    record->note_name(path);
    errno = error;
  }
  return done;
}

int open_at(int directory, const char* name, int flags, mode_t mode) {
  const auto open = [&] { return call(SYS_openat, directory, name, flags, mode); };
  if ((flags & (O_CREAT | O_TRUNC)) == 0) return open();
  const fs::path path = path_at(directory, name);
  const bool is_there = entry_at(path).has_value();
  if (is_there && (flags & O_TRUNC) == 0) return open();
  return change_name(path, [&] {
    const int file = open();
    if (file >= 0 && record && !is_there) record->note_new_file(path);
    return file;
  });
}

/// One that changes what is in a file: `change` gets how much of it is done.
template <class Call>
ssize_t change_content(int file, std::size_t size, Call change) {
  const std::scoped_lock lock(mutex);
  if (!record) return change(size);
  const Verdict verdict = judge(path_of(file));
  if (verdict != Verdict::refused) return change(size);
  (void)change(size / 2);
  return refuse();
}

int sync_file(int file, long number) {
  const std::scoped_lock lock(mutex);
  if (!record) return call(number, file);
  const fs::path path = path_of(file);
  const Verdict verdict = judge(path);
  if (verdict == Verdict::refused) return refuse();
  if (verdict == Verdict::apart) return call(number, file);
  record->note_sync(path);
  return 0;
}

int remove_name(int directory, const char* name, int flags) {
  return change_name(path_at(directory, name),
                     [&] { return call(SYS_unlinkat, directory, name, flags); });
}

}  // namespace

RecordedDisk::RecordedDisk(fs::path root, Counted counted) {
  const std::scoped_lock lock(mutex);
  record.emplace(std::move(root), counted);
}

RecordedDisk::~RecordedDisk() {
  const std::scoped_lock lock(mutex);
  record.reset();
}

void RecordedDisk::crash_at(std::uint64_t nth) {
  const std::scoped_lock lock(mutex);
  record->crash_at = record->operations + nth;
}

bool RecordedDisk::is_down() const {
  const std::scoped_lock lock(mutex);
  return record->is_down;
}

void RecordedDisk::crash(std::uint64_t seed, Rest rest) {
  std::optional<Record> last;
  {
    const std::scoped_lock lock(mutex);
    last.emplace(*std::move(record));
    record.reset();
  }
  last->leave(seed, rest);
}

}  // namespace weir::storage::test

// In place of those of the system, for this whole program.
extern "C" {

// NOLINTBEGIN: names and parameters are the system's
namespace here = weir::storage::test;

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return here::open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return here::open_at(AT_FDCWD, path, flags, mode);
}
ssize_t write(int file, const void* bytes, size_t size) {
  return here::change_content(file, size,
                              [&](size_t part) { return ::syscall(SYS_write, file, bytes, part); });
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  return here::change_content(
      file, size, [&](size_t part) { return ::syscall(SYS_pwrite64, file, bytes, part, offset); });
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) {
  return pwrite(file, bytes, size, offset);
}
ssize_t sendfile(int out, int in, off_t* offset, size_t size) {
  return here::change_content(
      out, size, [&](size_t part) { return ::syscall(SYS_sendfile, out, in, offset, part); });
}
ssize_t sendfile64(int out, int in, off64_t* offset, size_t size) {
  return sendfile(out, in, offset, size);
}
ssize_t copy_file_range(int in, off64_t* in_offset, int out, off64_t* out_offset, size_t size,
                        unsigned flags) {
  return here::change_content(out, size, [&](size_t part) {
    return ::syscall(SYS_copy_file_range, in, in_offset, out, out_offset, part, flags);
  });
}
int fsync(int file) { return here::sync_file(file, SYS_fsync); }
int fdatasync(int file) { return here::sync_file(file, SYS_fdatasync); }
int rename(const char* from, const char* to) {
  return here::change_name(to, [&] { return here::call(SYS_rename, from, to); });
}
int link(const char* from, const char* to) {
  return here::change_name(to, [&] { return here::call(SYS_link, from, to); });
}
int unlink(const char* path) { return here::remove_name(AT_FDCWD, path, 0); }
int rmdir(const char* path) { return here::remove_name(AT_FDCWD, path, AT_REMOVEDIR); }
int unlinkat(int directory, const char* path, int flags) {
  return here::remove_name(directory, path, flags);
}
int remove(const char* path) {
  const int done = unlink(path);
  return done != 0 && errno == EISDIR ? rmdir(path) : done;
}
int mkdir(const char* path, mode_t mode) {
  return here::change_name(path, [&] {
    const int made = here::call(SYS_mkdir, path, mode);
    if (made == 0 && here::record) here::record->note_directory(path);
    return made;
  });
}
// NOLINTEND

}  // extern "C"
