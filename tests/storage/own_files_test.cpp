// The power fails at each operation on the files that are the store's own: FORMAT, BACKUP, the
// directories around them, and the copies that make a store of a backup.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <weir/runtime/simulation.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/store.hpp>
#include <weir/storage/verify.hpp>
#include <weir/tests/runtime/support/scaled.hpp>
#include <weir/tests/storage/support/recorded_disk.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::storage {
namespace {

namespace fs = std::filesystem;
using test::commit_rows;
using test::RecordedDisk;
using test::Rows;
using test::rows_at;
using test::RowsOf;

/// A store from its opening to its end.
class Life {
 public:
  explicit Life(const fs::path& directory) {
    StoreOptions options{.directory = directory};
    options.memory_budget = std::size_t{4} << 20;
    auto opened = Store::open(simulation_.system(), std::move(options));
    if (!opened) {
      error = opened.error();
      return;
    }
    store_.emplace(*std::move(opened));
    auto rows = run(store_->open_rows<std::uint64_t, std::string>("rows"));
    if (rows) {
      rows_.emplace(*std::move(rows));
    } else {
      error = rows.error();
    }
  }

  Store& store() { return *store_; }
  template <class T>
  T run(Task<T> task) {
    return simulation_.run(std::move(task));
  }
  bool commit(std::uint64_t key) {
    return run(commit_rows(*store_, *rows_, {{key, "value"}})).has_value();
  }
  Rows rows() { return rows_at(*store_, *rows_, store_->version()); }

  std::optional<Error> error;

