// How long things are kept, in simulated time.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/storage/errc.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>

namespace weir::storage {
namespace {

using namespace std::chrono_literals;
using test::commit_rows;
using test::Rows;
using test::rows_at;
using test::RowsOf;

/// A store in simulated time.
class RetentionTest : public ::testing::Test {
 protected:
  void open(StoreOptions options) {
    options.disk = disk_;
    options.collect_interval = 1min;
    options.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
    store_.emplace(Store::open(simulation_.system(), std::move(options)).value());
    rows_.emplace(simulation_.run(store_->open_rows<std::uint64_t, std::string>("rows")).value());
  }
  Version commit(std::string value) {
    return simulation_.run(commit_rows(*store_, *rows_, {{1, std::move(value)}})).value();
  }
  Result<std::vector<ChangeRecord>> log_after(Version version) {
    return store_->log().read_blocking(version);
  }

  Simulation simulation_{SimulationOptions{.blocking_time_max = std::chrono::milliseconds(1)}};
  std::shared_ptr<engine::SimulatedDisk> disk_ = std::make_shared<engine::SimulatedDisk>();
  std::optional<Store> store_;
  std::optional<RowsOf> rows_;
};

TEST_F(RetentionTest, OldVersionsCanBeReadForTheTimeOfHistoryAndThenGo) {
  open({.retention = {.history = 1h}});
  const Version first = commit("first");
  simulation_.run_for(2min);
  const Version second = commit("second");
  simulation_.run_for(50min);
  EXPECT_EQ(rows_at(*store_, *rows_, first), (Rows{{1, "first"}}));
  simulation_.run_for(15min);
  EXPECT_EQ(store_->read_at(first).error(), Errc::version_collected);
  EXPECT_EQ(rows_at(*store_, *rows_, second), (Rows{{1, "second"}}));
}

TEST_F(RetentionTest, WithoutHistoryOldVersionsGoWhenTheyAreCollected) {
  open({});
  const Version first = commit("first");
  commit("second");
  simulation_.run_for(2min);
  EXPECT_EQ(store_->read_at(first).error(), Errc::version_collected);
}

TEST_F(RetentionTest, ChangeRecordsThatAllHavePassedAreKeptForTheTimeOfTheLog) {
  open({.retention = {.log = 1h}});
  const Version first = commit("first");
  simulation_.run_for(2min);
  commit("second");
  simulation_.run_for(50min);
  EXPECT_TRUE(log_after(Version{first.number - 1}));
  simulation_.run_for(15min);
  EXPECT_EQ(log_after(Version{first.number - 1}).error(), Errc::overtaken);
}

TEST_F(RetentionTest, AConsumerThatIsBehindForTooLongIsOvertaken) {
  open({.retention = {.log_age_max = 1h}});
  auto transaction = store_->begin();
  transaction.set_checkpoint("slow", store_->version());
  const Version passed = transaction.version();
  ASSERT_TRUE(simulation_.run(transaction.commit()));
  commit("first");
  simulation_.run_for(50min);
  commit("second");
  simulation_.run_for(2min);
  EXPECT_TRUE(log_after(passed)) << "a consumer needs it, and it is not old";
  simulation_.run_for(15min);
  commit("third");
  simulation_.run_for(2min);
  const auto overtaken = log_after(passed);
  EXPECT_EQ(overtaken.error(), Errc::overtaken);
  EXPECT_NE(overtaken.error().message().find("is gone"), std::string::npos);
}

TEST_F(RetentionTest, BufferedCommitsAreOnDiskAfterTheirInterval) {
  open({.durability = Durability::buffered(5ms)});
  simulation_.run_for(1s);
  commit("first");
  EXPECT_EQ(disk_->unsynced(), 1U) << "acknowledged at once";
  simulation_.run_for(5ms + 1ms);  // and what the sync takes
  EXPECT_EQ(disk_->unsynced(), 0U);
}

TEST_F(RetentionTest, BufferedCommitsShareOneSyncForEachInterval) {
  open({.durability = Durability::buffered(5ms)});
  simulation_.run_for(1s);
  const std::uint64_t before = disk_->syncs();
  for (int i = 0; i < 50; ++i) commit(std::to_string(i));
  simulation_.run_for(6ms);
  EXPECT_EQ(disk_->syncs(), before + 1);
}

Task<> wait_past(ChangeLog log, Version version, std::optional<Version>* woken) {
  const auto newest = co_await log.wait_past(version);
  EXPECT_TRUE(newest);
  if (newest) *woken = *newest;
}

/// Commits an hour after another task has begun to wait. Gives how many steps that hour took.
Task<std::uint64_t> commit_after_an_hour(Simulation* simulation, Store* store, RowsOf rows,
                                         std::optional<Version>* woken) {
  TaskScope scope;
  scope.spawn(wait_past(store->log(), store->version(), woken));
  co_await yield();
  const std::uint64_t before = simulation->steps();
  (void)co_await sleep_for(1h);
  const std::uint64_t steps = simulation->steps() - before;
  EXPECT_FALSE(*woken);
  const auto version = co_await commit_rows(*store, rows, {{2, "two"}});
  EXPECT_TRUE(version);
  co_await scope.join();
  EXPECT_EQ(*woken, *version);
  co_return steps;
}

TEST_F(RetentionTest, WhoWaitsForTheLogIsWokenByACommitAndDoesNotPoll) {
  open({});
  simulation_.run_for(1h);
  std::optional<Version> woken;
  const auto steps = simulation_.run(commit_after_an_hour(&simulation_, &*store_, *rows_, &woken));
  EXPECT_LE(steps, 3U);
}

}  // namespace
}  // namespace weir::storage
