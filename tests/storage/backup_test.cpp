#include <weir/storage/backup.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <weir/runtime/task_scope.hpp>
#include <weir/storage/copy_backup.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/store.hpp>
#include <weir/storage/verify.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>
#include <weir/tests/storage/support/workload.hpp>

namespace weir::storage {
namespace {

namespace fs = std::filesystem;
using test::Rows;

class BackupTest : public ::testing::Test {
 protected:
  void SetUp() override { open(directory_ / "store"); }
  void open(const fs::path& path) {
    store_.reset();
    store_.emplace(Store::open(system_, {.directory = path}).value());
    rows_.emplace(system_.run(store_->open_rows<std::uint64_t, std::string>("rows")).value());
  }
  void commit(std::uint64_t key, std::string value) {
    ASSERT_TRUE(system_.run(test::commit_rows(*store_, *rows_, {{key, std::move(value)}})));
  }
  Rows rows() { return test::rows_at(*store_, *rows_, store_->version()); }
  Result<BackupInfo> back_up(const std::string& name) {
    return system_.run(store_->back_up(directory_ / name));
  }
  /// A backup of one row, and the largest of its files.
  fs::path make_backup() {
    commit(1, "one");
    EXPECT_TRUE(back_up("backup"));
    fs::path largest;
    for (const auto& file : fs::directory_iterator(directory_ / "backup/data")) {
      if (largest.empty() || fs::file_size(largest) < file.file_size()) largest = file.path();
    }
    return largest;
  }
  void expect_refused(Errc code, const std::string& text) {
    for (const auto& outcome : {check_backup(directory_ / "backup"),
                                restore_backup(directory_ / "backup", directory_ / "restored")}) {
      ASSERT_FALSE(outcome);
      EXPECT_EQ(outcome.error(), code) << outcome.error().message();
      EXPECT_NE(outcome.error().message().find(text), std::string::npos)
          << outcome.error().message();
    }
    EXPECT_FALSE(fs::exists(directory_ / "restored"));
  }

