#include <weir/flow/operator/top.hpp>

#include <gtest/gtest.h>

#include <weir/flow/operator/graph.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators {
namespace {

using data::ChangeBatch;
using data::col;
using data::Kind;
using data::SchemaRef;
using data::Value;

const SchemaRef sales = test::make_schema(
    {{"id", Kind::int64, false}, {"city", Kind::text}, {"amount", Kind::int64}}, {"id"});

using Changes = std::vector<std::pair<test::Row, data::Weight>>;

/// Runs one cycle after the other.
class Runner {
 public:
  explicit Runner(const Plan& plan) : graph_(Graph::make(plan).value()) {}

  std::string run(const Changes& changes) {
    auto result = graph_->run({{"sales", test::make_batch(sales, changes)}});
    if (!result) return result.error().message();
    graph_->commit();
    return to_string(*result);
  }

 private:
  std::unique_ptr<Graph> graph_;
};

const Plan source = from("sales", sales);

std::string schema_of(const Plan& plan) {
  auto graph = Graph::make(plan);
  return graph ? to_string(*(*graph)->schema()) : graph.error().message();
}

TEST(Top, KeepsTheFirstRowsOfEachGroup) {
  Runner runner(source.top(2, {.per = {"city"}, .order = {descending("amount")}}));
  EXPECT_EQ(runner.run({{{1, "Rom", 5}, 1}, {{2, "Rom", 7}, 1}, {{3, "Ulm", 1}, 1}}),
            "+1 (2, 'Rom', 7)\n+1 (1, 'Rom', 5)\n+1 (3, 'Ulm', 1)\n");
  EXPECT_EQ(runner.run({{{4, "Rom", 6}, 1}}), "+1 (4, 'Rom', 6)\n-1 (1, 'Rom', 5)\n");
  EXPECT_EQ(runner.run({{{5, "Rom", 2}, 1}}), "");
  EXPECT_EQ(runner.run({{{2, "Rom", 7}, -1}}), "-1 (2, 'Rom', 7)\n+1 (1, 'Rom', 5)\n");
}

TEST(Top, CountsARowAsOftenAsItCame) {
  Runner runner(source.take(3, {ascending("amount")}));
  EXPECT_EQ(runner.run({{{1, "Rom", 5}, 2}, {{2, "Rom", 7}, 2}}),
            "+2 (1, 'Rom', 5)\n+1 (2, 'Rom', 7)\n");
  EXPECT_EQ(runner.run({{{1, "Rom", 5}, -1}}), "-1 (1, 'Rom', 5)\n+1 (2, 'Rom', 7)\n");
}

TEST(Top, OrdersNullsBeforeAllValues) {
  Runner first(source.take(1, {ascending("amount")}));
  EXPECT_EQ(first.run({{{1, "Rom", -5}, 1}, {{2, "Rom", Value()}, 1}}), "+1 (2, 'Rom', null)\n");
  Runner last(source.take(1, {descending("amount")}));
  EXPECT_EQ(last.run({{{1, "Rom", -5}, 1}, {{2, "Rom", Value()}, 1}}), "+1 (1, 'Rom', -5)\n");
}

TEST(Top, OrdersRowsThatAreEqualByAllColumns) {
  Runner runner(source.take(1, {descending("amount")}));
  EXPECT_EQ(runner.run({{{2, "Rom", 5}, 1}, {{1, "Ulm", 5}, 1}}), "+1 (1, 'Ulm', 5)\n");
}

TEST(Top, OrdersByExpressionsAndLongTextsInBothDirections) {
  Runner longest(source.take(1, {descending(data::call("length", {col("city")}))}));
  EXPECT_EQ(longest.run({{{1, "Rom", 5}, 1}, {{2, "Mainz", 5}, 1}}), "+1 (2, 'Mainz', 5)\n");
  Runner last(source.take(1, {descending("city")}));
  EXPECT_EQ(last.run({{{1, "Ro", 5}, 1}, {{2, "Rom", 5}, 1}}), "+1 (2, 'Rom', 5)\n");
}

TEST(Top, TakesRowsOfGroupsThatAreNull) {
  Runner runner(source.top(1, {.per = {"city"}, .order = {ascending("amount")}}));
  EXPECT_EQ(runner.run({{{1, Value(), 5}, 1}, {{2, Value(), 4}, 1}}), "+1 (2, null, 4)\n");
}

TEST(Top, NamesARowThatWentButNeverCame) {
  Runner runner(source.take(1));
  EXPECT_EQ(runner.run({{{1, "Rom", 5}, -1}}),
            "unknown row: top: row (1, 'Rom', 5) went more often than it came");
}

TEST(Top, HasTheColumnsAndTheKeyOfItsInput) {
  EXPECT_EQ(schema_of(source.take(3)), to_string(*sales));
}

TEST(Top, RefusesWhatItCannotOrder) {
  EXPECT_EQ(schema_of(source.take(0)), "invalid argument: top: there must be a row to keep");
  EXPECT_EQ(schema_of(source.top(1, {.per = {"town"}})),
            "unknown column: top: per: 'town'; there are: id, city, amount");
  EXPECT_EQ(schema_of(source.take(1, {ascending("price")})),
            "unknown column: top: order: column 'price': 'price'; there are: id, city, amount");
}

}  // namespace
}  // namespace weir::flow::operators
