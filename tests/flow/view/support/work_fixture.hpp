#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/operator/operator_registry.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/tests/flow/view/support/heart.hpp>
#include <weir/tests/flow/view/support/view_fixture.hpp>

namespace weir::flow::view::test {

using namespace std::chrono_literals;

/// A database under simulation, where it is counted how much is done.
class WorkTest : public ::testing::Test {
 protected:
  explicit WorkTest(SimulationOptions simulation = {}, DatabaseOptions options = {},
                    storage::Durability durability = {})
      : simulation_(std::move(simulation)) {
    EXPECT_TRUE(registry_.add("heart", [this](const operators::OperatorRegistry::Arguments&) {
      return Result<std::unique_ptr<operators::Operator>>(std::make_unique<Heart>(failures_));
    }));
    EXPECT_TRUE(registry_.add("picky", [this](const operators::OperatorRegistry::Arguments& of) {
      return Result<std::unique_ptr<operators::Operator>>(
          std::make_unique<Picky>(of.inputs[0], script_));
    }));
    options.library = {.operators = &registry_};
    store_.emplace(
        storage::Store::open(simulation_.system(),
                             {.durability = durability,
                              .retention = {.history = 100h, .log = 100h},
                              .opened_at = std::chrono::sys_time<Duration>(24h * 20'000),
                              .disk = std::make_shared<storage::engine::SimulatedDisk>()})
            .value());
    database_.emplace(run(Database::open(&*store_, options)).value());
  }

  template <class T>
  T run(Task<T> task) {
    return simulation_.run(std::move(task));
  }
  Relation make_table(const std::string& name) {
    return run(database_->create_table(name, orders_schema)).value();
  }
  storage::Version insert(const Relation& table, const std::vector<Row>& rows) {
    auto transaction = database_->begin();
    for (const Row& row : rows) run(transaction.insert(table, row)).value();
    return run(transaction.commit()).value();
  }
  void settle(const Relation& view) { ASSERT_TRUE(run(database_->fresh(view, store_->version()))); }
  std::string rows_of(const Relation& view) {
    Snapshot snapshot = database_->read();
    RowScan scan = snapshot.scan(view);
    const auto rows = run(scan.next());
    return rows ? to_string(*rows) : rows.error().message();
  }
  storage::Version checkpoint() {
    auto transaction = store_->begin();
    return transaction.checkpoint("weir.flow").blocking().value()->version;
  }
  std::uint64_t cycles_of(const Relation& view) { return database_->status(view)->counts.cycles; }

  Simulation simulation_;
  std::shared_ptr<int> failures_ = std::make_shared<int>(0);
  std::shared_ptr<Picky::Script> script_ = std::make_shared<Picky::Script>();
  operators::OperatorRegistry registry_;
  std::optional<storage::Store> store_;
  std::optional<Database> database_;
};

struct WriteOn {};

/// Commits as fast as it can, until it is over.
class Busy final : public Actor<WriteOn> {
 public:
  Busy(const Database* database, Relation table, std::shared_ptr<const bool> is_over)
      : database_(database), table_(std::move(table)), is_over_(std::move(is_over)) {}
  Task<> on(WriteOn) {
    for (int id = 0; !*is_over_; ++id) {
      auto transaction = database_->begin();
      if (!co_await transaction.insert(table_, {id, "apples", id})) co_return;
      if (!co_await transaction.commit()) co_return;
    }
  }

 private:
  const Database* database_;
  Relation table_;
  std::shared_ptr<const bool> is_over_;
};

/// Everything takes time.
class BusyTest : public WorkTest {
 protected:
  explicit BusyTest(DatabaseOptions options = {})
      : WorkTest({.faults = {.message_time_max = 200us}}, options) {}
  /// Messages take so long, the disk another time, and commits do not wait for that.
  BusyTest(Duration message_time_max, Duration blocking_time_max, DatabaseOptions options)
      : WorkTest({.blocking_time_max = blocking_time_max,
                  .faults = {.message_time_max = message_time_max}},
                 options, storage::Durability::memory()) {}
  ~BusyTest() override { end_writing(); }
  void end_writing() {
    *is_over_ = true;
    simulation_.run_for(1s);
  }
  void begin_writing(const Relation& table) {
    simulation_.system().spawn<Busy>(&*database_, table, is_over_).send<WriteOn>();
  }

 private:
  std::shared_ptr<bool> is_over_ = std::make_shared<bool>(false);
};

}  // namespace weir::flow::view::test
