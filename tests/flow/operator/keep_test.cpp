#include <weir/flow/operator/keep.hpp>

#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/harness.hpp>
#include <weir/flow/operator/memory_state.hpp>
#include <weir/tests/flow/operator/support/oracle.hpp>
#include <weir/tests/flow/operator/support/random_events.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {
namespace {

using data::col;
using data::Kind;
using data::Timestamp;
using data::Value;
using namespace std::chrono_literals;

using Changes = std::vector<std::pair<Row, data::Weight>>;

const data::SchemaRef events = make_schema({{"n", Kind::int64}, {"at", Kind::timestamp}});
const Plan plan = from("events", events).keep(col("at"), 10s);

Timestamp at(int seconds) { return Timestamp(std::chrono::seconds(seconds)); }

std::string text(Graph& graph, Result<data::ChangeBatch> result) {
  graph.commit();
  return result ? to_string(*result) : result.error().message();
}
std::string run(Graph& graph, const Changes& changes) {
  return text(graph, graph.run({{"events", make_batch(events, changes)}}));
}

TEST(Keep, GivesRowsUntilTheyAreTooOld) {
  auto graph = Graph::make(plan).value();
  EXPECT_EQ(graph->tick_period(), 1s);
  EXPECT_FALSE(graph->needs_each_version());
  EXPECT_EQ(run(*graph, {{{1, at(5)}, 2}, {{2, at(8)}, 1}}),
            "+2 (1, 1970-01-01T00:00:05Z)\n+1 (2, 1970-01-01T00:00:08Z)\n");
  EXPECT_EQ(text(*graph, graph->tick(at(14))), "");
  EXPECT_EQ(text(*graph, graph->tick(at(15))), "-2 (1, 1970-01-01T00:00:05Z)\n");
  EXPECT_EQ(text(*graph, graph->tick(at(15))), "");
}

TEST(Keep, GoesByWatermarksAsByTheClock) {
  auto graph = Graph::make(plan).value();
  run(*graph, {{{1, at(5)}, 1}});
  EXPECT_EQ(text(*graph, graph->watermark(at(14))), "");
  EXPECT_EQ(text(*graph, graph->watermark(at(15))), "-1 (1, 1970-01-01T00:00:05Z)\n");
}

TEST(Keep, LeavesOutAndCountsRowsThatAreTooOldWhenTheyCome) {
  auto graph = Graph::make(plan).value();
  run(*graph, {{{1, at(5)}, 1}});
  text(*graph, graph->tick(at(15)));
  EXPECT_EQ(run(*graph, {{{2, at(5)}, 1}, {{3, at(6)}, 1}}), "+1 (3, 1970-01-01T00:00:06Z)\n");
  EXPECT_EQ(graph->counts().late_rows, 1u);
  EXPECT_EQ(run(*graph, {{{1, at(5)}, -1}}), "");  // it went already
  EXPECT_EQ(graph->counts().late_rows, 1u);
  EXPECT_EQ(run(*graph, {{{9, at(7)}, -1}}),
            "unknown row: keep: row (9, 1970-01-01T00:00:07Z) went more often than it came");
}

TEST(Keep, LetsSoManyGoAtOnce) {
  auto graph =
      Graph::make(from("events", events).keep(col("at"), 10s, {.tick_period = 2s, .rows_max = 2}))
          .value();
  EXPECT_EQ(graph->tick_period(), 2s);
  run(*graph, {{{1, at(1)}, 1}, {{2, at(2)}, 1}, {{3, at(2)}, 1}, {{4, at(3)}, 1}});
  EXPECT_EQ(graph->tick(at(100)).value().size(), 3u);  // rows of one time go together
  graph->commit();
  EXPECT_EQ(run(*graph, {{{5, at(3)}, 1}}), "+1 (5, 1970-01-01T00:00:03Z)\n");
  EXPECT_EQ(graph->tick(at(100)).value().size(), 2u);
}

TEST(Keep, BoundsTheStateOfWhatIsBehindIt) {
  MemoryState store;
  GraphOptions options;
  options.state.reader = &store;
  const auto groups =
      from("events", events).keep(col("at"), 10s).group_by({"n"}).aggregate({count().as("rows")});
  auto graph = Graph::make(groups, options).value();
  const auto commit = [&] {
    store.write(graph->state().writes());
    graph->commit();
  };
  for (int second = 0; second < 200; ++second) {
    ASSERT_TRUE(graph->run({{"events", make_batch(events, Changes{{{second, at(second)}, 1}})}}));
    commit();
    ASSERT_TRUE(graph->tick(at(second)));
    commit();
    ASSERT_LE(store.entries().size(), 21u);
  }
  EXPECT_EQ(to_string(graph->tick(at(208)).value()).substr(0, 12), "-1 (190, 1)\n");
  commit();
  // A group that has gone begins anew.
  EXPECT_EQ(
      to_string(graph->run({{"events", make_batch(events, Changes{{{190, at(300)}, 1}})}}).value()),
      "+1 (190, 1)\n");
}

TEST(Keep, CannotComputeARowWithoutATime) {
  auto graph = Graph::make(plan).value();
  EXPECT_EQ(run(*graph, {{{1, Value()}, 1}}),
            "row error: keep: at: null not allowed in row (1, null)");
}

TEST(Keep, RefusesWhatCannotBe) {
  const auto refusal = [](Plan refused) { return Graph::make(refused).error().message(); };
  EXPECT_EQ(refusal(from("events", events).keep(col("at"), 0s)),
            "invalid argument: keep: the age of rows must be more than nothing and less than "
            "10'000 years, not PT0S");
  EXPECT_EQ(refusal(from("events", events).keep(col("at"), 1s, {.rows_max = 0})),
            "invalid argument: keep: a row at least must go at once");
  EXPECT_EQ(Graph::make(from("events", events).keep(col("n"), 1s)).error().code(),
            data::Errc::type_mismatch);
}

TEST(Keep, GivesTheRowsThatAreYoungEnoughWhateverHappens) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    data::test::RandomData random(seed);
    RandomEvents source(false);
    const Plan kept = from("events", RandomEvents::schema())
                          .keep(col("at"), 10s, {.rows_max = 1 + random.below(50)});
    auto graph = Graph::make(kept, {.row_errors = RowErrorPolicy::drop}).value();
    OperatorHarness harness(kept, {.row_errors = RowErrorPolicy::drop, .state_left = 1});
    Rows found;
    Value gone_until;
    for (int cycle = 0; cycle < 15; ++cycle) {
      data::ChangeBatch given(RandomEvents::schema());
      if (random.one_in(3)) {
        const Timestamp now = at(static_cast<int>(random.below(40)) - 15);
        harness.add_tick(now);
        given = graph->tick(now).value();
        for (std::size_t row = 0; row < given.size(); ++row) {
          EXPECT_LE(given.row(row)[1].as<Timestamp>(), now - 10s);
          gone_until = std::max(gone_until, given.row(row)[1]);
        }
      } else {
        const data::ChangeBatch batch = source.change(10, random);
        harness.add("events", batch);
        given = graph->run({{"events", batch}}).value();
      }
      graph->commit();
      add(found, given);
      Rows expected = source.rows();
      std::erase_if(expected, [&](const auto& row) {
        return row.first[1].is_null() || row.first[1] <= gone_until;
      });
      ASSERT_EQ(to_string(found), to_string(expected)) << "seed " << seed;
    }
    const auto checked = harness.check();
    ASSERT_TRUE(checked) << "seed " << seed << ": " << checked.error().message();
  }
}

}  // namespace
}  // namespace weir::flow::operators::test
