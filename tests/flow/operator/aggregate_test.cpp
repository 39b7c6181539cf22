#include <weir/flow/operator/aggregate.hpp>

#include <limits>

#include <gtest/gtest.h>

#include <weir/flow/operator/harness.hpp>
#include <weir/flow/operator/memory_state.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators {
namespace {

using data::ChangeBatch;
using data::col;
using data::Kind;
using data::SchemaRef;
using data::Value;
using data::Weight;
using test::make_batch;
using test::make_schema;
using Changes = std::vector<std::pair<test::Row, Weight>>;

const SchemaRef payments = make_schema({{"customer", Kind::text, false},
                                        {"kind", Kind::text},
                                        {"amount", Kind::int64},
                                        {"time", Kind::int64}});
const Plan source = from("payments", payments);

/// A flow over one source, each run committed.
class Flow {
 public:
  explicit Flow(const Plan& plan, RowErrorPolicy policy = RowErrorPolicy::fail)
      : graph_(Graph::make(plan, {.row_errors = policy}).value()),
        input_(graph_->sources().front()) {}

  /// The changes of the result as text, or why there are none.
  std::string run(const Changes& changes) {
    auto result = graph_->run({{input_.name, make_batch(input_.schema, changes)}});
    if (!result) {
      graph_->roll_back();
      return result.error().message();
    }
    graph_->commit();
    return to_string(*result);
  }
  std::string schema() const { return to_string(*graph_->schema()); }
  std::uint64_t row_errors() const { return graph_->counts().row_errors; }

