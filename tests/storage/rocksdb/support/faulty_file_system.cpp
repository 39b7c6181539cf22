#include <weir/tests/storage/rocksdb/support/faulty_file_system.hpp>

#include <filesystem>
#include <thread>
#include <utility>

#include <rocksdb/env.h>
#include <rocksdb/system_clock.h>
#include <weir/storage/rocksdb/internal/open.hpp>

// RocksDB 7.8 forgets the new memtable if the log cannot be changed at the same time: one per
// failure that is injected there. Only programs that use this file system ignore that.
extern "C" const char* __lsan_default_suppressions();   // NOLINT: the sanitizer's name
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: the sanitizer's name
  return "leak:rocksdb::DBImpl::SwitchMemtable\n";
}

namespace weir::storage::rocksdb::test {
namespace {

using ::rocksdb::FSDirectory;
using ::rocksdb::FSWritableFile;
using ::rocksdb::IODebugContext;
using ::rocksdb::IOOptions;
using ::rocksdb::IOStatus;
using ::rocksdb::Slice;

/// RocksDB's messages to people and its lock: nothing is lost with them.
bool is_ignored(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.starts_with("LOG") || name == "LOCK";
}

class FaultyFile final : public ::rocksdb::FSWritableFileOwnerWrapper {
 public:
  FaultyFile(std::unique_ptr<FSWritableFile> file, std::string path, DiskJournal& journal)
      : FSWritableFileOwnerWrapper(std::move(file)),
        path_(std::move(path)),
        journal_(journal),
        inode_(journal.created(path_)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* context) override {
    IOStatus admitted = journal_.admit(path_);
    // What fails in the middle has written a part.
    const Slice part(data.data(), admitted.ok() ? data.size() : data.size() / 2);
    IOStatus status = FSWritableFileOwnerWrapper::Append(part, options, context);
    if (status.ok()) journal_.appended(*inode_, part.size());
    return admitted.ok() ? std::move(status) : std::move(admitted);
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const ::rocksdb::DataVerificationInfo& /*verification*/,
                  IODebugContext* context) override {
    return Append(data, options, context);
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& options,
                    IODebugContext* context) override {
    IOStatus status = FSWritableFileOwnerWrapper::Truncate(size, options, context);
    if (status.ok()) journal_.truncated(*inode_, size);
    return status;
  }
  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*context*/) override {
    if (IOStatus admitted = journal_.admit(path_); !admitted.ok()) return admitted;
    journal_.synced(*inode_);
    return IOStatus::OK();
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* context) override {
    return Sync(options, context);
  }
  // Space is not reserved: it would be most of what a test spends.
  void SetPreallocationBlockSize(std::size_t /*size*/) override {}
  void PrepareWrite(std::size_t /*offset*/, std::size_t /*size*/, const IOOptions& /*options*/,
                    IODebugContext* /*context*/) override {}
  IOStatus Allocate(std::uint64_t /*offset*/, std::uint64_t /*size*/, const IOOptions& /*options*/,
                    IODebugContext* /*context*/) override {
    return IOStatus::OK();
  }
  IOStatus RangeSync(std::uint64_t /*offset*/, std::uint64_t /*bytes*/,
                     const IOOptions& /*options*/, IODebugContext* /*context*/) override {
    return IOStatus::OK();
  }

 private:
  const std::string path_;
  DiskJournal& journal_;
  const std::shared_ptr<Inode> inode_;
};

/// After a failure RocksDB waits a second, in case the disk recovers; it will not.
class HurriedClock final : public ::rocksdb::SystemClockWrapper {
 public:
  using SystemClockWrapper::SystemClockWrapper;
  const char* Name() const override { return "weir.hurried"; }
  void SleepForMicroseconds(int /*duration*/) override { std::this_thread::yield(); }
};

class HurriedEnvironment final : public ::rocksdb::EnvWrapper {
 public:
  explicit HurriedEnvironment(const std::shared_ptr<::rocksdb::Env>& environment)
      : EnvWrapper(environment) {
    system_clock_ = std::make_shared<HurriedClock>(environment->GetSystemClock());
  }
  const char* Name() const override { return "weir.hurried"; }
};

class FaultyDirectory final : public ::rocksdb::FSDirectoryWrapper {
 public:
  FaultyDirectory(std::unique_ptr<FSDirectory> directory, std::string path, DiskJournal& journal)
      : FSDirectoryWrapper(std::move(directory)), path_(std::move(path)), journal_(journal) {}

  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*context*/) override {
    if (IOStatus admitted = journal_.admit(path_); !admitted.ok()) return admitted;
    journal_.directory_synced(path_);
    return IOStatus::OK();
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* context,
                               const ::rocksdb::DirFsyncOptions& /*directory*/) override {
    return Fsync(options, context);
  }

