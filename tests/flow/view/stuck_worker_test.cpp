// An operator that does not come back, and the views that it has nothing to do with.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/operator/operator_registry.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/storage/store.hpp>
#include <weir/tests/flow/view/support/view_fixture.hpp>

namespace weir::flow::view {
namespace {

using namespace std::chrono_literals;

/// Does not come back for a long time, if it is told so.
class Stuck final : public operators::Operator {
 public:
  Stuck(data::SchemaRef schema, std::shared_ptr<bool> is_on)
      : Operator(std::move(schema)), is_on_(std::move(is_on)) {}
  Result<> apply(const operators::Input& input, operators::Output& out) override {
    // Once more where it may wait, and that takes its time.
    if (*is_on_) return Error(operators::Errc::would_block);
    out.emit(input.batch);
    return {};
  }

 private:
  std::shared_ptr<bool> is_on_;
};

TEST(StuckWorker, HoldsNobodyElseUp) {
  const auto is_on = std::make_shared<bool>(false);
  operators::OperatorRegistry registry;
  ASSERT_TRUE(registry.add("stuck", [&](const operators::OperatorRegistry::Arguments& of) {
    return Result<std::unique_ptr<operators::Operator>>(
        std::make_unique<Stuck>(of.inputs[0], is_on));
  }));
  SimulationOptions options;
  options.blocking_time_max = 6s;
  Simulation simulation(options);
  const auto run = [&](auto task) { return simulation.run(std::move(task)); };
  storage::Store store = storage::Store::open(simulation.system(), {}).value();
  Database database =
      run(Database::open(
              &store, {.workers = 2, .library = {.operators = &registry}, .cycle_deadline = 10s}))
          .value();
  const auto make_table = [&](const std::string& name) {
    return run(database.create_table(name, test::orders_schema)).value();
  };
  const auto make_view = [&](const std::string& name, const operators::Plan& plan) {
    return run(database.create_view(name, plan)).value();
  };
  const auto insert = [&](const Relation& table, int id) {
    auto transaction = database.begin();
    run(transaction.insert(table, {id, "apples", 1})).value();
    return run(transaction.commit()).value();
  };
  // All on one worker, which is busy with them for ten minutes.
  const Relation slow = make_table("slow");
  const Relation source = make_view("source", from(slow));
  std::vector<Relation> stuck;
  for (int number = 0; number < 200; ++number)
    stuck.push_back(make_view("stuck" + std::to_string(number), from(source).apply("stuck")));
  const Relation quick = make_table("quick");
  const Relation all = make_view("all", from(quick));
  for (const Relation& view : stuck) ASSERT_TRUE(run(database.fresh(view, store.version())));
  ASSERT_TRUE(run(database.fresh(all, store.version())));
  *is_on = true;
  insert(slow, 1);
  for (int id = 1; id <= 10; ++id) {
    const TimePoint began = simulation.now();
    ASSERT_TRUE(run(database.fresh(all, insert(quick, id))));
    EXPECT_LT(simulation.now() - began, 60s) << id;
  }
  EXPECT_GT(database.status(stuck.back())->failures, 0u);
  EXPECT_EQ(database.status(all)->counts.failures, 0u);
}

}  // namespace
}  // namespace weir::flow::view