 private:
  std::unique_ptr<Graph> graph_;
  Graph::SourceInfo input_;
};

/// One aggregate over values of one type, without groups.
Flow over(data::DataType type, const AggregateColumn& column,
          RowErrorPolicy policy = RowErrorPolicy::fail) {
  return Flow(from("values", make_schema({{"x", type}})).aggregate({column.as("y")}), policy);
}

std::string refusal(const Plan& plan) {
  auto graph = Graph::make(plan);
  return graph ? "accepted" : graph.error().message();
}

TEST(Aggregate, GivesARowForEachGroup) {
  Flow flow(source.group_by({"customer"})
                .aggregate(
                    {count().as("n"), sum(col("amount")).filter(col("kind") == "in").as("total")}));
  EXPECT_EQ(flow.schema(),
            "(customer text not null, n int64 not null, total int64, primary key customer)");
  EXPECT_EQ(
      flow.run({{{"ann", "in", 5, 1}, 1}, {{"ann", "out", 3, 2}, 1}, {{"bob", "in", 2, 3}, 1}}),
      "+1 ('ann', 2, 5)\n+1 ('bob', 1, 2)\n");
  EXPECT_EQ(flow.run({{{"ann", "in", 7, 4}, 1}}), "-1 ('ann', 2, 5)\n+1 ('ann', 3, 12)\n");
  EXPECT_EQ(flow.run({{{"bob", "in", 2, 3}, -1}}), "-1 ('bob', 1, 2)\n");
}

TEST(Aggregate, GivesNothingForAGroupThatIsWhatItWas) {
  Flow flow(source.group_by({"customer"}).aggregate({sum(col("amount")).as("total")}));
  EXPECT_EQ(flow.run({{{"ann", "in", 5, 1}, 1}}), "+1 ('ann', 5)\n");
  EXPECT_EQ(flow.run({{{"ann", "in", 0, 2}, 1}}), "");
  EXPECT_EQ(flow.run({{{"ann", "in", 5, 1}, -1}, {{"ann", "out", 5, 3}, 1}}), "");
}

TEST(Aggregate, GivesNoRowsToCancelEachOther) {
  // A graph would hide them.
  const Aggregate spec({{"customer", col("customer")}}, {sum(col("amount")).as("total")});
  State state;
  auto op = spec.make(std::vector<SchemaRef>{payments}, {}).value();
  op->open(state);
  Output out;
  const auto apply = [&](const test::Row& row) {
    EXPECT_TRUE(op->apply({0, make_batch(payments, Changes{{row, 1}})}, out));
    return out.take().size();
  };
  EXPECT_EQ(apply({"ann", "in", 5, 1}), 1u);
  EXPECT_EQ(apply({"ann", "in", 0, 2}), 0u);
}

TEST(Aggregate, GivesOneRemovalAndOneInsertionForManyChanges) {
  Flow flow(source.group_by({"customer"}).aggregate({count().as("n")}));
  Changes many;
  for (int i = 0; i < 100; ++i) many.push_back({{"ann", "in", i, i}, 1});
  EXPECT_EQ(flow.run(many), "+1 ('ann', 100)\n");
  EXPECT_EQ(flow.run(many), "-1 ('ann', 100)\n+1 ('ann', 200)\n");
}

TEST(Aggregate, TellsGroupsApartByEachOfTheirColumns) {
  Flow flow(source.group_by({"kind", {"is_early", col("time") < 10}}).aggregate({count().as("n")}));
  EXPECT_EQ(flow.schema(), "(kind text, is_early bool, n int64 not null)");
  EXPECT_EQ(flow.run({{{"a", "in", 1, 5}, 1},
                      {{"b", "in", 1, 15}, 1},
                      {{"c", Value(), 1, 5}, 1},
                      {{"d", Value(), 1, Value()}, 1},
                      {{"e", Value(), 1, 6}, 1}}),
            "+1 ('in', true, 1)\n+1 ('in', false, 1)\n+1 (null, true, 2)\n+1 (null, null, 1)\n");
}

TEST(Aggregate, TakesEqualNumbersForOneGroup) {
  const Plan plan = from("values", make_schema({{"x", Kind::float64}}));
  Flow flow(plan.group_by({"x"}).aggregate({count().as("n")}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(flow.run({{{-0.0}, 1}, {{0.0}, 1}, {{nan}, 1}, {{-nan}, 1}}),
            "+1 (0, 2)\n+1 (nan, 2)\n");
}

TEST(Aggregate, GivesEachGroupOnceWithoutAggregates) {
  Flow flow(source.group_by({"customer"}).aggregate({}));
  EXPECT_EQ(flow.schema(), "(customer text not null, primary key customer)");
  const test::Row row = {"ann", "in", 5, 1};
  EXPECT_EQ(flow.run({{row, 3}}), "+1 ('ann')\n");
  EXPECT_EQ(flow.run({{row, -2}}), "");
  EXPECT_EQ(flow.run({{row, -1}}), "-1 ('ann')\n");
}

TEST(Aggregate, HasOneRowWithoutGroupsWhileThereAreRows) {
  Flow flow(source.aggregate({count(), sum(col("amount"))}));
  EXPECT_EQ(flow.schema(), "(count() int64 not null, sum(amount) int64)");
  EXPECT_EQ(flow.run({}), "");
  EXPECT_EQ(flow.run({{{"ann", "in", 5, 1}, 1}, {{"bob", "in", 6, 1}, 1}}), "+1 (2, 11)\n");
  EXPECT_EQ(flow.run({{{"ann", "in", 5, 1}, -1}, {{"bob", "in", 6, 1}, -1}}), "-1 (2, 11)\n");
}

TEST(Aggregate, LeavesOutNulls) {
  Flow flow(source.aggregate({count().as("rows"), count(col("amount")).as("values"),
                              sum(col("amount")).as("sum"), avg(col("amount")).as("avg"),
                              min(col("amount")).as("min"), max(col("amount")).as("max"),
                              count_distinct(col("amount")).as("distinct")}));
  EXPECT_EQ(flow.run({{{"a", "in", Value(), 1}, 2}}), "+1 (2, 0, null, null, null, null, 0)\n");
  EXPECT_EQ(flow.run({{{"a", "in", 3, 1}, 2}, {{"a", "in", 6, 1}, 1}}),
            "-1 (2, 0, null, null, null, null, 0)\n+1 (5, 3, 12, 4, 3, 6, 2)\n");
}

TEST(Aggregate, FindsTheNextWhenTheLeastOrGreatestGoes) {
  Flow flow(source.aggregate({min(col("amount")).as("min"), max(col("amount")).as("max")}));
  const auto row = [](int amount) { return test::Row{"a", "in", amount, 1}; };
  EXPECT_EQ(flow.run({{row(2), 1}, {row(1), 2}, {row(3), 1}}), "+1 (1, 3)\n");
  EXPECT_EQ(flow.run({{row(1), -1}}), "");
  EXPECT_EQ(flow.run({{row(1), -1}, {row(3), -1}}), "-1 (1, 3)\n+1 (2, 2)\n");
}

TEST(Aggregate, KeepsManyValuesOutOfTheStateOfTheirGroup) {
  auto graph = Graph::make(source.aggregate({max(col("amount")).as("max")})).value();
  const auto run = [&graph](int from, int until, Weight weight) {
    Changes changes;
    for (int i = from; i < until; ++i) changes.push_back({{"a", "in", i, 1}, weight});
    const auto result = graph->run({{"payments", make_batch(payments, changes)}});
    std::size_t longest = 0;
    for (const State::Write& write : graph->state().writes())
      longest = std::max(longest, write.value.value_or("").size());
    graph->commit();
    EXPECT_LT(longest, 256u);
    return to_string(result.value());
  };
  EXPECT_EQ(run(0, 1000, 1), "+1 (999)\n");
  EXPECT_EQ(run(500, 1000, -1), "-1 (999)\n+1 (499)\n");
  EXPECT_EQ(run(1, 500, -1), "-1 (499)\n+1 (0)\n");
  EXPECT_EQ(run(1, 3, 1), "-1 (0)\n+1 (2)\n");
  EXPECT_EQ(run(0, 3, -1), "-1 (2)\n");
}

TEST(Aggregate, TakesTheFirstAndLastRowByAnOrderAndThenByValue) {
  Flow flow(source.aggregate({first(col("amount"), by(col("time"))).as("first"),
                              last(col("amount"), by(col("time"))).as("last")}));
  EXPECT_EQ(flow.run({{{"a", "in", 5, 10}, 1}, {{"a", "in", 6, 10}, 1}}), "+1 (5, 6)\n");
  EXPECT_EQ(flow.run({{{"a", "in", 7, Value()}, 1}}), "");
  EXPECT_EQ(flow.run({{{"a", "in", Value(), 11}, 1}}), "-1 (5, 6)\n+1 (5, null)\n");
  EXPECT_EQ(flow.run({{{"a", "in", Value(), 11}, -1}, {{"a", "in", 5, 10}, -1}}),
            "-1 (5, null)\n+1 (6, 6)\n");
}

TEST(Aggregate, AddsUpExactlyWhatIsNeverRounded) {
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  Flow integers = over(Kind::int64, sum(col("x")));
  EXPECT_EQ(integers.run({{{largest}, 3}, {{-largest}, 2}}), "+1 (9223372036854775807)\n");
  Flow decimals = over(data::DataType::decimal(2), sum(col("x")));
  const data::Decimal most{data::coefficient_max, 2};
  const data::Decimal least{-data::coefficient_max, 2};
  EXPECT_EQ(decimals.run({{{most}, 1'000'000}, {{least}, 1'000'000}, {{data::Decimal{1, 2}}, 1}}),
            "+1 (0.01)\n");
}

TEST(Aggregate, AddsUpFloatsToTheSameInAnyOrder) {
  Flow flow = over(Kind::float64, sum(col("x")));
  EXPECT_EQ(flow.run({{{0.1}, 1}, {{1e100}, 1}}), "+1 (1e+100)\n");
  EXPECT_EQ(flow.run({{{0.2}, 1}}), "");
  EXPECT_EQ(flow.run({{{1e100}, -1}}), "-1 (1e+100)\n+1 (0.30000000000000004)\n");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(flow.run({{{infinity}, 1}}), "-1 (0.30000000000000004)\n+1 (inf)\n");
  EXPECT_EQ(flow.run({{{-infinity}, 1}}), "-1 (inf)\n+1 (nan)\n");
  EXPECT_EQ(flow.run({{{infinity}, -1}, {{-infinity}, -1}}),
            "-1 (nan)\n+1 (0.30000000000000004)\n");
}

TEST(Aggregate, GivesMeansOfTheirOwnTypes) {
  EXPECT_EQ(over(Kind::int64, avg(col("x"))).run({{{1}, 1}, {{2}, 1}}), "+1 (1.5)\n");
  EXPECT_EQ(over(Kind::uint64, avg(col("x"))).run({{{1u}, 3}}), "+1 (1)\n");
  EXPECT_EQ(over(Kind::float64, avg(col("x"))).run({{{1e308}, 3}}), "+1 (1e+308)\n");
  EXPECT_EQ(over(data::DataType::decimal(2), avg(col("x")))
                .run({{{data::Decimal{200, 2}}, 1}, {{data::Decimal{0, 2}}, 2}}),
            "+1 (0.66666667)\n");
  EXPECT_EQ(over(data::DataType::decimal(36), avg(col("x"))).schema(), "(y decimal(38))");
  using std::chrono::microseconds;
  EXPECT_EQ(
      over(Kind::duration, avg(col("x"))).run({{{microseconds(-1)}, 1}, {{microseconds(-2)}, 1}}),
      to_string(
          make_batch(make_schema({{"y", Kind::duration}}), Changes{{{microseconds(-2)}, 1}})));
}

TEST(Aggregate, AnswersASumThatDoesNotFitAsTheFlowsPolicySays) {
  const Value largest = std::numeric_limits<std::int64_t>::max();
  const Plan plan = source.group_by({"customer"}).aggregate({sum(col("amount")).as("total")});
  const test::Row one = {"ann", "in", 1, 2};

  Flow failing(plan);
  EXPECT_EQ(failing.run({{{"ann", "in", largest, 1}, 1}}), "+1 ('ann', 9223372036854775807)\n");
  EXPECT_EQ(failing.run({{one, 1}}),
            "row error: aggregate: column 'total': overflow in group ('ann')");
  EXPECT_EQ(failing.run({{{"ann", "in", largest, 1}, -1}, {one, 1}}),
            "-1 ('ann', 9223372036854775807)\n+1 ('ann', 1)\n");

  Flow with_null(plan, RowErrorPolicy::null);
  EXPECT_EQ(with_null.run({{{"ann", "in", largest, 1}, 1}, {one, 1}}), "+1 ('ann', null)\n");
  EXPECT_EQ(with_null.row_errors(), 1u);
  EXPECT_EQ(with_null.run({{one, 1}}), "");
  EXPECT_EQ(with_null.row_errors(), 1u);
  EXPECT_EQ(with_null.run({{one, -2}}), "-1 ('ann', null)\n+1 ('ann', 9223372036854775807)\n");

  Flow dropping(plan, RowErrorPolicy::drop);
  EXPECT_EQ(dropping.run({{{"ann", "in", largest, 1}, 1}}), "+1 ('ann', 9223372036854775807)\n");
  EXPECT_EQ(dropping.run({{one, 1}}), "-1 ('ann', 9223372036854775807)\n");
  EXPECT_EQ(dropping.row_errors(), 1u);
  EXPECT_EQ(dropping.run({{one, -1}}), "+1 ('ann', 9223372036854775807)\n");
}

TEST(Aggregate, RefusesSumsOutOfTheRangeOfTheirType) {
  using Limits = std::numeric_limits<std::int64_t>;
  const std::string overflow = "row error: aggregate: column 'y': overflow in group ()";
  EXPECT_EQ(over(Kind::int64, sum(col("x"))).run({{{Limits::min()}, 1}, {{-1}, 1}}), overflow);
  EXPECT_EQ(over(Kind::duration, sum(col("x"))).run({{{std::chrono::microseconds::max()}, 2}}),
            overflow);
  EXPECT_EQ(over(Kind::uint64, sum(col("x"))).run({{{~std::uint64_t{0}}, 2}}), overflow);
  const data::Decimal most{data::coefficient_max, 0};
  EXPECT_EQ(over(data::DataType::decimal(0), sum(col("x"))).run({{{most}, 2}}), overflow);
  EXPECT_EQ(over(data::DataType::decimal(0), avg(col("x"))).run({{{most}, 1}}), overflow);
}

TEST(Aggregate, AnswersArgumentsThatCannotBeComputedAsTheFlowsPolicySays) {
  const Plan plan = source.aggregate({count().as("n"), sum(10 / col("amount")).as("s")});
  const Changes changes = {{{"a", "in", 0, 1}, 1}, {{"a", "in", 5, 1}, 1}};
  EXPECT_EQ(Flow(plan).run(changes),
            "row error: aggregate: column 's': division by zero in row ('a', 'in', 0, 1)");
  EXPECT_EQ(Flow(plan, RowErrorPolicy::null).run(changes), "+1 (2, 2)\n");
  EXPECT_EQ(Flow(plan, RowErrorPolicy::drop).run(changes), "+1 (1, 2)\n");
}

TEST(Aggregate, CombinesItsFilters) {
  Flow flow(
      source.aggregate({count().filter(col("kind") == "in").filter(col("amount") > 1).as("n")}));
  EXPECT_EQ(flow.run({{{"a", "in", 1, 1}, 1},
                      {{"a", "in", 2, 1}, 1},
                      {{"a", "out", 2, 1}, 1},
                      {{"a", Value(), 2, 1}, 1}}),
            "+1 (1)\n");
}

TEST(Aggregate, RefusesARowThatGoesWithoutHavingCome) {
  const std::string refused =
      "unknown row: aggregate: a row of group ('ann') went that had not come";
  const auto check = [&refused](const AggregateColumn& column) {
    Flow flow(source.group_by({"customer"}).aggregate({column}));
    EXPECT_EQ(flow.run({{{"ann", "in", 1, 1}, -1}}), refused) << to_string(column);
    EXPECT_NE(flow.run({{{"ann", "in", 1, 1}, 1}}), "") << to_string(column);
    // As many rows as there were, but not these.
    const std::string other = flow.run({{{"ann", "out", 2, 2}, -1}});
    if (column.value || column.condition) EXPECT_EQ(other, refused) << to_string(column);
  };
  check(count());
  check(count().filter(col("kind") == "in"));
  check(sum(col("amount")));
  check(avg(cast(col("amount"), Kind::float64)));
  check(min(col("amount")));
  check(max(col("amount")));
  check(first(col("amount"), by(col("time"))));
  check(last(col("amount"), by(col("time"))));
  check(count_distinct(col("amount")));
}

TEST(Aggregate, AcceptsARowThatGoesBeforeItComesInOneBatch) {
  Flow flow(source.aggregate({count().as("n"), max(col("amount")).as("max"),
                              count_distinct(col("amount")).as("distinct")}));
  EXPECT_EQ(flow.run({{{"a", "in", 1, 1}, -1}, {{"a", "in", 1, 1}, 2}}), "+1 (1, 1, 1)\n");
}

TEST(Aggregate, SeesEarlierBatchesOfItsCycle) {
  auto graph =
      Graph::make(
          source.group_by({"customer"}).aggregate({count().as("n"), max(col("amount")).as("max")}))
          .value();
  const ChangeBatch ann = make_batch(payments, Changes{{{"ann", "in", 1, 1}, 1}});
  const ChangeBatch bob = make_batch(payments, Changes{{{"bob", "in", 2, 1}, 1}});
  EXPECT_EQ(
      to_string(
          graph->run({{"payments", ann}, {"payments", bob}, {"payments", bob}, {"payments", ann}})
              .value()),
      "+1 ('bob', 2, 2)\n+1 ('ann', 2, 1)\n");
}

TEST(Aggregate, SaysWhichValuesAreNeverNull) {
  Flow flow(source.aggregate({min(col("customer")).as("a"), min(col("amount")).as("b"),
                              max(col("customer")).filter(col("amount") > 1).as("c"),
                              first(col("customer"), by(col("time"))).as("d"),
                              first(col("customer"), by(col("customer"))).as("e")}));
  EXPECT_EQ(flow.schema(), "(a text not null, b int64, c text, d text, e text not null)");
}

TEST(Aggregate, RefusesWhatItCannotCompute) {
  EXPECT_EQ(refusal(source.group_by({"price"}).aggregate({count()})),
            "unknown column: aggregate: column 'price': 'price'; there are: customer, kind, "
            "amount, time");
  EXPECT_EQ(refusal(source.aggregate({sum(col("price"))})),
            "unknown column: aggregate: column 'sum(price)': 'price'; there are: customer, kind, "
            "amount, time");
  EXPECT_EQ(refusal(source.aggregate({sum(col("kind")).as("s")})),
            "type mismatch: aggregate: column 's': only numbers and durations have a sum, not "
            "text");
  EXPECT_EQ(refusal(source.aggregate({avg(col("kind")).as("s")})),
            "type mismatch: aggregate: column 's': only numbers and durations have a mean, not "
            "text");
  EXPECT_EQ(refusal(source.aggregate({count().filter(col("amount")).as("n")})),
            "type mismatch: aggregate: column 'n': amount is a condition, so it must be bool, not "
            "int64");
  EXPECT_EQ(refusal(source.group_by({"kind"}).aggregate({count().as("kind")})),
            "duplicate column: aggregate: kind");
  EXPECT_EQ(refusal(source.aggregate({count(), count()})), "duplicate column: aggregate: count()");
  EXPECT_EQ(refusal(source.group_by({}).aggregate({})),
            "invalid argument: aggregate: an aggregate must have a column");
  EXPECT_EQ(
      refusal(source.aggregate({{.function = AggregateFunction::first, .value = col("kind")}})),
      "invalid argument: aggregate: column 'first(kind)': the aggregate has too few or too "
      "many arguments");
}

TEST(Aggregate, RefusesStateThatItDidNotWrite) {
  const Plan plan =
      source.group_by({"customer"})
          .aggregate({sum(col("amount")), sum(cast(col("amount"), Kind::float64)),
                      max(col("amount")), count_distinct(col("amount")), count(col("amount"))});
  const ChangeBatch batch = make_batch(payments, Changes{{{"ann", "in", 1, 1}, 1}});
  auto writer = Graph::make(plan).value();
  ASSERT_TRUE(writer->run({{"payments", batch}}));
  std::vector<State::Write> writes = writer->state().writes();
  const std::string good = *writes[0].value;
  for (std::size_t size = 0; size <= good.size() + 1; ++size) {
    if (size == 0 || size == good.size()) continue;
    writes[0].value = size < good.size() ? good.substr(0, size) : good + '\1';
    MemoryState store;
    store.write(writes);
    auto graph = Graph::make(plan, {.state = {.reader = &store, .is_new = false}}).value();
    auto result = graph->run({{"payments", batch}});
    ASSERT_FALSE(result) << size;
    EXPECT_EQ(result.error().code(), Errc::corruption) << size << result.error().message();
  }
}

}  // namespace
}  // namespace weir::flow::operators
