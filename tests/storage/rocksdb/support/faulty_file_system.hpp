#pragma once

#include <memory>
#include <string>

#include <rocksdb/file_system.h>
#include <weir/tests/storage/rocksdb/support/disk_journal.hpp>

namespace weir::storage::rocksdb::test {

/// The system's file system with a journal of what is not on the disk yet.
class FaultyFileSystem final : public ::rocksdb::FileSystemWrapper {
 public:
  using Context = ::rocksdb::IODebugContext;
  using IOOptions = ::rocksdb::IOOptions;
  using IOStatus = ::rocksdb::IOStatus;

  FaultyFileSystem() : FileSystemWrapper(::rocksdb::FileSystem::Default()) {}

  const char* Name() const override { return "weir.faulty"; }
  DiskJournal& journal() noexcept { return journal_; }

  IOStatus NewWritableFile(const std::string& path, const ::rocksdb::FileOptions& options,
                           std::unique_ptr<::rocksdb::FSWritableFile>* file,
                           Context* context) override;
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<::rocksdb::FSDirectory>* directory,
                        Context* context) override;
  IOStatus DeleteFile(const std::string& path, const IOOptions& options, Context* context) override;
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      Context* context) override;
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    Context* context) override;

 private:
  DiskJournal journal_;
};

}  // namespace weir::storage::rocksdb::test
