#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <weir/flow/operator/operator_registry.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/flow/view/support/heart.hpp>

namespace weir::flow::view {
namespace {

using namespace std::chrono_literals;
using data::Kind;
using data::Value;
using operators::test::make_schema;

using test::Heart;

class TickTest : public ::testing::Test {
 protected:
  TickTest() {
    EXPECT_TRUE(registry_.add("heart", [this](const operators::OperatorRegistry::Arguments&) {
      return Result<std::unique_ptr<operators::Operator>>(std::make_unique<Heart>(failures_));
    }));
    store_.emplace(
        storage::Store::open(simulation_.system(),
                             {.opened_at = std::chrono::sys_time<Duration>(24h * 20'000),
                              .disk = std::make_shared<storage::engine::SimulatedDisk>()})
            .value());
    database_.emplace(simulation_
                          .run(Database::open(&*store_, {.library = {.operators = &registry_},
                                                         .retry_backoff = 1ms}))
                          .value());
    const auto schema = make_schema({{"id", Kind::int64, false}}, {"id"});
    const Relation table = run(database_->create_table("table", schema)).value();
    beats_ = run(database_->create_view("beats", from(table).apply("heart"))).value();
    after_ = run(database_->create_view("after", from(*beats_).distinct())).value();
    EXPECT_TRUE(run(database_->fresh(*after_, store_->version())));
  }

  template <class T>
  T run(Task<T> task) {
    return simulation_.run(std::move(task));
  }
  std::string rows_of(const Relation& view) {
    Snapshot snapshot = database_->read();
    RowScan scan = snapshot.scan(view);
    const auto rows = run(scan.next());
    return rows ? to_string(*rows) : rows.error().message();
  }

  Simulation simulation_;
  std::shared_ptr<int> failures_ = std::make_shared<int>(0);
  operators::OperatorRegistry registry_;
  std::optional<storage::Store> store_;
  std::optional<Database> database_;
  std::optional<Relation> beats_;
  std::optional<Relation> after_;
};

TEST_F(TickTest, ComesOncePerPeriodWithoutDriftAndReachesWhoReadsTheView) {
  simulation_.run_for(95ms);
  EXPECT_EQ(rows_of(*beats_), "+1 (9)\n");
  EXPECT_EQ(rows_of(*after_), "+1 (9)\n");
  simulation_.run_for(100ms);
  EXPECT_EQ(rows_of(*after_), "+1 (19)\n");
}

TEST_F(TickTest, ComesAgainAfterItHasFailed) {
  simulation_.run_for(15ms);
  ASSERT_EQ(rows_of(*beats_), "+1 (1)\n");
  *failures_ = 2;
  // Tried at 20, 21 and 23 ms: a failure costs no period.
  simulation_.run_for(10ms);
  EXPECT_EQ(*failures_, 0);
  EXPECT_EQ(rows_of(*beats_), "+1 (2)\n");
  simulation_.run_for(90ms);
  EXPECT_EQ(rows_of(*beats_), "+1 (11)\n");
  EXPECT_EQ(rows_of(*beats_), rows_of(*after_));
  EXPECT_EQ(database_->status(*beats_)->phase, ViewPhase::live);
}

TEST_F(TickTest, ComesNoMoreWhenItsViewIsDropped) {
  simulation_.run_for(15ms);
  ASSERT_TRUE(run(database_->drop_view("after")));
  ASSERT_TRUE(run(database_->drop_view("beats")));
  simulation_.run_for(20ms);
  const storage::Version version = store_->version();
  simulation_.run_for(1s);
  EXPECT_EQ(store_->version(), version);
}

TEST_F(TickTest, ComesWhenTheDatabaseIsOpenedHoweverShortItIsOpen) {
  for (int opened = 0; opened < 3; ++opened) {
    ASSERT_TRUE(run(database_->close()));
    database_.emplace(
        run(Database::open(&*store_, {.library = {.operators = &registry_}})).value());
    beats_ = run(database_->relation("beats")).value();
    simulation_.run_for(5ms);
  }
  EXPECT_EQ(rows_of(*beats_), "+1 (3)\n");
}

}  // namespace
}  // namespace weir::flow::view