 private:
  const std::string path_;
  DiskJournal& journal_;
};

}  // namespace

IOStatus FaultyFileSystem::NewWritableFile(const std::string& path,
                                           const ::rocksdb::FileOptions& options,
                                           std::unique_ptr<FSWritableFile>* file,
                                           Context* context) {
  if (is_ignored(path)) return FileSystemWrapper::NewWritableFile(path, options, file, context);
  if (IOStatus admitted = journal_.admit(path); !admitted.ok()) return admitted;
  IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, context);
  if (status.ok()) *file = std::make_unique<FaultyFile>(std::move(*file), path, journal_);
  return status;
}

IOStatus FaultyFileSystem::NewDirectory(const std::string& path, const IOOptions& options,
                                        std::unique_ptr<FSDirectory>* directory, Context* context) {
  IOStatus status = FileSystemWrapper::NewDirectory(path, options, directory, context);
  if (status.ok()) {
    *directory = std::make_unique<FaultyDirectory>(std::move(*directory), path, journal_);
  }
  return status;
}

IOStatus FaultyFileSystem::DeleteFile(const std::string& path, const IOOptions& options,
                                      Context* context) {
  if (is_ignored(path)) return FileSystemWrapper::DeleteFile(path, options, context);
  if (IOStatus admitted = journal_.admit(path); !admitted.ok()) return admitted;
  journal_.removing(path);
  return FileSystemWrapper::DeleteFile(path, options, context);
}

IOStatus FaultyFileSystem::RenameFile(const std::string& from, const std::string& to,
                                      const IOOptions& options, Context* context) {
  if (is_ignored(from)) return FileSystemWrapper::RenameFile(from, to, options, context);
  if (IOStatus admitted = journal_.admit(from); !admitted.ok()) return admitted;
  journal_.renaming(from, to);
  return FileSystemWrapper::RenameFile(from, to, options, context);
}

IOStatus FaultyFileSystem::LinkFile(const std::string& from, const std::string& to,
                                    const IOOptions& options, Context* context) {
  if (IOStatus admitted = journal_.admit(to); !admitted.ok()) return admitted;
  return FileSystemWrapper::LinkFile(from, to, options, context);
}

FaultyDisk::FaultyDisk() : files_(std::make_shared<FaultyFileSystem>()) {}

Result<std::unique_ptr<engine::Engine>> FaultyDisk::open(EngineOptions options) const {
  const std::shared_ptr<::rocksdb::Env> environment = ::rocksdb::NewCompositeEnv(files_);
  return internal::open_engine_on(std::move(options),
                                  std::make_shared<HurriedEnvironment>(environment));
}

std::uint64_t FaultyDisk::operations() const { return files_->journal().operations(); }
std::uint64_t FaultyDisk::operations_of_this_thread() const {
  return files_->journal().operations_of_this_thread();
}
void FaultyDisk::fail_at(std::uint64_t nth, Fault fault) { files_->journal().fail_at(nth, fault); }
void FaultyDisk::repair() { files_->journal().repair(); }
void FaultyDisk::hold_sorted_files() { files_->journal().hold(true); }
void FaultyDisk::let_go() { files_->journal().hold(false); }
void FaultyDisk::crash_at(std::uint64_t nth) { files_->journal().crash_at(nth); }
bool FaultyDisk::is_down() const { return files_->journal().is_down(); }
void FaultyDisk::crash(std::uint64_t seed, Tail tail) { files_->journal().crash(seed, tail); }

}  // namespace weir::storage::rocksdb::test
