// How much is done, and when: counted in virtual time.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/operator/operator_registry.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/relation_info.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/flow/view/support/heart.hpp>
#include <weir/tests/flow/view/support/view_fixture.hpp>
#include <weir/tests/flow/view/support/work_fixture.hpp>

namespace weir::flow::view {
namespace {

using namespace std::chrono_literals;
using data::col;
using test::BusyTest;
using test::WorkTest;

TEST_F(WorkTest, NothingIsDoneWithoutChangesOrTicks) {
  const Relation orders = make_table("orders");
  const Relation all = run(database_->create_view("all", from(orders))).value();
  settle(all);
  const auto version = store_->version();
  const auto cycles = cycles_of(all);
  simulation_.run_for(1h);
  EXPECT_EQ(store_->version(), version);
  EXPECT_EQ(cycles_of(all), cycles);
}

TEST_F(WorkTest, B23OnlyViewsThatAreTouchedDoAnything) {
  std::vector<Relation> tables;
  std::vector<Relation> views;
  for (int number = 0; number < 50; ++number) {
    tables.push_back(make_table("t" + std::to_string(number)));
    views.push_back(
        run(database_->create_view("v" + std::to_string(number), from(tables.back()))).value());
  }
  const Relation second = run(database_->create_view("second", from(views[7]))).value();
  settle(second);
  for (const Relation& view : views) settle(view);
  std::vector<std::uint64_t> before;
  for (const Relation& view : views) before.push_back(cycles_of(view));
  const std::uint64_t before_second = cycles_of(second);
  for (int id = 0; id < 3; ++id) {
    insert(tables[7], {{id, "apples", 1}, {id + 100, "pears", 2}});
    settle(second);
  }
  for (std::size_t number = 0; number < views.size(); ++number)
    EXPECT_EQ(cycles_of(views[number]) - before[number], number == 7 ? 3u : 0u) << number;
  EXPECT_EQ(cycles_of(second) - before_second, 3u);
  const ViewCounts counts = database_->status(views[7])->counts;
  EXPECT_EQ(counts.rows_in, 6u);
  EXPECT_EQ(counts.rows_out, 6u);
}

TEST_F(WorkTest, B24ACommitHasNothingOfViewsThatDidNotMove) {
  const Relation a = make_table("a");
  const Relation b = make_table("b");
  const Relation of_a = run(database_->create_view("of_a", from(a))).value();
  const Relation of_b = run(database_->create_view("of_b", from(b))).value();
  settle(of_a);
  settle(of_b);
  const auto version = insert(a, {{1, "apples", 1}});
  settle(of_a);
  const auto records = run(store_->log().read(version)).value();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].spaces().size(), 2u) << "rows of the view, and where all views are";
  EXPECT_EQ(records[0].of(of_a.info().rows.id()).size(), 1u);
  EXPECT_EQ(records[0].of(of_b.info().rows.id()).size(), 0u);
}