  ActorSystem system_{{.threads = 1}};
  test::TemporaryDirectory directory_;
  std::optional<Store> store_;
  std::optional<test::RowsOf> rows_;
};

TEST_F(BackupTest, RestoredItIsTheStoreAsItWasAndGoesOn) {
  commit(1, "one");
  commit(2, "two");
  const Version version = store_->version();
  const auto info = back_up("backup");
  ASSERT_TRUE(info) << info.error().message();
  EXPECT_EQ(info->version, version);
  EXPECT_GT(info->files, 0U);
  const std::uint64_t identity = store_->identity();
  commit(3, "after the backup");
  ASSERT_TRUE(check_backup(directory_ / "backup"));
  ASSERT_TRUE(restore_backup(directory_ / "backup", directory_ / "restored" / ""));
  store_.reset();
  ASSERT_TRUE(verify(directory_ / "restored"));
  open(directory_ / "restored");
  EXPECT_EQ(store_->version(), version);
  EXPECT_NE(store_->identity(), identity);
  EXPECT_EQ(rows(), (Rows{{1, "one"}, {2, "two"}}));
  commit(4, "four");
  EXPECT_EQ(store_->version(), version.next());
}

TEST_F(BackupTest, ACopyOfItIsABackupAsWell) {
  make_backup();
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  const auto copied = copy_backup(directory_ / "backup", directory_ / "copy",
                                  [&](std::uint64_t so_far, std::uint64_t of) {
                                    EXPECT_GE(so_far, done);
                                    done = so_far;
                                    total = of;
                                  });
  ASSERT_TRUE(copied) << copied.error().message();
  EXPECT_EQ(copied->directory, directory_ / "copy");
  EXPECT_EQ(done, total);
  EXPECT_EQ(total, 2 * copied->bytes);
  fs::remove_all(directory_ / "backup");
  EXPECT_TRUE(check_backup(directory_ / "copy"));
  EXPECT_EQ(verify_backup(directory_ / "copy").value().rows, 2U);
  ASSERT_TRUE(restore_backup(directory_ / "copy", directory_ / "restored"));
  open(directory_ / "restored");
  EXPECT_EQ(rows(), (Rows{{1, "one"}}));
}

TEST_F(BackupTest, WhatIsThereIsNotCopiedOver) {
  make_backup();
  EXPECT_EQ(copy_backup(directory_ / "backup", directory_ / "store").error(), Errc::already_exists);
}

TEST_F(BackupTest, AChangedFileIsNamed) {
  const fs::path file = make_backup();
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  const int first = stream.get();
  stream.seekp(0);
  stream.put(static_cast<char>(first ^ 1));
  stream.close();
  expect_refused(Errc::corruption, file.string() + " is not what was backed up: its checksum");
}

TEST_F(BackupTest, ACutFileIsNamed) {
  const fs::path file = make_backup();
  fs::resize_file(file, fs::file_size(file) - 1);
  expect_refused(Errc::corruption, file.string() + " is not what was backed up: its length");
}

TEST_F(BackupTest, AMissingFileIsNamed) {
  const fs::path file = make_backup();
  fs::remove(file);
  expect_refused(Errc::corruption, file.string() + " is missing");
}

TEST_F(BackupTest, WithoutItsManifestItWasNotFinished) {
  make_backup();
  fs::remove(directory_ / "backup/BACKUP");
  expect_refused(Errc::not_found, "BACKUP");
}

TEST_F(BackupTest, ACutManifestIsRefused) {
  make_backup();
  const fs::path manifest = directory_ / "backup/BACKUP";
  fs::resize_file(manifest, fs::file_size(manifest) - 3);
  expect_refused(Errc::corruption, "BACKUP");
}

TEST_F(BackupTest, CannotBeOpenedAsAStore) {
  make_backup();
  const auto opened = Store::open(system_, {.directory = directory_ / "backup"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error(), Errc::not_a_store);
  EXPECT_NE(opened.error().message().find("is a backup"), std::string::npos);
}

TEST_F(BackupTest, OverwritesNothing) {
  make_backup();
  EXPECT_EQ(back_up("backup").error(), Errc::already_exists);
  EXPECT_TRUE(check_backup(directory_ / "backup"));
  const auto restored = restore_backup(directory_ / "backup", directory_ / "store");
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error(), Errc::already_exists);
}

TEST_F(BackupTest, SavepointsHaveNames) {
  commit(1, "one");
  ASSERT_TRUE(system_.run(store_->make_savepoint("before-2.0")));
  commit(1, "two");
  ASSERT_TRUE(system_.run(store_->make_savepoint("after")));
  EXPECT_EQ(system_.run(store_->make_savepoint("after")).error(), Errc::already_exists);
  const auto savepoints = system_.run(store_->savepoints()).value();
  ASSERT_EQ(savepoints.size(), 2U);
  EXPECT_EQ(savepoints[0].directory.filename(), "after");
  ASSERT_TRUE(restore_backup(savepoints[1].directory, directory_ / "restored"));
  ASSERT_TRUE(system_.run(store_->remove_savepoint("after")));
  EXPECT_EQ(system_.run(store_->remove_savepoint("after")).error(), Errc::not_found);
  EXPECT_EQ(system_.run(store_->savepoints()).value().size(), 1U);
  open(directory_ / "restored");
  EXPECT_EQ(rows(), (Rows{{1, "one"}}));
}

TEST_F(BackupTest, ABadNameForASavepointIsToldBack) {
  for (const std::string name : {"", "..", ".hidden", "a/b", "a b", "\xc3\xa4"}) {
    const auto made = system_.run(store_->make_savepoint(name));
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error(), Errc::invalid_argument);
    EXPECT_NE(made.error().message().find("\"" + name + "\""), std::string::npos);
    EXPECT_EQ(system_.run(store_->remove_savepoint(name)).error(), Errc::invalid_argument);
  }
}

/// Commits one after the other, each with a row, a state and a checkpoint of the same number, until
/// told to end.
Task<> commit_on(Store* store, test::Spaces spaces, const bool* is_over) {
  for (std::uint64_t number = 1; !*is_over; ++number) {
    const std::string text = std::to_string(number);
    auto transaction = store->begin();
    transaction.put(spaces.rows, number % 16, text);
    transaction.put(spaces.states, 0, text);
    transaction.set_checkpoint("numbers", transaction.version(), text);
    transaction.set_origin(text);
    const auto committed = co_await transaction.commit();
    EXPECT_TRUE(committed) << committed.error().message();
    if (!committed) co_return;
  }
}

Task<> back_up_meanwhile(Store* store, test::Spaces spaces, fs::path directory, int backups) {
  bool is_over = false;
  TaskScope scope;
  scope.spawn(commit_on(store, spaces, &is_over));
  for (int i = 0; i < backups; ++i) {
    const Version before = store->version();
    (void)co_await store->log().wait_past({before.number + 20});
    const auto made = i % 2 == 0 ? co_await store->back_up(directory / std::to_string(i))
                                 : co_await store->make_savepoint(std::to_string(i));
    EXPECT_TRUE(made) << made.error().message();
    if (made) EXPECT_GE(made->version, before);
  }
  is_over = true;
  co_await scope.join();
}

class BackupOfBusyStore : public ::testing::TestWithParam<Durability::Mode> {
 protected:
  StoreOptions options(const std::string& name) const {
    StoreOptions options{.directory = directory_ / name};
    options.durability.mode = GetParam();
    options.retention.history = options.retention.log = std::chrono::hours(1);
    return options;
  }

