// New views take the rows that were there before them while others follow changes: how much at
// once, and when, counted in virtual time.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <weir/flow/view/internal/relation_info.hpp>
#include <weir/tests/flow/view/support/work_fixture.hpp>

namespace weir::flow::view {
namespace {

using namespace std::chrono_literals;
using data::col;
using test::BusyTest;

constexpr storage::ReadLimits all_records{.records_max = 1'000'000, .bytes_max = 1 << 30};

std::vector<Row> many_rows(int count) {
  std::vector<Row> rows;
  rows.reserve(static_cast<std::size_t>(count));
  for (int id = 0; id < count; ++id) rows.push_back({1'000'000 + id, "apples", id});
  return rows;
}

class BusyBackfillTest : public BusyTest {
 protected:
  BusyBackfillTest() : BusyTest({.backfill_rows = 100}) {}
};

TEST_F(BusyBackfillTest, TellsHowFarItHasCome) {
  const Relation orders = make_table("orders");
  insert(orders, many_rows(2'000));
  const Relation all = run(database_->create_view("all", from(orders))).value();
  std::optional<ViewStatus> status;
  do {
    simulation_.run_steps(1);
    status = database_->status(all);
  } while (!status || status->rows_taken < 1'000);
  EXPECT_EQ(status->phase, ViewPhase::backfilling);
  EXPECT_NEAR(static_cast<double>(status->rows_total), 2'000, 200);
  EXPECT_GT(status->rows_per_second, 0);
  ASSERT_TRUE(status->time_left);
  const double rows_left = static_cast<double>(status->rows_total - status->rows_taken);
  EXPECT_NEAR(std::chrono::duration<double>(*status->time_left).count(),
              rows_left / status->rows_per_second, 0.001);
  settle(all);
  EXPECT_EQ(database_->status(all)->rows_taken, 2'000u);
  EXPECT_FALSE(database_->status(all)->time_left);
}

TEST_F(BusyBackfillTest, I15GoesOnUnderLoadAndLiveViewsKeepUp) {
  const Relation orders = make_table("orders");
  const Relation busy = make_table("busy");
  insert(orders, many_rows(2'000));
  const Relation live = run(database_->create_view("live", from(busy))).value();
  settle(live);
  begin_writing(busy);
  simulation_.run_for(10ms);
  const Relation all = run(database_->create_view("all", from(orders))).value();
  const auto first = store_->version();
  std::uint64_t lag_max = 0;
  for (int step = 0; step < 5'000; ++step) {
    simulation_.run_for(1ms);
    const auto seen = database_->status(live)->position.number;
    lag_max =
        std::max(lag_max, store_->version().number - std::min(seen, store_->version().number));
    const auto status = database_->status(all);
    if (status && status->phase == ViewPhase::live) break;
  }
  EXPECT_EQ(database_->status(all)->phase, ViewPhase::live);
  EXPECT_GT(store_->version().number - first.number, 100u) << "there was load";
  EXPECT_LE(lag_max, 60u);
}

TEST_F(BusyBackfillTest, TakesRowsAsTheyAreThenNotAsTheyWereWhenItBegan) {
  const Relation orders = make_table("orders");
  const Relation busy = make_table("busy");
  insert(orders, many_rows(2'000));
  const Relation live = run(database_->create_view("live", from(busy))).value();
  settle(live);
  insert(busy, {{1, "apples", 1}});
  const Relation rare =
      run(database_->create_view("rare", from(orders).filter(col("item") != "apples"))).value();
  std::optional<ViewStatus> status;
  do {
    simulation_.run_steps(1);
    status = database_->status(rare);
  } while (!status || status->rows_taken == 0);
  auto transaction = database_->begin();
  run(transaction.update(orders, {1'001'990, "pears", 1})).value();
  run(transaction.remove(orders, {1'001'991})).value();
  run(transaction.insert(orders, {1'002'000, "plums", 2})).value();
  run(transaction.commit()).value();
  ASSERT_LT(database_->status(rare)->rows_taken, 1'900u);
  settle(rare);
  EXPECT_EQ(rows_of(rare), "+1 (1001990, 'pears', 1)\n+1 (1002000, 'plums', 2)\n");
  EXPECT_EQ(database_->status(rare)->rows_taken, 2'000u);
}

/// Many rows are read on a thread that may wait, and it does.
class SlowBackfillTest : public BusyTest {
 protected:
  SlowBackfillTest() : BusyTest(200us, 20ms, {.backfill_rows = 4'096, .backfill_step = 100us}) {}
};

TEST_F(SlowBackfillTest, TakesLessAtOnceIfLiveViewsWaitTooLong) {
  const Relation orders = make_table("orders");
  const Relation busy = make_table("busy");
  insert(orders, many_rows(2'000));
  const Relation live = run(database_->create_view("live", from(busy))).value();
  begin_writing(busy);
  simulation_.run_for(100ms);
  const Relation all = run(database_->create_view("all", from(orders))).value();
  settle(all);
  EXPECT_GT(cycles_of(all), 11u) << "about as many as can be read without waiting";
  EXPECT_LE(cycles_of(all), 25u);
}

TEST_F(SlowBackfillTest, TakesAllThatItMayIfNobodyWaits) {
  const Relation orders = make_table("orders");
  insert(orders, many_rows(2'000));
  const Relation all = run(database_->create_view("all", from(orders))).value();
  settle(all);
  EXPECT_EQ(cycles_of(all), 1u);
}

/// Whatever is done takes long, and more rows do not take longer.
class EvenlySlowBackfillTest : public BusyTest {
 protected:
  EvenlySlowBackfillTest() : BusyTest(2ms, 0ms, {.backfill_rows = 4'096, .backfill_step = 100us}) {}
};

TEST_F(EvenlySlowBackfillTest, TakesNoLessAtOnceForWhatLiveViewsWaitForAnyway) {
  const Relation orders = make_table("orders");
  const Relation busy = make_table("busy");
  insert(orders, many_rows(2'000));
  const Relation live = run(database_->create_view("live", from(busy))).value();
  begin_writing(busy);
  simulation_.run_for(100ms);
  const Relation all = run(database_->create_view("all", from(orders))).value();
  settle(all);
  EXPECT_GT(cycles_of(all), 1u);
  EXPECT_LE(cycles_of(all), 15u) << "256 at once, and then more";
}

TEST_F(EvenlySlowBackfillTest, ManyNewViewsShareAStep) {
  const Relation orders = make_table("orders");
  const Relation busy = make_table("busy");
  insert(orders, many_rows(500));
  const Relation live = run(database_->create_view("live", from(busy))).value();
  begin_writing(busy);
  simulation_.run_for(100ms);
  const auto before = store_->version();
  std::vector<Relation> views;
  for (int number = 0; number < 30; ++number)
    views.push_back(
        run(database_->create_view("v" + std::to_string(number), from(orders))).value());
  for (const Relation& view : views) settle(view);
  std::size_t rows_max = 0;
  for (const storage::ChangeRecord& record : run(store_->log().read(before, all_records)).value()) {
    std::size_t rows = 0;
    for (const Relation& view : views) rows += record.of(view.info().rows.id()).size();
    rows_max = std::max(rows_max, rows);
  }
  EXPECT_GT(rows_max, 16u);
  EXPECT_LE(rows_max, 4'096u) << "30 times 500, did each take all that it may";
  for (const Relation& view : views) EXPECT_EQ(database_->status(view)->counts.backfill_rows, 500u);
}

/// So little is taken at once that views take turns.
class TurnsTest : public BusyTest {
 protected:
  TurnsTest() : BusyTest({.backfill_rows = 1}) {}
};

TEST_F(TurnsTest, AreNotForViewsThatWaitForThoseTheyRead) {
  const Relation orders = make_table("orders");
  const Relation busy = make_table("busy");
  insert(orders, many_rows(40));
  const Relation live = run(database_->create_view("live", from(busy))).value();
  settle(live);
  const Relation first = run(database_->create_view("first", from(orders))).value();
  const Relation second = run(database_->create_view("second", from(first))).value();
  const Relation third = run(database_->create_view("third", from(second))).value();
  insert(busy, {{1, "apples", 1}});
  ASSERT_EQ(database_->status(first)->phase, ViewPhase::backfilling);
  // Nothing is written any more, and each step has to lead to the next one.
  simulation_.run_for(900ms);
  for (const Relation& view : {first, second, third})
    EXPECT_EQ(database_->status(view)->phase, ViewPhase::live) << view.name();
  auto scan = database_->read().scan(third);
  EXPECT_EQ(run(scan.next(1'000)).value().size(), 40u);
}

TEST_F(TurnsTest, LeaveHalfOfTheTimeToThoseWhoFollowChanges) {
  const Relation orders = make_table("orders");
  const Relation busy = make_table("busy");
  insert(orders, many_rows(2'000));
  const Relation live = run(database_->create_view("live", from(busy))).value();
  settle(live);
  insert(busy, {{1, "apples", 1}});
  const Relation all = run(database_->create_view("all", from(orders))).value();
  simulation_.run_for(20ms);
  const auto count_pieces = [&] {
    const std::uint64_t before = cycles_of(all);
    simulation_.run_for(200ms);
    return cycles_of(all) - before;
  };
  const std::uint64_t beside_others = count_pieces();
  simulation_.run_for(1s);  // nobody is expected to come any more
  const std::uint64_t alone = count_pieces();
  EXPECT_GT(beside_others, alone / 3);
  EXPECT_LT(beside_others, alone * 2 / 3);
}

}  // namespace
}  // namespace weir::flow::view
