// Disks that fail, bytes that are not what they should be, workers that refuse: what becomes of
// views then.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/relation_info.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/storage/errc.hpp>
#include <weir/tests/flow/view/support/view_fixture.hpp>

namespace weir::flow::view {
namespace {

using data::col;
using storage::engine::Family;
using test::FailingViewTest;
using test::ViewTest;

class FaultyViewTest : public FailingViewTest {
 protected:
  FaultyViewTest() {
    orders_ = make_orders({{1, "apples", 1}, {2, "pears", 2}});
    sums_ = run(database().create_view("sums", from(*orders_).group_by({"item"}).aggregate(
                                                   {operators::sum(col("amount")).as("sum")})))
                .value();
    EXPECT_EQ(fresh_rows(*sums_), "+1 ('apples', 1)\n+1 ('pears', 2)\n");
  }
  void find_again() {
    orders_ = run(database().relation("orders")).value();
    sums_ = run(database().relation("sums")).value();
  }
  /// Bytes that are no row, where a row should be; and a row of another table, if there is one.
  storage::Version write_garbage(const Relation& table, std::optional<Relation> other = {}) {
    auto transaction = store().begin();
    const internal::RowFormat& format = table.info().format;
    data::BatchBuilder builder(table.schema());
    EXPECT_TRUE(builder.add({9, "garbage", 9}));
    const data::ChangeBatch row = builder.finish();
    internal::EncodedKey key;
    format.encode_key(row.columns(), 0, key.bytes);
    transaction.put(table.info().rows, key, internal::EncodedValue{"\xff\xff"});
    if (other) {
      internal::EncodedValue value;
      format.encode_value(row.columns(), 0, 1, value.bytes);
      transaction.put(other->info().rows, key, value);
    }
    return run(transaction.commit()).value();
  }

  const Error io_error_{storage::Errc::io_error, "simulated"};
  std::optional<Relation> orders_;
  std::optional<Relation> sums_;
};

TEST_F(FaultyViewTest, B2ALogThatCannotBeReadIsAnErrorAndNotEmpty) {
  disk().fail_reads(Family::log, io_error_);
  const auto version = insert(*orders_, {{3, "apples", 10}});
  EXPECT_EQ(run(database().fresh(*sums_, version)).error(), storage::Errc::io_error);
  EXPECT_LT(database().status(*sums_)->position, version);
  EXPECT_TRUE(database().status(*sums_)->is_stopped);
  EXPECT_EQ(database().status(*sums_)->error, io_error_.message());
  EXPECT_EQ(rows_of(*sums_), "+1 ('apples', 1)\n+1 ('pears', 2)\n");
  disk().repair();
  reopen(options());
  find_again();
  EXPECT_EQ(fresh_rows(*sums_), "+1 ('apples', 11)\n+1 ('pears', 2)\n");
  EXPECT_FALSE(database().status(*sums_)->is_stopped);
}

/// One that lets actors of some name crash, whenever it is told to.
struct CrashingActors {
  explicit CrashingActors(std::string of) : name(std::move(of)) {}

  std::string name;
  std::shared_ptr<bool> is_on = std::make_shared<bool>(false);
  Simulation simulation{{.faults = {.actor_crash = 1,
                                    .applies_to = [name = name, is_on = is_on](
                                                      std::string_view, std::string_view of) {
                                      return *is_on && of.find(name) != std::string_view::npos;
                                    }}}};
  storage::Store store =
      storage::Store::open(simulation.system(),
                           {.disk = std::make_shared<storage::engine::SimulatedDisk>()})
          .value();
  Database database =
      simulation
          .run(Database::open(
              &store,
              {.workers = 1, .retry_backoff = std::chrono::milliseconds(1), .failures_max = 50}))
          .value();
  Relation orders = simulation.run(database.create_table("orders", test::orders_schema)).value();
  Relation sums =
      simulation
          .run(database.create_view("sums", from(orders).group_by({"item"}).aggregate(
                                                {operators::sum(col("amount")).as("sum")})))
          .value();

