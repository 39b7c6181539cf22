#include <gtest/gtest.h>

#include <weir/flow/operator/harness.hpp>
#include <weir/tests/flow/operator/support/oracle_join.hpp>
#include <weir/tests/flow/operator/support/random_changes.hpp>

namespace weir::flow::operators {
namespace {

using data::col;
using data::Kind;
using data::SchemaRef;
using data::test::RandomData;
using test::RandomChanges;
using test::Rows;

constexpr JoinKind all_kinds[] = {JoinKind::inner, JoinKind::left, JoinKind::right,
                                  JoinKind::full,  JoinKind::semi, JoinKind::anti};

SchemaRef random_side(RandomData& random, std::span<const data::DataType> key) {
  std::vector<data::Field> fields;
  for (const data::DataType type : key)
    fields.push_back({"k" + std::to_string(fields.size()), type, !random.one_in(4)});
  fields.push_back({"n", Kind::int64});
  if (random.one_in(2)) fields.push_back({"x", random.type()});
  return test::make_schema(std::move(fields));
}

struct RandomJoin {
  SchemaRef left;
  SchemaRef right;
  Join spec;
};

RandomJoin random_join(RandomData& random) {
  std::vector<data::DataType> types;
  for (std::size_t i = 1 + random.below(2); i > 0; --i) types.push_back(random.type());
  JoinOptions options{.on = {}, .kind = all_kinds[random.below(6)], .right_prefix = "r_"};
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string name = "k" + std::to_string(i);
    options.on.push_back({name, name});
  }
  if (random.one_in(2)) {
    options.condition =
        random.one_in(2) ? col("n") < col("r_n") : data::is_distinct(col("n"), col("r_n"));
  }
  return {random_side(random, types), random_side(random, types), Join(std::move(options))};
}

/// Values of keys are few and shared, so that many rows meet.
struct Sides {
  Sides(RandomData& random, const RandomJoin& join)
      : left(random, join.left, 3), right(random, join.right, 3) {
    for (std::size_t i = 0; i < join.spec.options.on.size(); ++i) right.share_values(left, i);
  }
  RandomChanges left;
  RandomChanges right;
};

TEST(JoinProperty, GivesWhatComparingAllRowsGivesAfterEveryCycle) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomData random(seed);
    const RandomJoin join = random_join(random);
    Sides sides(random, join);
    auto graph =
        Graph::make(Plan::make(join.spec, {from("l", join.left), from("r", join.right)})).value();
    Rows result;
    for (int cycle = 0; cycle < 8; ++cycle) {
      const bool is_left = random.one_in(2);
      const auto left = sides.left.next(is_left ? 6 : 0);
      const auto right = sides.right.next(is_left && random.one_in(2) ? 0 : 6);
      auto changes = graph->run({{"l", left}, {"r", right}});
      ASSERT_TRUE(changes) << changes.error().message();
      graph->commit();
      test::add(result, *changes);
      const Rows expected =
          test::evaluate(join.spec, sides.left.rows(), join.left, sides.right.rows(), join.right);
      ASSERT_TRUE(result == expected) << "cycle " << cycle << "\n"
                                      << test::to_string(result) << "instead of\n"
                                      << test::to_string(expected);
    }
  }
}

TEST(JoinProperty, KeepsWhatEveryFlowReliesOn) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomData random(seed);
    const RandomJoin join = random_join(random);
    Sides sides(random, join);
    OperatorHarness harness(Plan::make(join.spec, {from("l", join.left), from("r", join.right)}));
    for (int cycle = 0; cycle < 6; ++cycle) {
      if (random.one_in(2)) {
        harness.add("l", sides.left.next(6));
      } else {
        harness.add("r", sides.right.next(6));
      }
    }
    const auto checked = harness.check();
    ASSERT_TRUE(checked) << checked.error().message();
  }
}

const SchemaRef edges = test::make_schema({{"a", Kind::int64}, {"b", Kind::int64}});

TEST(JoinProperty, HoldsForATableJoinedWithItself) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomData random(seed);
    const Join spec(
        {.on = {{"b", "a"}},
         .kind = all_kinds[random.below(6)],
         .condition = random.one_in(2) ? std::optional(col("a") <= col("to_b")) : std::nullopt,
         .right_prefix = "to_"});
    const Plan source = from("edges", edges);
    const Plan plan = Plan::make(spec, {source, source});
    OperatorHarness harness(plan);
    RandomChanges changes(random, edges, 3);
    for (int cycle = 0; cycle < 5; ++cycle) harness.add("edges", changes.next(4));
    const auto checked = harness.check();
    ASSERT_TRUE(checked) << checked.error().message();
    Rows result;
    test::add(result, harness.result().value());
    const Rows expected = test::evaluate(spec, changes.rows(), edges, changes.rows(), edges);
    ASSERT_EQ(test::to_string(result), test::to_string(expected));
  }
}

TEST(JoinProperty, HoldsForJoinsOverJoins) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomData random(seed);
    const Join first(
        {.on = {{"b", "a"}}, .kind = all_kinds[random.below(4)], .right_prefix = "m_"});
    const Join second(
        {.on = {{"m_b", "a"}}, .kind = all_kinds[random.below(6)], .left_prefix = "l_"});
    const Plan e = from("e", edges);
    const Plan middle = Plan::make(first, {e, from("f", edges)});
    const Plan plan = Plan::make(second, {middle, random.one_in(2) ? e : e.distinct()});
    OperatorHarness harness(plan);
    RandomChanges left(random, edges, 3);
    RandomChanges right(random, edges, 3);
    for (int cycle = 0; cycle < 6; ++cycle) {
      if (random.one_in(2)) {
        harness.add("e", left.next(4));
      } else {
        harness.add("f", right.next(4));
      }
    }
    const auto checked = harness.check();
    ASSERT_TRUE(checked) << checked.error().message();
  }
}

}  // namespace
}  // namespace weir::flow::operators
