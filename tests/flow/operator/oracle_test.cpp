#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/harness.hpp>
#include <weir/tests/flow/operator/support/oracle.hpp>
#include <weir/tests/flow/operator/support/random_plan.hpp>
#include <weir/tests/flow/operator/support/random_table.hpp>
#include <weir/tests/runtime/support/scaled.hpp>
#include <weir/tests/storage/support/long_run.hpp>

namespace weir::flow::operators::test {
namespace {

using storage::test::seeds;

/// Random tables and a random query over them.
struct Case {
  Case(std::uint64_t seed, PlanKind kind) : random(seed) {
    tables.push_back(RandomTable::make("left", 'l', 4, random));
    tables.push_back(RandomTable::make("right", 'r', 4, random));
    plan = RandomPlan(tables, random, kind).make(6);
  }
  std::map<std::string, Rows> rows() const {
    return {{"left", tables[0].rows()}, {"right", tables[1].rows()}};
  }

  data::test::RandomData random;
  std::vector<RandomTable> tables;
  Plan plan = from("none", make_schema({{"id", data::Kind::int64}}));
};

/// Compares the result of each cycle with the oracle.
void run_case(std::uint64_t seed, PlanKind kind) {
  Case c(seed, kind);
  History history(c.plan);
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
        kind == PlanKind::plain ? evaluate(c.plan, c.rows()) : history.next(c.rows());
    ASSERT_EQ(to_string(found), to_string(expected)) << "cycle " << cycle;
  }
}

/// Operators of the plan that remember the last number they gave.
std::set<const Plan::Node*> numberings(const Plan& plan) {
  std::set<const Plan::Node*> found;
  if (plan.spec().name() == "ring_buffer" || plan.spec().name() == "series")
    found.insert(&plan.node());
  for (const Plan& input : plan.node().inputs) found.merge(numberings(input));
  return found;
}

/// Whether nothing in it is final.
bool is_retractable(const Plan& plan) {
  const auto* window = dynamic_cast<const Window*>(&plan.spec());
  return (window == nullptr || !window->closes()) &&
         std::ranges::all_of(plan.node().inputs, is_retractable);
}

TEST(Oracle, EveryPlanEqualsItsQuery) {
  for (const std::uint64_t seed : seeds(weir::testing::scaled(2'000))) {
    run_case(seed, PlanKind::plain);
    if (::testing::Test::HasFatalFailure()) break;
  }
}

TEST(Oracle, EveryPlanThatDependsOnHistoryEqualsIt) {
  for (const std::uint64_t seed : seeds(weir::testing::scaled(2'000))) {
    run_case(seed, PlanKind::historical);
    if (::testing::Test::HasFatalFailure()) break;
  }
}

TEST(Oracle, EveryPlanPassesTheHarness) {
  for (const std::uint64_t seed : seeds(400)) {
    Case c(seed, seed % 2 == 0 ? PlanKind::plain : PlanKind::historical);
    OperatorHarness harness(c.plan, {.row_errors = RowErrorPolicy::drop,
                                     .is_retractable = is_retractable(c.plan),
                                     .state_left = numberings(c.plan).size()});
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