  /// The copy is the original as it was at one version, and each of its parts says which.
  void expect_one_version(Store& original, const test::Spaces& spaces, const fs::path& backup) {
    const auto info = restore_backup(backup, directory_ / "restored");
    ASSERT_TRUE(info) << info.error().message();
    const auto verified = verify(directory_ / "restored");
    ASSERT_TRUE(verified) << verified.error().message();
    {
      Store copy = Store::open(system_, options("restored")).value();
      const Version version = copy.version();
      EXPECT_GE(version, info->version);
      const auto found = system_.run(test::open_spaces(&copy)).value();
      EXPECT_EQ(test::rows_at(copy, found.rows, version),
                test::rows_at(original, spaces.rows, version));
      auto transaction = copy.begin();
      const auto state = transaction.get(found.states, 0).blocking().value();
      const auto checkpoint = transaction.checkpoint("numbers").blocking().value();
      const auto last = copy.log().read_blocking({version.number - 1}).value();
      EXPECT_EQ(state, last.front().origin());
      EXPECT_EQ(checkpoint->payload, last.front().origin());
    }
    fs::remove_all(directory_ / "restored");
  }

  ActorSystem system_{{.threads = 2}};
  test::TemporaryDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Modes, BackupOfBusyStore,
                         ::testing::Values(Durability::Mode::durable, Durability::Mode::memory),
                         [](const auto& mode) {
                           return mode.param == Durability::Mode::durable ? "Durable" : "Memory";
                         });

TEST_P(BackupOfBusyStore, IsTheStoreAtOneVersion) {
  static constexpr int backups = 6;
  Store store = Store::open(system_, options("store")).value();
  const auto spaces = system_.run(test::open_spaces(&store)).value();
  system_.run(back_up_meanwhile(&store, spaces, directory_.path(), backups));
  for (int i = 0; i < backups && !HasFatalFailure(); ++i) {
    const std::string name = std::to_string(i);
    expect_one_version(store, spaces,
                       directory_ / (i % 2 == 0 ? name : "store/savepoints/" + name));
  }
}

}  // namespace
}  // namespace weir::storage
