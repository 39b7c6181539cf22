#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <rocksdb/io_status.h>
#include <weir/tests/storage/rocksdb/support/faulty_disk.hpp>

namespace weir::storage::rocksdb::test {

/// How much of a file's bytes a power failure cannot take. Guarded by the journal's mutex.
struct Inode {
  std::uint64_t written = 0;
  std::uint64_t synced = 0;
};

/// What has happened to the files of a disk since each was last synced.
class DiskJournal {
 public:
  using Path = std::string;

  /// Counts an operation. Not `ok` if it must fail; a write may then have done a part of its work.
  ::rocksdb::IOStatus admit(const Path& path);

  std::shared_ptr<Inode> created(const Path& path);
  void appended(Inode& inode, std::uint64_t bytes);
  void truncated(Inode& inode, std::uint64_t size);
  void synced(Inode& inode);
  void directory_synced(const Path& directory);
  /// Before the file is moved or removed: remembers what that takes away.
  void renaming(const Path& from, const Path& to);
  void removing(const Path& path);

  std::uint64_t operations() const;
  std::uint64_t operations_of_this_thread() const;
  void fail_at(std::uint64_t nth, FaultyDisk::Fault fault);
  void hold(bool is_held);
  void crash_at(std::uint64_t nth);
  void repair();
  bool is_down() const;
  void crash(std::uint64_t seed, FaultyDisk::Tail tail);

 private:
  struct Backup {
    std::shared_ptr<Inode> inode;
    std::string content;
  };
  struct NameChange {
    enum class Kind : std::uint8_t { create, rename, remove };
    Kind kind;
    Path path;
    Path target = {};                     // of a renaming
    std::optional<Backup> replaced = {};  // what was removed, or at the target
  };

  /// Of directories only their files are followed: who makes them syncs their names past this disk.
  void move_directory(const Path& from, const Path& to);
  std::optional<Backup> back_up(const Path& path);
  void restore(const Path& path, const std::optional<Backup>& backup);
  void undo(const NameChange& change);
  void lose_unsynced_bytes(std::mt19937_64& random, FaultyDisk::Tail tail);

  mutable std::mutex mutex_;
  std::condition_variable let_go_;
  // Guarded by `mutex_`.
  std::map<Path, std::shared_ptr<Inode>> inodes_;  // others hold what they did from the beginning
  std::vector<NameChange> changes_;                // of names, not yet synced
  std::uint64_t operations_ = 0;
  std::map<std::thread::id, std::uint64_t> by_thread_;  // of all time
  std::optional<std::uint64_t> crash_at_;
  std::optional<std::uint64_t> fail_at_;
  FaultyDisk::Fault fault_ = FaultyDisk::Fault::io_error;
  bool is_down_ = false;
  bool is_held_ = false;
};

}  // namespace weir::storage::rocksdb::test