TEST_F(WorkTest, PositionsThatNothingCameOfAreWrittenOnceInAThousand) {
  const Relation orders = make_table("orders");
  const Relation all = run(database_->create_view("all", from(orders))).value();
  const Relation unread = make_table("unread");
  insert(orders, {{1, "apples", 1}});
  settle(all);
  const auto begin = store_->version();
  for (int id = 0; id < 990; ++id) insert(unread, {{id, "pears", 1}});
  settle(all);
  EXPECT_EQ(store_->version().number, begin.number + 990) << "views have committed nothing";
  EXPECT_LE(checkpoint(), begin);
  for (int id = 990; id < 1'100; ++id) insert(unread, {{id, "pears", 1}});
  settle(all);
  EXPECT_EQ(store_->version().number, begin.number + 1'101) << "views have committed once";
  EXPECT_GT(checkpoint().number, begin.number + 900);
}

class BackfillWorkTest : public WorkTest {
 protected:
  BackfillWorkTest() : WorkTest({}, {.backfill_rows = 100}) {}
};

TEST_F(BackfillWorkTest, B26ViewsTakeRowsTogether) {
  const Relation orders = make_table("orders");
  std::vector<Row> rows;
  for (int id = 0; id < 1'000; ++id) rows.push_back({id, "apples", id});
  insert(orders, rows);
  std::vector<Relation> views;
  for (int number = 0; number < 10; ++number) {
    views.push_back(run(database_->create_view("v" + std::to_string(number),
                                               from(orders).filter(col("amount") >= number)))
                        .value());
  }
  const auto made = store_->version();
  for (const Relation& view : views) settle(view);
  const auto commits = store_->version().number - made.number;
  EXPECT_LE(commits, 30u) << "eleven pieces each, were they one after the other: 110";
  for (const Relation& view : views)
    EXPECT_EQ(database_->status(view)->counts.backfill_rows, 1'000u);
}

TEST_F(BusyTest, B13TicksComeUnderLoad) {
  const Relation orders = make_table("orders");
  const Relation all = run(database_->create_view("all", from(orders))).value();
  const Relation beats = run(database_->create_view("beats", from(orders).apply("heart"))).value();
  settle(all);
  settle(beats);
  const auto beats_so_far = [&] {
    const std::string row = rows_of(beats);
    return row.empty() ? 0 : std::stoi(row.substr(row.find('(') + 1));
  };
  const int before = beats_so_far();
  const auto first = store_->version();
  begin_writing(orders);
  simulation_.run_for(1s);
  EXPECT_GT(store_->version().number - first.number, 1'000u) << "there was load";
  EXPECT_GE(beats_so_far() - before, 97);
  EXPECT_LE(beats_so_far() - before, 100);
}

TEST_F(BusyTest, B10AChainOfThreeIsWithItsTableUnderLoad) {
  const Relation orders = make_table("orders");
  const Relation first = run(database_->create_view("first", from(orders))).value();
  const Relation second = run(database_->create_view("second", from(first).distinct())).value();
  const Relation third =
      run(database_->create_view("third", from(second).aggregate({operators::count().as("rows")})))
          .value();
  settle(third);
  const auto begin = store_->version();
  const std::uint64_t cycles = cycles_of(third);
  const std::uint64_t cycles_of_first = cycles_of(first);
  begin_writing(orders);
  for (int step = 0; step < 200; ++step) {
    simulation_.run_for(1ms);
    for (const Relation& view : {first, second, third})
      ASSERT_EQ(database_->status(view)->phase, ViewPhase::live) << view.name();
  }
  EXPECT_GT(store_->version().number - begin.number, 200u) << "there was load";
  // Each cycle brings the last one to where the first is: in every version that there was.
  EXPECT_EQ(cycles_of(third) - cycles, cycles_of(first) - cycles_of_first);
  for (std::uint64_t number = begin.number; number <= store_->version().number; number += 7) {
    Snapshot snapshot = database_->read_at({number}).value();
    const auto position = run(snapshot.view_position()).value();
    auto all = database_->read_at(position).value().scan(orders);
    auto scan = snapshot.scan(third);
    const std::size_t rows = run(all.next(10'000)).value().size();
    const std::string expected = rows == 0 ? "" : "+1 (" + std::to_string(rows) + ")\n";
    EXPECT_EQ(to_string(run(scan.next()).value()), expected);
  }
}

class BusyFailureTest : public BusyTest {
 protected:
  BusyFailureTest() : BusyTest({.retry_backoff = 1ms, .failures_max = 2}) {}
};

TEST_F(BusyFailureTest, CatchesUpUnderLoadAndCountsEverythingOnce) {
  const Relation orders = make_table("orders");
  const Relation picky = run(database_->create_view("picky", from(orders).apply("picky"))).value();
  const Relation both =
      run(database_->create_view(
              "both",
              from(picky).append({from(orders)}).aggregate({operators::count().as("rows")})))
          .value();
  settle(both);
  begin_writing(orders);
  for (int time = 1; time <= 20; ++time) {
    script_->failures = 1'000;
    insert(orders, {{-time, "poison", 0}});
    simulation_.run_for(50ms);
    EXPECT_EQ(database_->status(picky)->phase, ViewPhase::quarantined);
    script_->failures = 0;
    ASSERT_TRUE(run(database_->resume(picky)));
    simulation_.run_for(50ms);
    EXPECT_EQ(database_->status(both)->phase, ViewPhase::live);
  }
  end_writing();
  settle(both);
  std::size_t rows = 0;
  auto scan = database_->read().scan(orders);
  for (std::size_t more = 1; more > 0; rows += more) more = run(scan.next()).value().size();
  EXPECT_EQ(rows_of(both), "+1 (" + std::to_string(2 * rows) + ")\n");
}

TEST_F(WorkTest, ATableThatIsDroppedIsKnownToBeBeforeItsRowsGo) {
  const Relation all = run(database_->create_view("all", from(make_table("orders")))).value();
  settle(all);
  make_table("other");
  const storage::Version before = store_->version();
  ASSERT_TRUE(run(database_->drop_table("other")));
  EXPECT_GT(database_->status(all)->position, before);
}

/// Workers answer when nobody waits any more.
class LateTest : public WorkTest {
 protected:
  LateTest()
      : WorkTest({.faults = {.message_time_max = 100ms}},
                 {.retry_backoff = 1ms, .failures_max = 1'000, .cycle_deadline = 60ms}) {}
};

TEST_F(LateTest, B7WhatALateWorkerMadeIsForgottenAndMadeAgain) {
  const Relation orders = make_table("orders");
  const Relation sum =
      run(database_->create_view("sum",
                                 from(orders).aggregate({operators::sum(col("amount")).as("sum"),
                                                         operators::count().as("orders")})))
          .value();
  int expected = 0;
  for (int id = 0; id < 60; ++id) {
    insert(orders, {{id, "apples", id}});
    expected += id;
  }
  settle(sum);
  EXPECT_EQ(rows_of(sum), "+1 (" + std::to_string(expected) + ", 60)\n");
  EXPECT_GT(database_->status(sum)->counts.failures, 0u) << "nobody was late";
}

/// The disk takes its time: up to ten minutes for a sync.
class StuckTest : public WorkTest {
 protected:
  StuckTest() : WorkTest(options(&overdue_)) {}
  static SimulationOptions options(int* overdue) {
    SimulationOptions options;
    options.blocking_time_max = 10min;
    options.system.on_phase = [overdue](const PhaseEvent& event) {
      if (event.kind == PhaseEvent::Kind::overdue && event.to == "committing") ++*overdue;
    };
    return options;
  }

  static inline int overdue_ = 0;
};

TEST_F(StuckTest, B18ACommitThatLastsTooLongIsReported) {
  overdue_ = 0;
  const Relation orders = make_table("orders");
  const Relation all = run(database_->create_view("all", from(orders))).value();
  for (int id = 0; id < 20; ++id) {
    insert(orders, {{id, "apples", id}});
    settle(all);
  }
  EXPECT_GT(overdue_, 0);
}

struct WaitForEver {};

/// Waits for a version that never comes.
class Waiter final : public Actor<WaitForEver> {
 public:
  Waiter(const Database* database, Relation view, std::shared_ptr<std::optional<Error>> answer)
      : database_(database), view_(std::move(view)), answer_(std::move(answer)) {}
  Task<> on(WaitForEver) {
    auto fresh = co_await database_->fresh(view_, storage::Version{1'000'000});
    if (!fresh) *answer_ = fresh.error();
  }

 private:
  const Database* database_;
  Relation view_;
  std::shared_ptr<std::optional<Error>> answer_;
};

TEST_F(WorkTest, WhoWaitsIsToldWhenTheDatabaseCloses) {
  const Relation orders = make_table("orders");
  const Relation all = run(database_->create_view("all", from(orders))).value();
  auto answer = std::make_shared<std::optional<Error>>();
  simulation_.system().spawn<Waiter>(&*database_, all, answer).send<WaitForEver>();
  simulation_.run_for(1s);
  EXPECT_FALSE(answer->has_value());
  ASSERT_TRUE(run(database_->close()));
  simulation_.run_for(1s);
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ(**answer, weir::Errc::stopped);
  EXPECT_EQ((*answer)->detail(), "the database is closed");
}

TEST_F(WorkTest, ATickThatAlwaysFailsIsQuarantinedAndCanBeResumed) {
  const Relation orders = make_table("orders");
  const Relation beats = run(database_->create_view("beats", from(orders).apply("heart"))).value();
  settle(beats);
  *failures_ = 1'000;
  simulation_.run_for(1h);
  EXPECT_EQ(database_->status(beats)->phase, ViewPhase::quarantined);
  EXPECT_EQ(database_->status(beats)->failures, 5u);
  *failures_ = 0;
  ASSERT_TRUE(run(database_->resume(beats)));
  simulation_.run_for(25ms);
  EXPECT_EQ(database_->status(beats)->phase, ViewPhase::live);
  EXPECT_EQ(database_->status(beats)->failures, 0u);
}

}  // namespace
}  // namespace weir::flow::view
