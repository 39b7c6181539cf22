// A disk that is full, and then is not.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include <weir/storage/errc.hpp>
#include <weir/tests/storage/rocksdb/support/faulty_disk.hpp>
#include <weir/tests/storage/rocksdb/support/stride.hpp>
#include <weir/tests/storage/support/crash_script.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::storage {
namespace {

namespace fs = std::filesystem;
using rocksdb::test::FaultyDisk;
using Fault = FaultyDisk::Fault;
using test::Rows;
using test::StoreLife;

class DiskFull : public ::testing::Test {
 protected:
  void SetUp() override { test::make_fresh_store(path()); }
  fs::path path() const { return directory_ / "store"; }

  static Result<Version> commit(StoreLife& life, std::uint64_t key, std::string value) {
    return life.run(test::commit_rows(life.store(), life.spaces().rows, {{key, std::move(value)}}));
  }
  static Rows rows(StoreLife& life) {
    return test::rows_at(life.store(), life.spaces().rows, life.store().version());
  }
  static bool says(const Error& error, const std::string& text) {
    return error.message().find(text) != std::string::npos;
  }

  test::TemporaryDirectory directory_ = test::TemporaryDirectory::in_memory();
  FaultyDisk disk_;
};

TEST_F(DiskFull, ACommitIsToldSoAndWhatToDo) {
  StoreLife life(disk_, path());
  ASSERT_TRUE(commit(life, 1, "one"));
  disk_.fail_at(1, Fault::no_space);
  const auto refused = commit(life, 2, "two");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::no_space) << refused.error().message();
  EXPECT_TRUE(says(refused.error(), "make room: nothing is committed until the store is reopened"))
      << refused.error().message();
  EXPECT_TRUE(says(refused.error(), path().string())) << refused.error().message();
  EXPECT_EQ(rows(life), (Rows{{1, "one"}})) << "reading goes on";
}

TEST_F(DiskFull, NothingIsAcknowledgedUntilReopenedEvenIfThereIsRoomAgain) {
  StoreLife life(disk_, path());
  disk_.fail_at(1, Fault::no_space);
  ASSERT_FALSE(commit(life, 1, "one"));
  disk_.repair();
  for (int i = 0; i < 3; ++i) {
    const auto refused = commit(life, 2, "two");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), Errc::failed);
    EXPECT_TRUE(says(refused.error(), "disk full")) << "the cause: " << refused.error().message();
    EXPECT_TRUE(says(refused.error(), "make room")) << refused.error().message();
  }
}

TEST_F(DiskFull, CannotBeOpenedUntilThereIsRoomAndThenHasEverything) {
  {
    StoreLife life(disk_, path());
    ASSERT_TRUE(commit(life, 1, "one"));
    disk_.fail_at(1, Fault::no_space);
    ASSERT_FALSE(commit(life, 2, "two"));
  }
  {
    const StoreLife life(disk_, path());
    ASSERT_TRUE(life.error());
    EXPECT_EQ(*life.error(), Errc::no_space) << life.error()->message();
  }
  disk_.repair();
  StoreLife life(disk_, path());
  ASSERT_FALSE(life.error()) << life.error()->message();
  const Rows found = rows(life);
  EXPECT_TRUE(found == (Rows{{1, "one"}}) || found == (Rows{{1, "one"}, {2, "two"}}));
  EXPECT_TRUE(commit(life, 3, "three"));
}

/// At every few operations of the script: each kind of file is hit many times.
TEST(DiskFullAnywhere, LosesNothingAcknowledgedAndGoesOnWhenThereIsRoom) {
  const auto directory = test::TemporaryDirectory::in_memory();
  ASSERT_NO_FATAL_FAILURE(test::make_fresh_store(directory / "fresh"));
  const fs::path path = directory / "store";
  for (std::uint64_t operation = 1;; operation += 5 * rocksdb::test::stride) {
    SCOPED_TRACE("full from operation " + std::to_string(operation) + " on");
    fs::remove_all(path);
    fs::copy(directory / "fresh", path, fs::copy_options::recursive);
    FaultyDisk disk;
    disk.fail_at(operation, Fault::no_space);
    const auto progress = test::run_script(disk, path);
    if (!progress.failure && progress.begun == test::script_commits) {
      EXPECT_GT(operation, 100U) << "so few operations cannot be all of them";
      return;
    }
    EXPECT_TRUE(*progress.failure == Errc::no_space || *progress.failure == Errc::failed)
        << progress.failure->message();
    EXPECT_NE(progress.failure->message().find("disk full"), std::string::npos)
        << progress.failure->message();
    disk.repair();
    ASSERT_NO_FATAL_FAILURE(test::expect_prefix(disk, path, progress));
  }
}

}  // namespace
}  // namespace weir::storage
