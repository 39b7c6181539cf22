#include <weir/flow/operator/plan.hpp>

#include <gtest/gtest.h>

#include <weir/flow/operator/aggregate.hpp>
#include <weir/flow/operator/apply.hpp>
#include <weir/flow/operator/gate.hpp>
#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/join.hpp>
#include <weir/flow/operator/row_number.hpp>
#include <weir/flow/operator/source.hpp>
#include <weir/flow/operator/top.hpp>
#include <weir/tests/flow/operator/support/random_plan.hpp>
#include <weir/tests/flow/operator/support/random_table.hpp>

namespace weir::flow::operators::test {
namespace {

TEST(Plan, IsTheSameAfterItWasBytes) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    data::test::RandomData random(seed);
    const std::vector<RandomTable> tables{RandomTable::make("left", 'l', 4, random),
                                          RandomTable::make("right", 'r', 4, random)};
    const Plan plan = RandomPlan(tables, random).make(6);
    const std::string bytes = plan.encode();
    const Plan decoded = Plan::decode(bytes).value();
    ASSERT_EQ(describe(decoded), describe(plan)) << "seed " << seed;
    ASSERT_EQ(decoded.encode(), bytes);
  }
}

TEST(Plan, OfChangedBytesIsRefusedOrCanBeMade) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    data::test::RandomData random(seed);
    const std::vector<RandomTable> tables{RandomTable::make("left", 'l', 3, random),
                                          RandomTable::make("right", 'r', 3, random)};
    const std::string bytes = RandomPlan(tables, random).make(4).encode();
    for (int change = 0; change < 100; ++change) {
      std::string changed = bytes;
      for (std::uint64_t count = 1 + random.below(3); count > 0; --count)
        changed[random.below(changed.size())] = static_cast<char>(random.below(256));
      const auto decoded = Plan::decode(changed);
      if (!decoded) continue;
      const auto graph = Graph::make(*decoded);
      if (graph) (void)(*graph)->run({});
    }
  }
}

/// A spec with everything that can be said about it, after it was bytes.
template <class Spec>
Spec reread(const Plan& plan) {
  const Plan decoded = Plan::decode(plan.encode()).value();
  return dynamic_cast<const Spec&>(decoded.spec());
}

TEST(Plan, KeepsEveryOptionOfEveryOperator) {
  const auto schema = make_schema({{"id", data::Kind::int64, false},
                                   {"price", data::DataType::decimal(7)},
                                   {"note", data::Kind::text}},
                                  {"id"});
  const Plan source = from("a", schema);
  const auto read_source = reread<Source>(source);
  EXPECT_EQ(read_source.source, "a");
  EXPECT_EQ(*read_source.schema, *schema);

  const auto join = reread<Join>(source.join(source, {.on = {{"id", "id"}, "note"},
                                                      .kind = JoinKind::anti,
                                                      .condition = data::col("lid") > 1,
                                                      .left_prefix = "l",
                                                      .right_prefix = "r"}));
  ASSERT_EQ(join.options.on.size(), 2u);
  EXPECT_EQ(to_string(join.options.on[1].right.value), "note");
  EXPECT_EQ(join.options.kind, JoinKind::anti);
  EXPECT_EQ(to_string(join.options.condition.value()), "(lid > 1)");
  EXPECT_EQ(join.options.left_prefix + join.options.right_prefix, "lr");

  const auto top = reread<Top>(source.top(
      ~std::uint64_t{0}, {.per = {"note"}, .order = {ascending("id"), descending("id")}}));
  EXPECT_EQ(top.count, ~std::uint64_t{0});
  EXPECT_EQ(top.options.per, std::vector<std::string>{"note"});
  ASSERT_EQ(top.options.order.size(), 2u);
  EXPECT_FALSE(top.options.order[0].is_descending);
  EXPECT_TRUE(top.options.order[1].is_descending);
  EXPECT_EQ(reread<RowNumber>(source.row_number("n", {.per = {"id"}})).column, "n");

  const auto aggregate = reread<Aggregate>(
      source.group_by({{"g", data::col("id") + 1}})
          .aggregate(
              {last(data::col("note"), by(data::col("id"))).filter(data::col("id") > 1).as("l"),
               count()}));
  EXPECT_EQ(aggregate.groups[0].name, "g");
  EXPECT_EQ(to_string(aggregate.columns[0]), "last(note by id) where (id > 1)");
  EXPECT_EQ(aggregate.columns[0].name, "l");
  EXPECT_EQ(to_string(aggregate.columns[1]), "count()");

  EXPECT_EQ(to_string(reread<Gate>(source.gate(data::col("id") > 1)).condition), "(id > 1)");
  const auto apply = reread<Apply>(source.apply("mine", {1, "x", data::Value()}));
  EXPECT_EQ(apply.operator_name, "mine");
  EXPECT_EQ(apply.parameters, (std::vector<data::Value>{1, "x", {}}));
}

TEST(Plan, RefusesBytesThatAreCutOrChanged) {
  const auto schema = make_schema({{"id", data::Kind::int64, false}}, {"id"});
  const std::string bytes = from("a", schema)
                                .filter(data::col("id") > 5)
                                .apply("mine", {data::Value(1), data::Value("x")})
                                .append({from("a", schema)})
                                .encode();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(Plan::decode(bytes.substr(0, size))) << size;
  EXPECT_FALSE(Plan::decode(bytes + "x"));
  // Whatever it makes of them, it comes back.
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      (void)Plan::decode(changed);
    }
  }
}

}  // namespace
}  // namespace weir::flow::operators::test
