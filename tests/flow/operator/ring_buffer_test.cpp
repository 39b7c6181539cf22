#include <weir/flow/operator/ring_buffer.hpp>

#include <functional>

#include <gtest/gtest.h>

#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/harness.hpp>
#include <weir/tests/flow/operator/support/oracle.hpp>
#include <weir/tests/flow/operator/support/random_changes.hpp>
#include <weir/tests/flow/operator/support/random_table.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {
namespace {

using data::col;
using data::Kind;

using Changes = std::vector<std::pair<Row, data::Weight>>;

const data::SchemaRef keyed = make_schema({{"id", Kind::int64, false}, {"n", Kind::int64}}, {"id"});
const data::SchemaRef bag = make_schema({{"n", Kind::int64}});

std::string run(Graph& graph, const data::SchemaRef& schema, const Changes& changes) {
  auto result = graph.run({{"rows", make_batch(schema, changes)}});
  graph.commit();
  return result ? to_string(*result) : result.error().message();
}

TEST(RingBuffer, KeepsTheLastRowsAndRemovesTheOldest) {
  auto graph = Graph::make(from("rows", keyed).ring_buffer(2)).value();
  EXPECT_EQ(data::to_string(*graph->schema()),
            "(position uint64 not null, id int64 not null, n int64, primary key position)");
  EXPECT_TRUE(graph->needs_each_version());
  EXPECT_EQ(run(*graph, keyed, {{{7, 1}, 1}}), "+1 (1, 7, 1)\n");
  EXPECT_EQ(run(*graph, keyed, {{{5, 1}, 1}}), "+1 (2, 5, 1)\n");
  EXPECT_EQ(run(*graph, keyed, {{{6, 1}, 1}}), "-1 (1, 7, 1)\n+1 (3, 6, 1)\n");
}

TEST(RingBuffer, NumbersTheRowsOfACommitInOrderOfTheirKey) {
  auto graph = Graph::make(from("rows", keyed).ring_buffer(9)).value();
  EXPECT_EQ(run(*graph, keyed, {{{7, 1}, 1}, {{5, 3}, 1}, {{6, 2}, 1}}),
            "+1 (1, 5, 3)\n+1 (2, 6, 2)\n+1 (3, 7, 1)\n");
}

TEST(RingBuffer, KeepsThePositionOfARowThatBecomesAnother) {
  auto graph = Graph::make(from("rows", keyed).ring_buffer(2)).value();
  run(*graph, keyed, {{{1, 1}, 1}, {{2, 1}, 1}});
  EXPECT_EQ(run(*graph, keyed, {{{1, 1}, -1}, {{1, 5}, 1}}), "-1 (1, 1, 1)\n+1 (1, 1, 5)\n");
  // What is evicted in the commit that changes it goes as what it was.
  EXPECT_EQ(run(*graph, keyed, {{{1, 5}, -1}, {{1, 6}, 1}, {{3, 1}, 1}}),
            "-1 (1, 1, 5)\n+1 (3, 3, 1)\n");
}

TEST(RingBuffer, LosesARowThatGoesAndNeverGivesItsPositionAgain) {
  auto graph = Graph::make(from("rows", keyed).ring_buffer(2)).value();
  run(*graph, keyed, {{{1, 1}, 1}, {{2, 1}, 1}});
  EXPECT_EQ(run(*graph, keyed, {{{2, 1}, -1}}), "-1 (2, 2, 1)\n");
  EXPECT_EQ(run(*graph, keyed, {{{3, 1}, 1}}), "+1 (3, 3, 1)\n");
  EXPECT_EQ(run(*graph, keyed, {{{1, 1}, -1}, {{3, 1}, -1}}), "-1 (1, 1, 1)\n-1 (3, 3, 1)\n");
  EXPECT_EQ(run(*graph, keyed, {{{4, 1}, 1}}), "+1 (4, 4, 1)\n");
}

TEST(RingBuffer, KnowsNothingOfRowsThatWereEvicted) {
  auto graph = Graph::make(from("rows", keyed).ring_buffer(1)).value();
  run(*graph, keyed, {{{1, 1}, 1}});
  run(*graph, keyed, {{{2, 1}, 1}});
  EXPECT_EQ(run(*graph, keyed, {{{1, 1}, -1}, {{1, 2}, 1}}), "");
  EXPECT_EQ(run(*graph, keyed, {{{1, 2}, -1}}), "");
  EXPECT_EQ(run(*graph, keyed, {{{1, 3}, 1}}), "-1 (2, 2, 1)\n+1 (3, 1, 3)\n");
}

TEST(RingBuffer, CountsRowsOfACommitThatHaveNoRoom) {
  auto graph = Graph::make(from("rows", bag).ring_buffer(2)).value();
  run(*graph, bag, {{{9}, 1}});
  EXPECT_EQ(run(*graph, bag, {{{1}, 2}, {{2}, 1}, {{3}, 1}}), "-1 (1, 9)\n+1 (4, 2)\n+1 (5, 3)\n");
  EXPECT_EQ(graph->state().writes().size(), 0u);
}

TEST(RingBuffer, LosesTheNewestOfEqualRowsFirst) {
  auto graph = Graph::make(from("rows", bag).ring_buffer(4)).value();
  run(*graph, bag, {{{1}, 3}});
  EXPECT_EQ(run(*graph, bag, {{{1}, -2}}), "-1 (3, 1)\n-1 (2, 1)\n");
}

TEST(RingBuffer, TakesAnUpdateThatComesInPiecesAsOne) {
  auto graph = Graph::make(from("rows", keyed).ring_buffer(2)).value();
  run(*graph, keyed, {{{1, 1}, 1}, {{2, 1}, 1}});
  const auto goes = make_batch(keyed, Changes{{{1, 1}, -1}});
  const auto comes = make_batch(keyed, Changes{{{1, 2}, 1}});
  EXPECT_EQ(to_string(graph->run({{"rows", goes}, {"rows", comes}}).value()),
            "-1 (1, 1, 1)\n+1 (1, 1, 2)\n");
}

TEST(RingBuffer, RefusesWhatCannotBe) {
  EXPECT_EQ(Graph::make(from("rows", bag).ring_buffer(0)).error().message(),
            "invalid argument: ring_buffer: there must be room for a row");
  EXPECT_EQ(Graph::make(from("rows", bag).ring_buffer(1, {.position = "n"})).error().message(),
            "duplicate column: ring_buffer: n");
  auto graph = Graph::make(from("rows", keyed).ring_buffer(2)).value();
  EXPECT_EQ(run(*graph, keyed, {{{1, 1}, 1}, {{1, 2}, 1}}),
            "unknown row: ring_buffer: two rows with one primary key: (1, 2)");
  auto other = Graph::make(from("rows", keyed).ring_buffer(2)).value();
  run(*other, keyed, {{{1, 1}, 1}});
  EXPECT_EQ(run(*other, keyed, {{{1, 1}, -2}}),
            "unknown row: ring_buffer: two rows with one primary key: (1, 1)");
}

template <class Table>
void compare_with_history(const Plan& plan, Table& table,
                          const std::function<data::ChangeBatch(Table&)>& change) {
  auto graph = Graph::make(plan).value();
  OperatorHarness harness(plan, {.state_left = 1});
  History history(plan);
  Rows found;
  for (int cycle = 0; cycle < 12; ++cycle) {
    const data::ChangeBatch batch = change(table);
    harness.add("rows", batch);
    add(found, graph->run({{"rows", batch}}).value());
    graph->commit();
    ASSERT_EQ(to_string(found), to_string(history.next({{"rows", table.rows()}})))
        << "cycle " << cycle;
  }
  const auto checked = harness.check();
  ASSERT_TRUE(checked) << checked.error().message();
}

TEST(RingBuffer, EqualsItsHistoryWhateverHappens) {
  for (std::uint64_t seed = 0; seed < 100 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    data::test::RandomData random(seed);
    RandomTable table("rows", keyed);
    compare_with_history<RandomTable>(
        from("rows", keyed).ring_buffer(1 + random.below(20)), table,
        [&](RandomTable& changing) { return changing.change(10, random); });
    RandomChanges changes(random, make_schema({{"a", Kind::int64}, {"b", Kind::text}}));
    compare_with_history<RandomChanges>(
        from("rows", changes.schema()).ring_buffer(1 + random.below(20)), changes,
        [](RandomChanges& changing) { return changing.next(10); });
  }
}

}  // namespace
}  // namespace weir::flow::operators::test