 private:
  Simulation simulation_{SimulationOptions{.preemption = 0, .blocking_time_max = {}}};
  std::optional<Store> store_;
  std::optional<RowsOf> rows_;
};

// Under sanitizers only a sample: other operations when the rest is torn than when it is lost.
constexpr std::uint64_t stride = WEIR_TEST_IS_SLOW ? 7 : 1;

/// Runs `script` from the same beginning until the power fails at its n-th operation, for every n,
/// and then `check`, which is told what the script gave.
template <class Prepare, class Script, class Check>
void crash_everywhere(RecordedDisk::Counted counted, Prepare prepare, Script script, Check check) {
  for (const auto rest : {RecordedDisk::Rest::none, RecordedDisk::Rest::some}) {
    bool is_over = false;
    const std::uint64_t first = rest == RecordedDisk::Rest::none ? 1 : 1 + stride / 2;
    for (std::uint64_t nth = first; !is_over; nth += stride) {
      SCOPED_TRACE("operation " + std::to_string(nth) +
                   (rest == RecordedDisk::Rest::none ? ", lost" : ", torn"));
      const auto directory = test::TemporaryDirectory::in_memory();
      const fs::path root = directory / "disk";
      fs::create_directory(root);
      prepare(root);
      RecordedDisk disk(root, counted);
      disk.crash_at(nth);
      const auto progress = script(root);
      is_over = !disk.is_down();
      disk.crash(nth, rest);
      check(root, progress);
      if (::testing::Test::HasFailure()) return;
      ASSERT_LT(nth, 300U);
      if (is_over) ASSERT_GT(nth, 5U) << "so few operations cannot be all";
    }
  }
}

void expect_whole(const fs::path& store) {
  const auto verified = verify(store);
  EXPECT_TRUE(verified) << verified.error().message();
}

TEST(OwnFiles, AStoreThatIsBeingMadeIsThereOrIsMadeAgain) {
  const auto make = [](const fs::path& root) {
    Life life(root / "store");
    return !life.error && life.commit(1);
  };
  const auto check = [](const fs::path& root, bool is_acknowledged) {
    Life life(root / "store");
    ASSERT_FALSE(life.error) << life.error->message();
    const Rows found = life.rows();
    if (is_acknowledged) EXPECT_EQ(found.size(), 1U);
    EXPECT_TRUE(life.commit(2));
    ASSERT_TRUE(life.run(life.store().close()));
  };
  crash_everywhere(RecordedDisk::Counted::own, [](const fs::path&) {}, make, check);
}

/// What was acknowledged.
struct Saved {
  std::uint64_t commits = 0;
  bool has_backup = false;
  std::set<std::string> savepoints;
  /// Being made or removed: there, or not.
  std::string open;
};

Saved save_often(const fs::path& root) {
  Saved saved;
  Life life(root / "store");
  if (life.error) return saved;
  const auto commit = [&] {
    const bool is_done = life.commit(saved.commits);
    saved.commits += is_done ? 1 : 0;
    return is_done;
  };
  const auto make = [&](const std::string& name) {
    saved.open = name;
    if (!life.run(life.store().make_savepoint(name))) return false;
    saved.savepoints.insert(name);
    saved.open.clear();
    return true;
  };
  const auto remove = [&](const std::string& name) {
    saved.open = name;
    saved.savepoints.erase(name);
    if (!life.run(life.store().remove_savepoint(name))) return false;
    saved.open.clear();
    return true;
  };
  const auto back_up = [&] {
    saved.has_backup = life.run(life.store().back_up(root / "backup")).has_value();
    return saved.has_backup;
  };
  (void)(commit() && back_up() && commit() && make("one") && make("two") && remove("one") &&
         commit() && make("one"));
  return saved;
}

void check_backups(const fs::path& root, const Saved& saved) {
  const fs::path backup = root / "backup";
  if (read_backup(backup)) {
    const auto checked = check_backup(backup);
    EXPECT_TRUE(checked) << checked.error().message();
  } else {
    EXPECT_FALSE(saved.has_backup) << read_backup(backup).error().message();
  }
  Life life(root / "store");
  ASSERT_FALSE(life.error) << life.error->message();
  EXPECT_GE(life.rows().size(), saved.commits);
  std::set<std::string> found;
  const auto savepoints = life.run(life.store().savepoints());
  ASSERT_TRUE(savepoints) << savepoints.error().message();
  for (const BackupInfo& savepoint : *savepoints) {
    const auto checked = check_backup(savepoint.directory);
    EXPECT_TRUE(checked) << checked.error().message();
    found.insert(savepoint.directory.filename());
  }
  auto expected = saved.savepoints;
  if (found.contains(saved.open)) expected.insert(saved.open);
  EXPECT_EQ(found, expected);
  // What was left unfinished is in nobody's way.
  for (const std::string name : {"one", "two"}) {
    if (found.contains(name)) continue;
    const auto made = life.run(life.store().make_savepoint(name));
    EXPECT_TRUE(made) << made.error().message();
  }
  ASSERT_TRUE(life.run(life.store().close()));
}

void make_store(const fs::path& root) {
  Life life(root / "store");
  ASSERT_FALSE(life.error) << life.error->message();
  ASSERT_TRUE(life.commit(1000));
}

TEST(OwnFiles, BackupsAndSavepointsAreWholeOrNone) {
  crash_everywhere(RecordedDisk::Counted::own, &make_store, &save_often,
                   [](const fs::path& root, const Saved& saved) {
                     expect_whole(root / "store");
                     check_backups(root, saved);
                   });
}

TEST(OwnFiles, AStoreThatIsBeingRestoredIsWholeOrIsRestoredAgain) {
  const auto prepare = [](const fs::path& root) {
    make_store(root);
    Life life(root / "store");
    ASSERT_TRUE(life.run(life.store().back_up(root / "backup")));
  };
  const auto restore = [](const fs::path& root) {
    return restore_backup(root / "backup", root / "restored").has_value();
  };
  const auto check = [](const fs::path& root, bool is_acknowledged) {
    const fs::path restored = root / "restored";
    if (!fs::exists(restored)) {
      EXPECT_FALSE(is_acknowledged);
      const auto again = restore_backup(root / "backup", restored);
      ASSERT_TRUE(again) << again.error().message();
    }
    expect_whole(restored);
    Life life(restored);
    ASSERT_FALSE(life.error) << life.error->message();
    EXPECT_EQ(life.rows().size(), 1U);
  };
  crash_everywhere(RecordedDisk::Counted::all, prepare, restore, check);
}

}  // namespace
}  // namespace weir::storage
