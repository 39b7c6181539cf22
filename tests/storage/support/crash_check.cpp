// What must be true of a store after a crash.
#include <algorithm>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include <weir/storage/errc.hpp>
#include <weir/storage/verify.hpp>
#include <weir/tests/storage/support/crash_model.hpp>
#include <weir/tests/storage/support/crash_script.hpp>

namespace weir::storage::test {
namespace {

namespace fs = std::filesystem;
using rocksdb::test::FaultyDisk;

class PrefixCheck {
 public:
  PrefixCheck(FaultyDisk& disk, fs::path directory, const ScriptProgress& progress)
      : disk_(disk), directory_(std::move(directory)), progress_(progress) {}

  void run() {
    ASSERT_NO_FATAL_FAILURE(check_all());
    {
      StoreLife life(disk_, directory_);
      ASSERT_FALSE(life.error()) << life.error()->message();
      ASSERT_NO_FATAL_FAILURE(check_order(life.store()));
      moments_ = replay_commits(order_);
      ASSERT_NO_FATAL_FAILURE(check_log(life.store(), life.spaces().rows));
      ASSERT_NO_FATAL_FAILURE(check_rows(life.store(), life.spaces().rows));
      ASSERT_NO_FATAL_FAILURE(check_newest(life.store(), life.spaces().states));
      ASSERT_NO_FATAL_FAILURE(check_savepoints(life));
      ASSERT_NO_FATAL_FAILURE(go_on(life));
    }
    check_all();
  }

 private:
  void check_all() const {
    const auto verified = verify(directory_);
    ASSERT_TRUE(verified) << verified.error().message();
  }

  /// Whose commit each version is: those that were acknowledged are known, of the others the log
  /// tells.
  void check_order(Store& store) {
    order_ = progress_.acknowledged;
    const std::uint64_t newest = store.version().number;
    ASSERT_GE(newest + 1, order_.size()) << "what was acknowledged is gone";
    std::set<int> open;
    for (int commit = 0; commit < progress_.begun; ++commit) open.insert(commit);
    for (const int commit : order_) open.erase(commit);
    const auto after = Version{order_.size() - 1};
    const auto records = store.log().read_blocking(after);
    ASSERT_TRUE(records) << records.error().message();
    for (const ChangeRecord& record : *records) {
      ASSERT_EQ(record.version().number, order_.size());
      const int commit = std::stoi(record.origin());
      ASSERT_EQ(open.erase(commit), 1U) << commit << " was not begun, or is there twice";
      order_.push_back(commit);
    }
    ASSERT_EQ(newest + 1, order_.size());
  }

  void check_log(Store& store, const RowsOf& rows) {
    Version seen{store.log().oldest().number - 1};
    ASSERT_LE(seen, progress_.collected) << "collected too much";
    Rows state = moments_[seen.number].rows;
    const auto records = store.log().read_blocking(seen);
    ASSERT_TRUE(records) << records.error().message();
    for (const ChangeRecord& record : *records) {
      ASSERT_EQ(record.version(), seen.next());
      seen = record.version();
      const int commit = order_[seen.number];
      ASSERT_EQ(record.origin(), commit < 0 ? "" : std::to_string(commit));
      ASSERT_NO_FATAL_FAILURE(apply(state, record, rows));
      ASSERT_EQ(state, moments_[seen.number].rows) << "version " << seen.number;
    }
    ASSERT_EQ(seen, store.version());
  }

  void check_rows(Store& store, const RowsOf& rows) const {
    for (std::uint64_t version = 0; version < moments_.size(); ++version) {
      if (auto reader = store.read_at(Version{version}); !reader) {
        ASSERT_EQ(reader.error(), Errc::version_collected);
        ASSERT_LT(Version{version}, progress_.collected) << "collected too much";
        continue;
      }
      ASSERT_EQ(rows_at(store, rows, Version{version}), moments_[version].rows)
          << "version " << version;
    }
  }

  void check_newest(Store& store, const StatesOf& states) const {
    auto transaction = store.begin();
    std::map<std::uint64_t, std::string> found;
    auto scan = transaction.scan(states);
    for (auto state = scan.next_blocking(); state && *state; state = scan.next_blocking()) {
      found[(*state)->key] = (*state)->value;
    }
    ASSERT_EQ(found, moments_.back().states);
    const auto checkpoint = transaction.checkpoint(script_consumer).blocking();
    ASSERT_TRUE(checkpoint) << checkpoint.error().message();
    ASSERT_EQ(*checkpoint, moments_.back().checkpoint);
  }

  /// Those that were acknowledged are there; all that are there are whole.
  void check_savepoints(StoreLife& life) const {
    const auto found = life.run(life.store().savepoints());
    ASSERT_TRUE(found) << found.error().message();
    std::set<std::string> names;
    for (const BackupInfo& savepoint : *found) {
      const auto checked = check_backup(savepoint.directory);
      ASSERT_TRUE(checked) << checked.error().message();
      names.insert(savepoint.directory.filename().string());
    }
    for (const std::string& name : progress_.savepoints) ASSERT_EQ(names.count(name), 1U) << name;
    // Every byte has been compared; that they make a store need not be tried every time.
    if (progress_.failure && found->size() == progress_.savepoints.size()) return;
    for (const BackupInfo& savepoint : *found) restore(savepoint);
  }

  void restore(const BackupInfo& savepoint) const {
    const fs::path target = directory_.parent_path() / "restored";
    const auto restored = restore_backup(savepoint.directory, target);
    ASSERT_TRUE(restored) << restored.error().message();
    const auto verified = verify(target);
    ASSERT_TRUE(verified) << verified.error().message();
    EXPECT_EQ(verified->newest, savepoint.version);
    EXPECT_EQ(verified->rows, moments_[savepoint.version.number].rows.size() + fresh_versions);
    fs::remove_all(target);
  }

  static void go_on(StoreLife& life) {
    const Version before = life.store().version();
    const auto next = life.run(commit_rows(life.store(), life.spaces().rows, {{1, "after"}}));
    ASSERT_TRUE(next) << next.error().message();
    ASSERT_EQ(*next, before.next());
    ASSERT_TRUE(life.run(life.store().collect()));
    ASSERT_TRUE(life.run(life.store().close()));
  }

  FaultyDisk& disk_;
  const fs::path directory_;
  const ScriptProgress& progress_;
  std::vector<int> order_;
  std::vector<Moment> moments_;
};

}  // namespace

void expect_prefix(FaultyDisk& disk, const fs::path& directory, const ScriptProgress& progress) {
  PrefixCheck(disk, directory, progress).run();
}

}  // namespace weir::storage::test
