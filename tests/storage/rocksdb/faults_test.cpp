#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include <weir/tests/storage/rocksdb/support/faulty_disk.hpp>
#include <weir/tests/storage/support/model.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::storage::rocksdb {
namespace {

using engine::Engine;
using engine::Errc;
using engine::Family;
using engine::Wait;
using storage::test::Content;
using storage::test::difference;
using storage::test::RandomWrites;
using test::FaultyDisk;
using Fault = FaultyDisk::Fault;

class Faults : public testing::Test {
 protected:
  EngineOptions options() const {
    return {.directory = directory_ / "engine", .memory_budget = memory_budget_min};
  }
  std::unique_ptr<Engine> open() const {
    auto engine = disk_.open(options());
    EXPECT_TRUE(engine) << engine.error().message();
    return std::move(engine).value();
  }
  static Result<> put(Engine& engine, const std::string& key) {
    const auto batch = engine.make_batch();
    batch->put(Family::rows, key, std::string(100, 'x'));
    return engine.write(*batch, Wait::allowed);
  }
  static bool has(const Engine& engine, const std::string& key) {
    std::string value;
    const auto found = engine.get(Family::rows, key, value, Wait::allowed);
    EXPECT_TRUE(found) << found.error().message();
    return found && *found;
  }

  storage::test::TemporaryDirectory directory_;
  FaultyDisk disk_;
};

TEST_F(Faults, FailedSyncLatchesTheEngineUntilItIsReopened) {
  {
    const auto engine = open();
    ASSERT_TRUE(put(*engine, "a"));
    ASSERT_TRUE(engine->sync());
    ASSERT_TRUE(put(*engine, "b"));
    disk_.fail_at(1, Fault::io_error);
    EXPECT_EQ(engine->sync().error(), Errc::io_error);
    disk_.repair();
    const auto refused = put(*engine, "c");
    EXPECT_EQ(refused.error(), Errc::failed);
    EXPECT_NE(refused.error().detail().find("Injected"), std::string::npos)
        << "the first error is told: " << refused.error().message();
    EXPECT_EQ(engine->sync().error(), Errc::failed);
    EXPECT_EQ(engine->collect().error(), Errc::failed);
    EXPECT_TRUE(has(*engine, "a")) << "reading goes on";
    EXPECT_EQ(engine->close().error(), Errc::failed);
  }
  const auto engine = open();
  EXPECT_TRUE(has(*engine, "a"));
  EXPECT_FALSE(has(*engine, "c"));
  EXPECT_TRUE(put(*engine, "d"));
  EXPECT_TRUE(engine->sync());
}

/// Fails at the n-th operation of a run, for every n, and opens again when the disk is well.
void fail_everywhere(Fault fault, Errc code) {
  for (std::uint64_t operation = 1;; ++operation) {
    SCOPED_TRACE("fault at operation " + std::to_string(operation));
    const storage::test::TemporaryDirectory directory;
    const EngineOptions options{.directory = directory / "engine",
                                .memory_budget = memory_budget_min};
    FaultyDisk disk;
    Content begun;
    Content safe;
    Error first;
    {
      auto engine = disk.open(options);
      ASSERT_TRUE(engine) << engine.error().message();
      disk.fail_at(operation, fault);
      const auto note = [&](const Result<>& result) {
        if (!result && !first.code()) first = result.error();
        return result.has_value();
      };
      for (int i = 0; i < 4 && !first.code(); ++i) {
        const auto batch = (*engine)->make_batch();
        for (const Family family : storage::test::all_families) {
          const std::string key = "key of eight and " + std::to_string(i);
          batch->put(family, key, "value");
          begun[static_cast<std::size_t>(family)][key] = "value";
        }
        if (note((*engine)->write(*batch, Wait::allowed)) && note((*engine)->sync())) safe = begun;
        if (i == 1) note((*engine)->collect());
      }
    }
    if (!first.code()) {
      EXPECT_GT(operation, 10U) << "so few operations cannot be all of them";
      return;
    }
    EXPECT_TRUE(first == code || first == Errc::failed) << first.message();
    disk.repair();
    auto engine = disk.open(options);
    ASSERT_TRUE(engine) << engine.error().message();
    const auto content = storage::test::read_all(**engine);
    ASSERT_TRUE(content) << content.error().message();
    if (*content != begun) ASSERT_EQ(difference(*content, safe), "");
    ASSERT_TRUE((*engine)->close());
  }
}

TEST(FaultsEverywhere, FullDiskLosesNothingSyncedAndCanBeUsedWhenThereIsRoom) {
  fail_everywhere(Fault::no_space, Errc::no_space);
}

TEST(FaultsEverywhere, BrokenDiskLosesNothingSyncedAndCanBeUsedWhenItIsRepaired) {
  fail_everywhere(Fault::io_error, Errc::io_error);
}

TEST_F(Faults, FullDiskIsRefusedWhenOpening) {
  disk_.fail_at(1, Fault::no_space);
  EXPECT_EQ(disk_.open(options()).error(), Errc::no_space);
  disk_.repair();
  EXPECT_TRUE(put(*open(), "a"));
}

TEST_F(Faults, ReadOnlyDirectoryIsRefusedAndNamed) {
  ASSERT_TRUE(open()->close());
  disk_.fail_at(1, Fault::read_only);
  const auto refused = disk_.open(options());
  ASSERT_EQ(refused.error(), Errc::read_only) << refused.error().message();
  EXPECT_NE(refused.error().detail().find(options().directory.string()), std::string::npos);
}

TEST_F(Faults, SecondEngineInOneProcessIsRefused) {
  const auto first = open();
  const auto second = disk_.open(options());
  ASSERT_EQ(second.error(), Errc::locked) << second.error().message();
  EXPECT_NE(second.error().detail().find(std::to_string(::getpid())), std::string::npos);
  EXPECT_TRUE(put(*first, "a")) << "the first goes on";
  EXPECT_EQ(disk_.open(options()).error(), Errc::locked) << "and still has its lock";
}

/// Another process that holds the lock, without an engine, for as long as this lives.
class LockHolder {
 public:
  explicit LockHolder(const std::string& file) {
    EXPECT_EQ(::pipe(ready_.data()), 0);
    EXPECT_EQ(::pipe(end_.data()), 0);
    process_ = ::fork();
    if (process_ == 0) hold(file.c_str());
    char byte = 0;
    EXPECT_EQ(::read(ready_[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
  }
  ~LockHolder() {
    ::close(end_[1]);
    ::waitpid(process_, nullptr, 0);
    for (const int descriptor : {ready_[0], ready_[1], end_[0]}) ::close(descriptor);
  }
  LockHolder(const LockHolder&) = delete;
  LockHolder& operator=(const LockHolder&) = delete;
  pid_t process() const noexcept { return process_; }

 private:
  [[noreturn]] void hold(const char* file) {
    ::close(end_[1]);
    const int descriptor = ::open(file, O_RDWR | O_CREAT, 0644);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    char byte = ::fcntl(descriptor, F_SETLK, &lock) == 0 ? 'y' : 'n';
    (void)!::write(ready_[1], &byte, 1);
    (void)!::read(end_[0], &byte, 1);  // until the other end is closed
    ::_exit(0);
  }

  std::array<int, 2> ready_ = {};
  std::array<int, 2> end_ = {};
  pid_t process_ = 0;
};

TEST_F(Faults, DirectoryOfAnotherProcessIsRefusedAndTheProcessNamed) {
  std::filesystem::create_directories(options().directory);
  {
    const LockHolder other((options().directory / "LOCK").string());
    const auto refused = disk_.open(options());
    ASSERT_EQ(refused.error(), Errc::locked) << refused.error().message();
    EXPECT_NE(refused.error().detail().find("process " + std::to_string(other.process())),
              std::string::npos)
        << refused.error().message();
  }
  EXPECT_TRUE(disk_.open(options()));
}

TEST_F(Faults, DirectoryWithOtherFilesIsNotMadeAnEngine) {
  std::filesystem::create_directories(options().directory);
  std::ofstream(options().directory / "letters.txt") << "dear";
  const auto refused = disk_.open(options());
  ASSERT_EQ(refused.error(), Errc::not_a_store) << refused.error().message();
  EXPECT_NE(refused.error().detail().find("letters.txt"), std::string::npos);
}

TEST_F(Faults, FileInPlaceOfTheDirectoryIsRefused) {
  std::ofstream(options().directory) << "a file";
  EXPECT_EQ(disk_.open(options()).error(), Errc::io_error);
}

}  // namespace
}  // namespace weir::storage::rocksdb
