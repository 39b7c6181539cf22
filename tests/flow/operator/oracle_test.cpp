#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/harness.hpp>
#include <weir/tests/flow/operator/support/oracle.hpp>
#include <weir/tests/flow/operator/support/random_plan.hpp>
#include <weir/tests/flow/operator/support/random_table.hpp>

namespace weir::flow::operators::test {
namespace {

/// Random tables and a random query over them.
struct Case {
  explicit Case(std::uint64_t seed) : random(seed) {
    tables.push_back(RandomTable::make("left", 'l', 4, random));
    tables.push_back(RandomTable::make("right", 'r', 4, random));
    plan = RandomPlan(tables, random).make(6);
  }

  data::test::RandomData random;
  std::vector<RandomTable> tables;
  Plan plan = from("none", make_schema({{"id", data::Kind::int64}}));
};

void run_case(std::uint64_t seed) {
  Case c(seed);
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(c.plan));
  const Plan decoded = Plan::decode(c.plan.encode()).value();
  auto graph = Graph::make(decoded, {.row_errors = RowErrorPolicy::drop}).value();
  Rows found;
  for (int cycle = 0; cycle < 8; ++cycle) {
    std::vector<Graph::SourceChanges> changes;
    for (RandomTable& table : c.tables) {
      const bool is_read = std::ranges::any_of(
          graph->sources(), [&](const auto& source) { return source.name == table.name(); });
      if (is_read && !c.random.one_in(3))
        changes.push_back({table.name(), table.change(12, c.random)});
    }
    auto result = graph->run(changes);
    ASSERT_TRUE(result) << result.error().message();
    graph->commit();
    add(found, *result);
    const Rows expected =
        evaluate(c.plan, {{"left", c.tables[0].rows()}, {"right", c.tables[1].rows()}});
    ASSERT_EQ(to_string(found), to_string(expected)) << "cycle " << cycle;
  }
}

TEST(Oracle, EveryPlanEqualsItsQuery) {
  for (std::uint64_t seed = 0; seed < 1'000 && !testing::Test::HasFatalFailure(); ++seed)
    run_case(seed);
}

TEST(Oracle, EveryPlanPassesTheHarness) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Case c(seed);
    OperatorHarness harness(c.plan, {.row_errors = RowErrorPolicy::drop});
    const auto graph = Graph::make(c.plan).value();
    for (int cycle = 0; cycle < 4; ++cycle) {
      const auto& source = graph->sources()[c.random.below(graph->sources().size())];
      RandomTable& table = c.tables[source.name == "left" ? 0 : 1];
      harness.add(table.name(), table.change(12, c.random));
    }
    const auto checked = harness.check();
    ASSERT_TRUE(checked) << "seed " << seed << ": " << describe(c.plan) << "\n"
                         << checked.error().message();
  }
}

}  // namespace
}  // namespace weir::flow::operators::test
