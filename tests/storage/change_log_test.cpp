#include <weir/storage/change_log.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include <weir/runtime/explore_gtest.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/retry.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>

namespace weir::storage {
namespace {

using test::commit_rows;
using test::RowsOf;
using test::StoreTest;

class ChangeLogTest : public StoreTest {
 protected:
  /// One commit of `bytes` bytes for each version up to `last`.
  void fill(const RowsOf& rows, Version last, std::size_t bytes = 10) {
    while (store().version() < last) {
      ASSERT_TRUE(run(commit_rows(store(), rows, {{1, std::string(bytes, 'x')}})));
    }
  }
  Result<Version> set_checkpoint(const std::string& name, Version version) {
    auto transaction = store().begin();
    transaction.set_checkpoint(name, version);
    return run(transaction.commit());
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, ChangeLogTest, ::testing::ValuesIn(test::engine_kinds),
                         test::name_of_engine);

TEST_P(ChangeLogTest, GivesNoMoreThanAskedAndAlwaysOne) {
  const auto rows = open_rows("rows");
  fill(rows, Version{11}, 1000);
  const ChangeLog log = store().log();
  EXPECT_EQ(log.read_blocking(Version{1}, {.records_max = 3})->size(), 3u);
  EXPECT_EQ(log.read_blocking(Version{1}, {.bytes_max = 4500})->size(), 2u);
  EXPECT_EQ(run(log.read(Version{1}, {.bytes_max = 1}))->size(), 1u);
  EXPECT_LE(run(log.read(Version{1}, {.records_max = 3}))->size(), 3u);
  EXPECT_TRUE(run(log.read(Version{11}))->empty());
  EXPECT_EQ(run(log.read(Version{12})).error(), Errc::future_version);
}

TEST_P(ChangeLogTest, IsKeptForTheSlowestConsumer) {
  const auto rows = open_rows("rows");
  fill(rows, Version{20});
  ASSERT_TRUE(set_checkpoint("fast", Version{18}));
  ASSERT_TRUE(set_checkpoint("slow", Version{7}));
  ASSERT_TRUE(run(store().collect()));
  EXPECT_EQ(store().log().oldest(), Version{8});
  EXPECT_EQ(run(store().log().read(Version{7}))->front().version(), Version{8});
  const auto overtaken = run(store().log().read(Version{6}));
  ASSERT_FALSE(overtaken);
  EXPECT_EQ(overtaken.error(), Errc::overtaken);
  EXPECT_NE(overtaken.error().detail().find("version 7 is gone"), std::string::npos);
  EXPECT_EQ(set_checkpoint("new", Version{6}).error(), Errc::overtaken);
  reopen();
  EXPECT_EQ(store().log().oldest(), Version{8});
}

TEST_P(ChangeLogTest, OvertakesAConsumerBeyondItsLimit) {
  reset({.retention = {.log_bytes_max = 10'000}});
  const auto rows = open_rows("rows");
  ASSERT_TRUE(set_checkpoint("slow", Version{1}));
  fill(rows, Version{50}, 500);
  ASSERT_TRUE(run(store().collect()));
  EXPECT_EQ(run(store().log().read(Version{1})).error(), Errc::overtaken);
  std::size_t kept = 0;
  const Version before_oldest{store().log().oldest().number - 1};
  for (const auto& record : store().log().read_blocking(before_oldest).value())
    kept += record.bytes();
  EXPECT_LE(kept, 10'000u);
  EXPECT_GT(kept, 7'000u);
}

TEST_P(ChangeLogTest, GoesOnExactlyWhereASnapshotEnds) {
  const auto rows = open_rows("rows");
  fill(rows, Version{5});
  const ReadTransaction snapshot = store().read();
  fill(rows, Version{9});
  ASSERT_TRUE(run(store().collect()));
  const auto tail = store().log().read_blocking(snapshot.version());
  ASSERT_TRUE(tail) << tail.error().message();
  ASSERT_EQ(tail->size(), 4u);
  EXPECT_EQ(tail->front().version(), snapshot.version().next());
}

Task<Result<Version>> await_past(ChangeLog log, Version version) {
  co_return co_await log.wait_past(version);
}

TEST_P(ChangeLogTest, WhoWaitsIsToldWhenTheStoreCloses) {
  const ChangeLog log = store().log();
  ASSERT_TRUE(run(store().close()));
  EXPECT_EQ(run(await_past(log, log.newest())).error(), Errc::closed);
}

Task<> collect_once(Store* store) { EXPECT_TRUE(co_await store->collect()); }

Task<> begin_consuming(Store* store, Version from) {
  auto transaction = store->begin();
  transaction.set_checkpoint("late", from);
  const auto begun = co_await transaction.commit();
  if (!begun) EXPECT_EQ(begun.error(), Errc::overtaken) << begun.error().message();
  if (!begun) co_return;
  const auto records = co_await store->log().read(from);
  EXPECT_TRUE(records) << records.error().message();
}

Task<> consume_while_collecting(ActorSystem* system) {
  Store store = Store::open(*system, {}).value();
  const auto rows = (co_await store.open_rows<std::uint64_t, std::string>("rows")).value();
  for (int i = 0; i < 5; ++i) (void)co_await commit_rows(store, rows, {{1, "x"}});
  TaskScope scope;
  scope.spawn(collect_once(&store));
  scope.spawn(begin_consuming(&store, Version{2}));
  co_await scope.join();
  EXPECT_TRUE(co_await store.close());
}

TEST(ChangeLog, KeepsWhatAConsumerNeedsThatCameWhileItWasCollected) {
  ExploreOptions options{.seeds = 300};
  options.simulation.blocking_time_max = std::chrono::milliseconds(5);
  explore_in_test(options, [](Simulation& simulation) {
    simulation.run(consume_while_collecting(&simulation.system()));
  });
}

}  // namespace
}  // namespace weir::storage