  storage::Version insert(int id) {
    auto transaction = database.begin();
    simulation.run(transaction.insert(orders, {id, "apples", id})).value();
    return simulation.run(transaction.commit()).value();
  }
  std::string sum() {
    Snapshot snapshot = database.read();
    RowScan scan = snapshot.scan(sums);
    const auto rows = simulation.run(scan.next());
    return rows ? to_string(*rows) : rows.error().message();
  }
};

TEST(FaultyView, AWorkerThatCrashesLosesNothing) {
  CrashingActors actors("worker");
  ASSERT_TRUE(actors.simulation.run(actors.database.fresh(actors.sums, actors.insert(1))));
  *actors.is_on = true;
  const auto version = actors.insert(10);
  while (actors.database.status(actors.sums)->phase != ViewPhase::failing)
    actors.simulation.run_steps(1);
  *actors.is_on = false;
  ASSERT_TRUE(actors.simulation.run(actors.database.fresh(actors.sums, version)));
  EXPECT_EQ(actors.sum(), "+1 ('apples', 11)\n");
  ASSERT_TRUE(actors.simulation.run(actors.database.fresh(actors.sums, actors.insert(100))));
  EXPECT_EQ(actors.sum(), "+1 ('apples', 111)\n");
  ASSERT_TRUE(actors.simulation.run(actors.database.close()));
}

TEST(FaultyView, APoolThatCrashesStopsAllViewsWhoSaySo) {
  CrashingActors actors("pool");
  ASSERT_TRUE(actors.simulation.run(actors.database.fresh(actors.sums, actors.insert(1))));
  *actors.is_on = true;
  const auto version = actors.insert(10);
  ASSERT_FALSE(actors.simulation.run(actors.database.fresh(actors.sums, version)));
  EXPECT_TRUE(actors.database.status(actors.sums)->is_stopped);
  EXPECT_NE(actors.database.status(actors.sums)->error, "");
  EXPECT_EQ(actors.sum(), "+1 ('apples', 1)\n") << "nothing was half done";
  *actors.is_on = false;
  ASSERT_TRUE(actors.simulation.run(actors.database.close()));
}

TEST(FaultyView, ALogThatCannotBeReadForAMomentIsReadAgain) {
  using namespace std::chrono_literals;
  Simulation simulation;
  const auto disk = std::make_shared<storage::engine::SimulatedDisk>();
  auto store = storage::Store::open(simulation.system(), {.disk = disk}).value();
  auto database = simulation.run(Database::open(&store, {.retry_backoff = 1ms})).value();
  const Relation orders =
      simulation.run(database.create_table("orders", test::orders_schema)).value();
  const Relation all = simulation.run(database.create_view("all", from(orders))).value();
  ASSERT_TRUE(simulation.run(database.fresh(all, store.version())));
  disk->fail_reads(Family::log, Error(storage::Errc::io_error, "simulated"));
  auto transaction = database.begin();
  ASSERT_TRUE(simulation.run(transaction.insert(orders, {1, "apples", 1})));
  const auto version = simulation.run(transaction.commit()).value();
  simulation.run_for(5ms);
  EXPECT_LT(database.status(all)->position, version);
  EXPECT_FALSE(database.status(all)->is_stopped);
  disk->repair();
  simulation.run_for(20ms);
  EXPECT_GE(database.status(all)->position, version);
  ASSERT_TRUE(simulation.run(database.fresh(all, version)));
  ASSERT_TRUE(simulation.run(database.close()));
}

TEST_F(FaultyViewTest, B3APositionThatCannotBeReadIsAnErrorAndNotZero) {
  disk().fail_reads(Family::checkpoints, io_error_);
  EXPECT_EQ(open_again(options()).error(), storage::Errc::io_error);
  disk().repair();
  reopen(options());
  find_again();
  insert(*orders_, {{3, "apples", 10}});
  EXPECT_EQ(fresh_rows(*sums_), "+1 ('apples', 11)\n+1 ('pears', 2)\n");
}

TEST_F(FaultyViewTest, StateThatCannotBeReadStopsThatViewAlone) {
  DatabaseOptions without_memory = options();
  without_memory.state_memory_max = 0;
  reopen(without_memory);
  find_again();
  const Relation all = run(database().create_view("all", from(*orders_))).value();
  ASSERT_TRUE(run(database().fresh(all, store().version())));
  disk().fail_reads(Family::state, io_error_);
  insert(*orders_, {{3, "apples", 10}});
  EXPECT_EQ(fresh_rows(all), "+1 (1, 'apples', 1)\n+1 (2, 'pears', 2)\n+1 (3, 'apples', 10)\n");
  EXPECT_EQ(run(database().fresh(*sums_, store().version())).error(), Errc::quarantined);
  EXPECT_NE(database().status(*sums_)->error.find("aggregate"), std::string::npos)
      << database().status(*sums_)->error;
  disk().repair();
  ASSERT_TRUE(run(database().resume(*sums_)));
  EXPECT_EQ(fresh_rows(*sums_), "+1 ('apples', 11)\n+1 ('pears', 2)\n");
}

TEST_F(FaultyViewTest, B28ACommitThatFailsChangesNothing) {
  // Beyond the commit with its first rows, which it follows like any other.
  ASSERT_TRUE(run(database().fresh(*sums_, store().version())));
  const auto position = database().status(*sums_)->position;
  disk().fail_write(2, io_error_);  // the first is that of the order
  const auto version = insert(*orders_, {{3, "apples", 10}});
  EXPECT_EQ(run(database().fresh(*sums_, version)).error(), storage::Errc::io_error);
  EXPECT_EQ(database().status(*sums_)->position, position);
  EXPECT_TRUE(database().status(*sums_)->is_stopped);
  EXPECT_NE(database().status(*sums_)->error.find(io_error_.message()), std::string::npos);
  EXPECT_EQ(rows_of(*sums_), "+1 ('apples', 1)\n+1 ('pears', 2)\n");
  disk().repair();
  reopen(options());
  find_again();
  EXPECT_EQ(fresh_rows(*sums_), "+1 ('apples', 11)\n+1 ('pears', 2)\n");
}

TEST_F(FaultyViewTest, B28ARebuildThatCannotBeCommittedHasNotBegun) {
  disk().fail_write(1, io_error_);
  EXPECT_FALSE(run(database().rebuild(*sums_)));
  EXPECT_EQ(database().status(*sums_)->phase, ViewPhase::live);
  disk().repair();
  reopen(options());
  find_again();
  EXPECT_EQ(database().status(*sums_)->phase, ViewPhase::live);
  EXPECT_EQ(database().status(*sums_)->counts.backfill_rows, 0u);
  EXPECT_EQ(fresh_rows(*sums_), "+1 ('apples', 1)\n+1 ('pears', 2)\n");
}

TEST_F(FaultyViewTest, AChangeThatCannotBeReadStopsWhoReadsItAlone) {
  const Relation others = run(database().create_table("others", test::orders_schema)).value();
  const Relation all = run(database().create_view("all", from(others))).value();
  const Relation after = run(database().create_view("after", from(*sums_))).value();
  ASSERT_TRUE(run(database().fresh(after, store().version())));
  const auto garbage = write_garbage(*orders_);
  insert(others, {{1, "figs", 1}});
  insert(*orders_, {{3, "apples", 10}});
  EXPECT_EQ(fresh_rows(all), "+1 (1, 'figs', 1)\n");
  EXPECT_EQ(run(database().fresh(*sums_, store().version())).error(), Errc::quarantined);
  EXPECT_NE(database().status(*sums_)->error.find("change log: version " +
                                                  std::to_string(garbage.number) + ": 'orders'"),
            std::string::npos)
      << database().status(*sums_)->error;
  ASSERT_TRUE(run(database().skip(*sums_)));
  EXPECT_EQ(fresh_rows(after), "+1 ('apples', 11)\n+1 ('pears', 2)\n");
  EXPECT_EQ(database().status(*sums_)->skipped_version, garbage);
}

TEST_F(FaultyViewTest, OfACommitThatCannotBeReadNothingIsTaken) {
  const Relation others = run(database().create_table("others", test::orders_schema)).value();
  const Relation all =
      run(database().create_view(
              "all",
              from(*orders_).append({from(others)}).aggregate({operators::count().as("rows")})))
          .value();
  EXPECT_EQ(fresh_rows(all), "+1 (2)\n");
  write_garbage(*orders_, others);
  EXPECT_EQ(run(database().fresh(all, store().version())).error(), Errc::quarantined);
  ASSERT_TRUE(run(database().skip(all)));
  EXPECT_EQ(fresh_rows(all), "+1 (2)\n");
  insert(others, {{1, "figs", 1}});
  EXPECT_EQ(fresh_rows(all), "+1 (3)\n");
}

TEST_F(FaultyViewTest, RowsThatCannotBeReadStopTheNewViewAlone) {
  ASSERT_TRUE(run(database().drop_view("sums")));
  write_garbage(*orders_);
  const Relation others = run(database().create_table("others", test::orders_schema)).value();
  const Relation broken = run(database().create_view("broken", from(*orders_))).value();
  const Relation all = run(database().create_view("all", from(others))).value();
  insert(others, {{1, "figs", 1}});
  EXPECT_EQ(run(database().fresh(broken, store().version())).error(), Errc::quarantined);
  EXPECT_EQ(fresh_rows(all), "+1 (1, 'figs', 1)\n");
}

TEST_F(FaultyViewTest, RowsThatCannotBeReadStopTheNewViewAloneAlsoInTheCommitOfAWriter) {
  const ViewOptions transactional{.update = ViewUpdate::transactional};
  ASSERT_TRUE(run(database().drop_view("sums")));
  write_garbage(*orders_);
  const Relation others = run(database().create_table("others", test::orders_schema)).value();
  const Relation broken =
      run(database().create_view("broken", from(*orders_), transactional)).value();
  const Relation all = run(database().create_view("all", from(others), transactional)).value();
  EXPECT_EQ(run(database().fresh(broken, store().version())).error(), Errc::quarantined);
  insert(*orders_, {{77, "figs", 1}});
  insert(others, {{1, "figs", 1}});
  EXPECT_EQ(fresh_rows(all), "+1 (1, 'figs', 1)\n");
  EXPECT_TRUE(run(database().drop_view("broken")));
}

TEST_F(ViewTest, RefusesToRunWithoutWorkers) {
  close();
  EXPECT_EQ(open_again({.workers = 0}).error().message(),
            "invalid argument: workers must be 1 or more");
  reopen();
}

/// Gives each row twice.
class Doubling final : public operators::Operator {
 public:
  using Operator::Operator;
  Result<> apply(const operators::Input& input, operators::Output& out) override {
    out.emit(input.batch);
    out.emit(input.batch);
    return {};
  }
};

TEST_F(FaultyViewTest, B25TwoRowsWithOneKeyAreNotLaidOverEachOther) {
  ASSERT_TRUE(registry_.add("doubling", [](const operators::OperatorRegistry::Arguments& of) {
    return Result<std::unique_ptr<operators::Operator>>(std::make_unique<Doubling>(of.inputs[0]));
  }));
  const Relation twice =
      run(database().create_view("twice", from(*orders_).apply("doubling"))).value();
  EXPECT_EQ(run(database().fresh(twice, store().version())).error(), Errc::quarantined);
  EXPECT_NE(database().status(twice)->error.find("two rows with one primary key: 'twice': (1)"),
            std::string::npos)
      << database().status(twice)->error;
  insert(*orders_, {{3, "apples", 10}});
  EXPECT_EQ(fresh_rows(*sums_), "+1 ('apples', 11)\n+1 ('pears', 2)\n");
}

TEST_F(FaultyViewTest, B9OneThatItsWorkerRefusesIsQuarantinedAndGoesOnWhenItCanBeMade) {
  // Whoever asks for the view is told nothing: it could be made there.
  auto refusals = std::make_shared<int>(0);
  auto calls = std::make_shared<int>(0);
  ASSERT_TRUE(registry_.add("fickle",
                            [=](const operators::OperatorRegistry::Arguments& of)
                                -> Result<std::unique_ptr<operators::Operator>> {
                              if ((*calls)++ > 0 && *refusals > 0)
                                return Error(operators::Errc::invalid_argument, "not now");
                              return std::make_unique<test::Picky>(
                                  of.inputs[0], std::make_shared<test::Picky::Script>());
                            }));
  *refusals = 1;
  const Relation fickle =
      run(database().create_view("fickle", from(*orders_).apply("fickle"))).value();
  const Relation reader = run(database().create_view("reader", from(fickle))).value();
  EXPECT_EQ(run(database().fresh(fickle, store().version())).error().message(),
            "quarantined: view 'fickle': invalid argument: apply fickle: not now");
  EXPECT_EQ(fresh_rows(reader), "quarantined: view 'reader': it waits for 'fickle'");
  insert(*orders_, {{3, "apples", 10}});
  EXPECT_EQ(fresh_rows(*sums_), "+1 ('apples', 11)\n+1 ('pears', 2)\n");
  *refusals = 0;
  ASSERT_TRUE(run(database().resume(fickle)));
  EXPECT_EQ(fresh_rows(reader), "+1 (1, 'apples', 1)\n+1 (2, 'pears', 2)\n+1 (3, 'apples', 10)\n");
}

}  // namespace
}  // namespace weir::flow::view
