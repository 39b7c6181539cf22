#include <weir/flow/operator/gate.hpp>

#include <map>

#include <gtest/gtest.h>

#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/harness.hpp>
#include <weir/tests/flow/operator/support/random_table.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {
namespace {

using data::col;
using data::Kind;
using data::Value;

const data::SchemaRef sensors =
    make_schema({{"id", Kind::int64, false}, {"value", Kind::int64}}, {"id"});
const Plan plan = from("sensors", sensors).gate(col("value") > 10);

std::string run(Graph& graph, const std::vector<std::pair<Row, data::Weight>>& changes) {
  auto result = graph.run({{"sensors", make_batch(sensors, changes)}});
  graph.commit();
  return result ? to_string(*result) : result.error().message();
}

TEST(Gate, LetsARowPassFromWhenItsConditionWasTrueUntilItGoes) {
  auto graph = Graph::make(plan).value();
  EXPECT_EQ(run(*graph, {{{1, 5}, 1}}), "");
  EXPECT_EQ(run(*graph, {{{1, 5}, -1}, {{1, 20}, 1}}), "+1 (1, 20)\n");
  EXPECT_EQ(run(*graph, {{{1, 20}, -1}, {{1, 3}, 1}}), "-1 (1, 20)\n+1 (1, 3)\n");
  EXPECT_EQ(run(*graph, {{{1, 3}, -1}}), "-1 (1, 3)\n");
  EXPECT_EQ(run(*graph, {{{1, 4}, 1}}), "");  // it is closed again
  EXPECT_TRUE(graph->needs_each_version());
}

TEST(Gate, TakesAnUpdateThatComesInPiecesAsOne) {
  auto graph = Graph::make(plan).value();
  run(*graph, {{{1, 20}, 1}});
  using Changes = std::vector<std::pair<Row, data::Weight>>;
  const auto goes = make_batch(sensors, Changes{{{1, 20}, -1}});
  const auto comes = make_batch(sensors, Changes{{{1, 3}, 1}});
  EXPECT_EQ(to_string(graph->run({{"sensors", goes}, {"sensors", comes}}).value()),
            "-1 (1, 20)\n+1 (1, 3)\n");
}

TEST(Gate, StaysClosedForNull) {
  auto graph = Graph::make(plan).value();
  EXPECT_EQ(run(*graph, {{{1, Value()}, 1}}), "");
}

TEST(Gate, RefusesRowsWithoutAPrimaryKey) {
  const auto bag = make_schema({{"value", Kind::int64}});
  EXPECT_EQ(Graph::make(from("bag", bag).gate(col("value") > 1)).error().message(),
            "wrong schema: gate: a gate needs rows with a primary key");
}

/// What a gate gives, from all that ever happened.
class Latches {
 public:
  void apply(const data::ChangeBatch& batch) {
    std::map<Value, Row> after;
    std::map<Value, bool> goes;
    const data::ChangeBatch net = batch.consolidated();
    for (std::size_t row = 0; row < net.size(); ++row) {
      if (net.weights()[row] > 0) after[net.row(row)[0]] = net.row(row);
      goes.try_emplace(net.row(row)[0], true);
    }
    for (const auto& [id, unused] : goes) {
      const auto at = after.find(id);
      if (at == after.end()) {
        open_.erase(id);
      } else if (open_.contains(id) || at->second[1] > Value(10)) {
        open_[id] = at->second;
      }
    }
  }
  Rows rows() const {
    Rows rows;
    for (const auto& [id, row] : open_) rows.emplace(row, 1);
    return rows;
  }

 private:
  std::map<Value, Row> open_;
};

TEST(Gate, IsALatchWhateverHappens) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    data::test::RandomData random(seed);
    RandomTable table("sensors", sensors);
    auto graph = Graph::make(plan).value();
    OperatorHarness harness(plan);
    Latches latches;
    Rows found;
    for (int cycle = 0; cycle < 10; ++cycle) {
      const data::ChangeBatch batch = table.change(10, random);
      harness.add("sensors", batch);
      latches.apply(batch);
      add(found, graph->run({{"sensors", batch}}).value());
      graph->commit();
      ASSERT_EQ(to_string(found), to_string(latches.rows())) << "seed " << seed;
    }
    const auto checked = harness.check();
    ASSERT_TRUE(checked) << "seed " << seed << ": " << checked.error().message();
  }
}

}  // namespace
}  // namespace weir::flow::operators::test
