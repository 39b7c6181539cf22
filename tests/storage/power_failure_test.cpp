// The power fails at each write and sync of a script in turn, underneath a whole store.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include <weir/tests/storage/rocksdb/support/faulty_disk.hpp>
#include <weir/tests/storage/rocksdb/support/stride.hpp>
#include <weir/tests/storage/support/crash_script.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::storage {
namespace {

namespace fs = std::filesystem;
using rocksdb::test::FaultyDisk;
using Tail = FaultyDisk::Tail;

/// Gives the tail that files have after the n-th crash.
using ChooseTail = Tail (*)(std::uint64_t);

void crash_everywhere(ChooseTail tail_of) {
  const auto directory = test::TemporaryDirectory::in_memory();
  ASSERT_NO_FATAL_FAILURE(test::make_fresh_store(directory / "fresh"));
  const fs::path path = directory / "store";
  for (std::uint64_t operation = 1;; operation += rocksdb::test::stride) {
    SCOPED_TRACE("crash at operation " + std::to_string(operation));
    fs::remove_all(path);
    fs::copy(directory / "fresh", path, fs::copy_options::recursive);
    FaultyDisk disk;
    disk.crash_at(operation);
    const auto progress = test::run_script(disk, path);
    const bool is_over = !disk.is_down();
    if (is_over) {
      ASSERT_FALSE(progress.failure) << progress.failure->message();
      EXPECT_EQ(progress.begun, test::script_commits);
      EXPECT_GT(operation, 150U) << "so few operations cannot be all of them";
    }
    disk.crash(operation, tail_of(operation));
    ASSERT_NO_FATAL_FAILURE(test::expect_prefix(disk, path, progress));
    if (is_over) return;
  }
}

TEST(PowerFailure, AtEveryOperationLeavesAPrefixOfCommitsWhenWhatIsNotSyncedIsLost) {
  crash_everywhere([](std::uint64_t) { return Tail::lost; });
}

TEST(PowerFailure, AtEveryOperationLeavesAPrefixOfCommitsWhenFilesAreTorn) {
  crash_everywhere([](std::uint64_t nth) { return nth % 2 == 0 ? Tail::torn : Tail::garbage; });
}

}  // namespace
}  // namespace weir::storage
