#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace weir::storage::test {

/// A directory of its own for one test, removed with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() : TemporaryDirectory(::testing::TempDir()) {}
  /// On a file system in memory if there is one: for tests that sync often, and do not mean it.
  static TemporaryDirectory in_memory() {
    const bool is_there = ::access("/dev/shm", W_OK | X_OK) == 0;
    return TemporaryDirectory(is_there ? "/dev/shm/" : ::testing::TempDir());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  explicit TemporaryDirectory(const std::string& parent) {
    std::string name = parent + "weir_storage_XXXXXX";
    if (!::mkdtemp(name.data())) ADD_FAILURE() << "cannot make " << name;
    path_ = name;
  }

  std::filesystem::path path_;
};

}  // namespace weir::storage::test
