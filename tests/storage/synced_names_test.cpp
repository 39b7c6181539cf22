// A file is on disk only if the directories that lead to it are.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include <weir/storage/store.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace {

namespace fs = std::filesystem;

std::mutex mutex;
/// By directory: what was in it when it was synced last.
std::map<fs::path, std::set<std::string>> synced_names;

void note_sync(int file) {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/fd/" + std::to_string(file), error);
  if (error || !fs::is_directory(path, error)) return;
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    names.insert(entry.path().filename().string());
  }
  const std::scoped_lock lock(mutex);
  synced_names[path] = std::move(names);
}

bool is_synced(const fs::path& path) {
  const std::scoped_lock lock(mutex);
  return synced_names[path.parent_path()].contains(path.filename().string());
}

}  // namespace

// In place of the one of the system, for this whole program.
extern "C" int fsync(int file) {
  note_sync(file);
  return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace weir::storage {
namespace {

class SyncedNames : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::scoped_lock lock(mutex);
    synced_names.clear();
  }
  Store open() { return Store::open(system_, {.directory = directory_ / "store"}).value(); }

  ActorSystem system_{{.threads = 1}};
  test::TemporaryDirectory directory_;
};

TEST_F(SyncedNames, OfANewStoreAreThoseThatLeadToItsData) {
  const Store store = open();
  for (const char* name : {"store", "store/FORMAT", "store/data", "store/data/CURRENT"}) {
    EXPECT_TRUE(is_synced(directory_ / name)) << name;
  }
}

TEST_F(SyncedNames, OfABackupAreThoseThatLeadToItsFiles) {
  Store store = open();
  ASSERT_TRUE(system_.run(store.back_up(directory_ / "backup")));
  for (const char* name : {"backup", "backup/BACKUP", "backup/data", "backup/data/CURRENT"}) {
    EXPECT_TRUE(is_synced(directory_ / name)) << name;
  }
}

TEST_F(SyncedNames, OfASavepointAreThoseThatLeadToItsFiles) {
  Store store = open();
  ASSERT_TRUE(system_.run(store.make_savepoint("one")));
  for (const char* name : {"savepoints", "savepoints/one", "savepoints/one/BACKUP"}) {
    EXPECT_TRUE(is_synced(directory_ / "store" / name)) << name;
  }
}

TEST_F(SyncedNames, OfARestoredStoreAreThoseThatLeadToItsData) {
  {
    Store store = open();
    ASSERT_TRUE(system_.run(store.back_up(directory_ / "backup")));
  }
  ASSERT_TRUE(restore_backup(directory_ / "backup", directory_ / "restored"));
  EXPECT_TRUE(is_synced(directory_ / "restored"));
  EXPECT_TRUE(fs::exists(directory_ / "restored/data/CURRENT"));
}

}  // namespace
}  // namespace weir::storage
