#include <weir/tests/storage/rocksdb/support/disk_journal.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ranges>
#include <utility>

#include <weir/tests/storage/support/read_file.hpp>

namespace weir::storage::rocksdb::test {
namespace {

using Fault = FaultyDisk::Fault;
using Tail = FaultyDisk::Tail;
using ::rocksdb::IOStatus;

IOStatus failure(Fault fault, const std::string& path) {
  switch (fault) {
    case Fault::no_space: return IOStatus::NoSpace("Injected", path);
    case Fault::read_only: return IOStatus::IOError("Injected: " + path, "Read-only file system");
    case Fault::io_error: break;
  }
  return IOStatus::IOError("Injected: " + path, "Input/output error");
}

void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

/// RocksDB refuses a manifest that ends in garbage, since it cannot know that nothing is lost.
bool is_manifest(const std::string& path) { return path.find("/MANIFEST-") != std::string::npos; }

}  // namespace

IOStatus DiskJournal::admit(const Path& path) {
  std::unique_lock lock(mutex_);
  if (path.ends_with(".sst")) let_go_.wait(lock, [&] { return !is_held_; });
  if (is_down_) return failure(Fault::io_error, path);
  ++operations_;
  ++by_thread_[std::this_thread::get_id()];
  if (crash_at_ && operations_ >= *crash_at_) {
    is_down_ = true;
    return failure(Fault::io_error, path);
  }
  if (fail_at_ && operations_ >= *fail_at_) return failure(fault_, path);
  return IOStatus::OK();
}

std::shared_ptr<Inode> DiskJournal::created(const Path& path) {
  const std::lock_guard lock(mutex_);
  changes_.push_back({NameChange::Kind::create, path});
  return inodes_[path] = std::make_shared<Inode>();
}

void DiskJournal::appended(Inode& inode, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  inode.written += bytes;
}

void DiskJournal::truncated(Inode& inode, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  inode.written = size;
  inode.synced = std::min(inode.synced, size);
}

void DiskJournal::synced(Inode& inode) {
  const std::lock_guard lock(mutex_);
  inode.synced = inode.written;
}

void DiskJournal::directory_synced(const Path& directory) {
  const std::lock_guard lock(mutex_);
  const auto normal = std::filesystem::path(directory + "/").lexically_normal().parent_path();
  std::erase_if(changes_, [&](const NameChange& change) {
    return std::filesystem::path(change.path).lexically_normal().parent_path() == normal;
  });
}

void DiskJournal::renaming(const Path& from, const Path& to) {
  const std::lock_guard lock(mutex_);
  if (std::filesystem::is_directory(from)) return move_directory(from, to);
  changes_.push_back({NameChange::Kind::rename, from, to, back_up(to)});
  if (const auto inode = inodes_.extract(from)) {
    inodes_[to] = inode.mapped();
  } else {
    inodes_.erase(to);
  }
}

void DiskJournal::move_directory(const Path& from, const Path& to) {
  const auto moved = [&](const Path& path) {
    return path.starts_with(from + "/") ? to + path.substr(from.size()) : path;
  };
  std::map<Path, std::shared_ptr<Inode>> inodes;
  for (auto& [path, inode] : inodes_) inodes[moved(path)] = std::move(inode);
  inodes_ = std::move(inodes);
  for (NameChange& change : changes_) {
    change.path = moved(change.path);
    change.target = moved(change.target);
  }
}

void DiskJournal::removing(const Path& path) {
  const std::lock_guard lock(mutex_);
  changes_.push_back({NameChange::Kind::remove, path, {}, back_up(path)});
  inodes_.erase(path);
}

std::optional<DiskJournal::Backup> DiskJournal::back_up(const Path& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const auto inode = inodes_.find(path);
  return Backup{inode == inodes_.end() ? nullptr : inode->second, storage::test::read_file(path)};
}

void DiskJournal::restore(const Path& path, const std::optional<Backup>& backup) {
  inodes_.erase(path);
  if (!backup) return;
  write(path, backup->content);
  if (backup->inode) {
    // A file without a name was not synced any more.
    std::filesystem::resize_file(path, std::min(backup->inode->synced, backup->inode->written));
  }
}

void DiskJournal::undo(const NameChange& change) {
  // Names go with their directory.
  if (!std::filesystem::exists(std::filesystem::path(change.path).parent_path())) return;
  switch (change.kind) {
    case NameChange::Kind::create:
      std::filesystem::remove(change.path);
      inodes_.erase(change.path);
      return;
    case NameChange::Kind::rename:
      std::filesystem::rename(change.target, change.path);
      restore(change.target, change.replaced);
      return;
    case NameChange::Kind::remove: restore(change.path, change.replaced); return;
  }
}

std::uint64_t DiskJournal::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

std::uint64_t DiskJournal::operations_of_this_thread() const {
  const std::lock_guard lock(mutex_);
  const auto at = by_thread_.find(std::this_thread::get_id());
  return at == by_thread_.end() ? 0 : at->second;
}

void DiskJournal::fail_at(std::uint64_t nth, Fault fault) {
  const std::lock_guard lock(mutex_);
  operations_ = 0;
  fail_at_ = nth;
  fault_ = fault;
}

void DiskJournal::crash_at(std::uint64_t nth) {
  const std::lock_guard lock(mutex_);
  operations_ = 0;
  crash_at_ = nth;
}

void DiskJournal::hold(bool is_held) {
  const std::lock_guard lock(mutex_);
  is_held_ = is_held;
  let_go_.notify_all();
}

void DiskJournal::repair() {
  const std::lock_guard lock(mutex_);
  fail_at_.reset();
}

bool DiskJournal::is_down() const {
  const std::lock_guard lock(mutex_);
  return is_down_;
}

void DiskJournal::lose_unsynced_bytes(std::mt19937_64& random, Tail tail) {
  static constexpr std::uint64_t sector = 512;
  for (const auto& [path, inode] : inodes_) {
    if (!std::filesystem::exists(path)) continue;
    // Space may have been reserved behind the last byte.
    std::filesystem::resize_file(path, inode->written);
    const std::uint64_t unsynced = inode->written - inode->synced;
    const std::uint64_t kept = tail == Tail::lost || unsynced == 0 ? 0 : random() % (unsynced + 1);
    std::filesystem::resize_file(path, inode->synced + kept);
    if (tail != Tail::garbage || kept == 0 || is_manifest(path)) continue;
    std::string garbage(std::min(kept, sector), '\0');
    std::ranges::generate(garbage, [&] { return static_cast<char>(random()); });
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(inode->synced + kept - garbage.size()));
    file << garbage;
  }
}

void DiskJournal::crash(std::uint64_t seed, Tail tail) {
  const std::lock_guard lock(mutex_);
  std::mt19937_64 random(seed);
  lose_unsynced_bytes(random, tail);
  const std::uint64_t kept = tail == Tail::lost ? 0 : random() % (changes_.size() + 1);
  for (const auto& change : changes_ | std::views::drop(kept) | std::views::reverse) undo(change);
  changes_.clear();
  inodes_.clear();
  operations_ = 0;
  crash_at_.reset();
  fail_at_.reset();
  is_down_ = false;
}

}  // namespace weir::storage::rocksdb::test
