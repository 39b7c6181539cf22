#include <weir/flow/operator/series.hpp>

#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/harness.hpp>
#include <weir/tests/flow/operator/support/oracle.hpp>
#include <weir/tests/flow/operator/support/random_table.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {
namespace {

using data::Kind;
using data::Value;

using Changes = std::vector<std::pair<Row, data::Weight>>;

const data::SchemaRef readings =
    make_schema({{"id", Kind::int64, false}, {"at", Kind::int64}, {"n", Kind::int64}}, {"id"});
const data::SchemaRef bag = make_schema({{"at", Kind::date, false}});
const Plan plan = from("readings", readings).series("at");

std::string run(Graph& graph, const data::SchemaRef& schema, const Changes& changes) {
  auto result = graph.run({{"readings", make_batch(schema, changes)}});
  graph.commit();
  return result ? to_string(*result) : result.error().message();
}

TEST(Series, NumbersRowsInTheOrderInWhichTheyCame) {
  auto graph = Graph::make(plan).value();
  EXPECT_EQ(data::to_string(*graph->schema()),
            "(id int64 not null, at int64 not null, n int64, sequence uint64 not null, "
            "primary key at sequence)");
  EXPECT_TRUE(graph->needs_each_version());
  EXPECT_EQ(run(*graph, readings, {{{8, 10, 1}, 1}}), "+1 (8, 10, 1, 1)\n");
  EXPECT_EQ(run(*graph, readings, {{{3, 10, 1}, 1}, {{2, 5, 1}, 1}}),
            "+1 (2, 5, 1, 2)\n+1 (3, 10, 1, 3)\n");
  EXPECT_EQ(run(*graph, readings, {{{8, 10, 1}, -1}}), "-1 (8, 10, 1, 1)\n");
  EXPECT_EQ(run(*graph, readings, {{{9, 10, 1}, 1}}), "+1 (9, 10, 1, 4)\n");
}

TEST(Series, KeepsTheNumberOfARowThatBecomesAnother) {
  auto graph = Graph::make(plan).value();
  run(*graph, readings, {{{1, 10, 1}, 1}, {{2, 10, 1}, 1}});
  EXPECT_EQ(run(*graph, readings, {{{1, 10, 1}, -1}, {{1, 10, 5}, 1}}),
            "-1 (1, 10, 1, 1)\n+1 (1, 10, 5, 1)\n");
  EXPECT_EQ(run(*graph, readings, {{{2, 10, 1}, -1}, {{2, 99, 1}, 1}}),
            "-1 (2, 10, 1, 2)\n+1 (2, 99, 1, 2)\n");
}

TEST(Series, CannotComputeARowWithoutAKey) {
  auto failing = Graph::make(plan).value();
  EXPECT_EQ(run(*failing, readings, {{{1, Value(), 1}, 1}}),
            "row error: series: 'at': null not allowed in row (1, null, 1)");
  auto dropping = Graph::make(plan, {.row_errors = RowErrorPolicy::drop}).value();
  EXPECT_EQ(run(*dropping, readings, {{{1, Value(), 1}, 1}, {{2, 5, 1}, 1}}), "+1 (2, 5, 1, 1)\n");
  EXPECT_EQ(dropping->counts().row_errors, 1u);
  EXPECT_EQ(run(*dropping, readings, {{{1, Value(), 1}, -1}, {{1, 3, 1}, 1}}), "+1 (1, 3, 1, 2)\n");
}

TEST(Series, LosesTheNewestOfEqualRowsFirst) {
  auto graph = Graph::make(from("readings", bag).series("at", {.sequence = "n"})).value();
  const data::Date day(std::chrono::days(3));
  run(*graph, bag, {{{day}, 3}});
  EXPECT_EQ(run(*graph, bag, {{{day}, -2}}), "-1 (1970-01-04, 3)\n-1 (1970-01-04, 2)\n");
}

TEST(Series, RefusesWhatCannotBe) {
  const auto text = make_schema({{"at", Kind::text}});
  EXPECT_EQ(Graph::make(from("readings", text).series("at")).error().message(),
            "type mismatch: series: 'at' is the key of a series, so it must be int64, uint64, "
            "timestamp or date, not text");
  EXPECT_EQ(Graph::make(from("readings", bag).series("when")).error().code(),
            data::Errc::unknown_column);
  EXPECT_EQ(Graph::make(from("readings", bag).series("at", {.sequence = "at"})).error().message(),
            "duplicate column: series: at");
}

TEST(Series, EqualsItsHistoryWhateverHappens) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    data::test::RandomData random(seed);
    RandomTable table("readings", readings);
    auto graph = Graph::make(plan, {.row_errors = RowErrorPolicy::drop}).value();
    OperatorHarness harness(plan, {.row_errors = RowErrorPolicy::drop, .state_left = 1});
    History history(plan);
    Rows found;
    for (int cycle = 0; cycle < 10; ++cycle) {
      const data::ChangeBatch batch = table.change(10, random);
      harness.add("readings", batch);
      add(found, graph->run({{"readings", batch}}).value());
      graph->commit();
      ASSERT_EQ(to_string(found), to_string(history.next({{"readings", table.rows()}})))
          << "seed " << seed;
    }
    const auto checked = harness.check();
    ASSERT_TRUE(checked) << "seed " << seed << ": " << checked.error().message();
  }
}

}  // namespace
}  // namespace weir::flow::operators::test
