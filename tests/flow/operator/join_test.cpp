#include <weir/flow/operator/join.hpp>

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
using test::make_schema;

using Changes = std::vector<std::pair<test::Row, data::Weight>>;
ChangeBatch make_batch(const SchemaRef& schema, const Changes& changes) {
  return test::make_batch(schema, changes);
}

const SchemaRef orders = make_schema(
    {{"id", Kind::int64, false}, {"customer", Kind::int64}, {"amount", Kind::int64}}, {"id"});
const SchemaRef customers =
    make_schema({{"id", Kind::int64, false}, {"limit", Kind::int64}}, {"id"});

ChangeBatch order(std::int64_t id, Value customer, Value amount, data::Weight weight = 1) {
  return make_batch(orders, {{{id, customer, amount}, weight}});
}
ChangeBatch customer(std::int64_t id, Value limit, data::Weight weight = 1) {
  return make_batch(customers, {{{id, limit}, weight}});
}

Plan orders_with_customers(JoinKind kind, std::optional<data::Expression> condition = {}) {
  return from("orders", orders)
      .join(from("customers", customers), {.on = {{"customer", "id"}},
                                           .kind = kind,
                                           .condition = std::move(condition),
                                           .right_prefix = "customer_"});
}

/// Runs cycles of single changes, one line for each change of the result.
class Runner {
 public:
  explicit Runner(const Plan& plan) : graph_(Graph::make(plan).value()) {}

  std::string run(std::string_view source, const ChangeBatch& batch) {
    return run({{source, batch}});
  }
  std::string run(std::initializer_list<Graph::SourceChanges> changes) {
    auto result = graph_->run(changes);
    if (!result) {
      graph_->roll_back();
      return result.error().message();
    }
    graph_->commit();
    return to_string(*result);
  }

 private:
  std::unique_ptr<Graph> graph_;
};

std::string schema_of(const Plan& plan) {
  auto graph = Graph::make(plan);
  return graph ? to_string(*(*graph)->schema()) : graph.error().message();
}

TEST(Join, PairsRowsWithEqualKeys) {
  Runner runner(orders_with_customers(JoinKind::inner));
  EXPECT_EQ(runner.run("orders", order(1, 7, 50)), "");
  EXPECT_EQ(runner.run("customers", customer(7, 100)), "+1 (1, 7, 50, 7, 100)\n");
  EXPECT_EQ(runner.run("orders", order(2, 7, 60)), "+1 (2, 7, 60, 7, 100)\n");
  EXPECT_EQ(runner.run("customers", customer(7, 100, -1)),
            "-1 (1, 7, 50, 7, 100)\n-1 (2, 7, 60, 7, 100)\n");
}

TEST(Join, PairsChangesOfBothSidesInOneCycleOnce) {
  Runner runner(orders_with_customers(JoinKind::inner));
  EXPECT_EQ(runner.run({{"orders", order(1, 7, 50)}, {"customers", customer(7, 100)}}),
            "+1 (1, 7, 50, 7, 100)\n");
  EXPECT_EQ(runner.run({{"customers", customer(7, 100, -1)}, {"orders", order(1, 7, 50, -1)}}),
            "-1 (1, 7, 50, 7, 100)\n");
}

TEST(Join, MultipliesHowOftenRowsAreThere) {
  Runner runner(orders_with_customers(JoinKind::inner));
  runner.run("orders", order(1, 7, 50, 2));
  EXPECT_EQ(runner.run("customers", customer(7, 100, 3)), "+6 (1, 7, 50, 7, 100)\n");
  EXPECT_EQ(runner.run("orders", order(1, 7, 50, -1)), "-3 (1, 7, 50, 7, 100)\n");
}

TEST(Join, GivesNullsForWhatIsMissingInALeftJoin) {
  Runner runner(orders_with_customers(JoinKind::left));
  EXPECT_EQ(runner.run("orders", order(1, 7, 50)), "+1 (1, 7, 50, null, null)\n");
  EXPECT_EQ(runner.run("customers", customer(7, 100)),
            "+1 (1, 7, 50, 7, 100)\n-1 (1, 7, 50, null, null)\n");
  EXPECT_EQ(runner.run("customers", customer(7, 100, -1)),
            "-1 (1, 7, 50, 7, 100)\n+1 (1, 7, 50, null, null)\n");
}

TEST(Join, DoesNotShowRowsAloneWhileTheirPartnerIsReplaced) {
  Runner runner(orders_with_customers(JoinKind::left));
  runner.run({{"orders", order(1, 7, 50)}, {"customers", customer(7, 100)}});
  EXPECT_EQ(runner.run("customers", make_batch(customers, {{{7, 100}, -1}, {{7, 200}, 1}})),
            "+1 (1, 7, 50, 7, 200)\n-1 (1, 7, 50, 7, 100)\n");
}

TEST(Join, NeverMatchesNullKeysButShowsTheirRows) {
  EXPECT_EQ(Runner(orders_with_customers(JoinKind::inner)).run("orders", order(1, {}, 5)), "");
  EXPECT_EQ(Runner(orders_with_customers(JoinKind::semi)).run("orders", order(1, {}, 5)), "");
  EXPECT_EQ(Runner(orders_with_customers(JoinKind::anti)).run("orders", order(1, {}, 5)),
            "+1 (1, null, 5)\n");
  const SchemaRef keys = make_schema({{"k", Kind::int64}});
  const auto null_key = make_batch(keys, {{{Value()}, 1}});
  Runner both(from("a", keys).join(
      from("b", keys), {.on = {"k"}, .kind = JoinKind::full, .right_prefix = "right_"}));
  EXPECT_EQ(both.run({{"a", null_key}, {"b", null_key}}), "+2 (null, null)\n");
}

TEST(Join, ShowsRowsAloneWhoseOnlyPartnersFailTheCondition) {
  Runner runner(orders_with_customers(JoinKind::full, col("amount") <= col("customer_limit")));
  EXPECT_EQ(runner.run({{"orders", order(1, 7, 50)}, {"customers", customer(7, 40)}}),
            "+1 (1, 7, 50, null, null)\n+1 (null, null, null, 7, 40)\n");
  EXPECT_EQ(runner.run("customers", customer(7, 60)),
            "+1 (1, 7, 50, 7, 60)\n-1 (1, 7, 50, null, null)\n");
  EXPECT_EQ(runner.run("orders", order(2, 7, 30)),
            "+1 (2, 7, 30, 7, 40)\n+1 (2, 7, 30, 7, 60)\n-1 (null, null, null, 7, 40)\n");
}

TEST(Join, SemiAndAntiJoinsGiveLeftRowsAsOftenAsTheyCame) {
  Runner semi(orders_with_customers(JoinKind::semi));
  Runner anti(orders_with_customers(JoinKind::anti));
  EXPECT_EQ(semi.run("orders", order(1, 7, 50, 2)), "");
  EXPECT_EQ(anti.run("orders", order(1, 7, 50, 2)), "+2 (1, 7, 50)\n");
  EXPECT_EQ(semi.run("customers", customer(7, 100, 3)), "+2 (1, 7, 50)\n");
  EXPECT_EQ(anti.run("customers", customer(7, 100, 3)), "-2 (1, 7, 50)\n");
  EXPECT_EQ(semi.run("customers", customer(7, 200)), "");
  EXPECT_EQ(anti.run("customers", customer(7, 200)), "");
}

TEST(Join, TakesExpressionsAsKeys) {
  Runner runner(from("orders", orders)
                    .join(from("customers", customers),
                          {.on = {{col("customer") % 10, "id"}}, .right_prefix = "c_"}));
  runner.run("customers", customer(7, 100));
  EXPECT_EQ(runner.run("orders", order(1, 27, 5)), "+1 (1, 27, 5, 7, 100)\n");
}

TEST(Join, JoinsATableWithItself) {
  const Plan source = from("orders", orders);
  Runner runner(source.join(source, {.on = {{"id", "customer"}}, .right_prefix = "child_"}));
  EXPECT_EQ(runner.run("orders", order(1, 1, 5)), "+1 (1, 1, 5, 1, 1, 5)\n");
  EXPECT_EQ(runner.run("orders", order(2, 1, 6)), "+1 (1, 1, 5, 2, 1, 6)\n");
  EXPECT_EQ(runner.run("orders", make_batch(orders, {{{1, 1, 5}, -1}, {{1, 1, 9}, 1}})),
            "+1 (1, 1, 9, 2, 1, 6)\n-1 (1, 1, 5, 1, 1, 5)\n-1 (1, 1, 5, 2, 1, 6)\n"
            "+1 (1, 1, 9, 1, 1, 9)\n");
}

TEST(Join, PassesOnNoVersionThatNeverWas) {
  const Plan source = from("orders", orders);
  const Plan pairs = source.join(source, {.on = {"id"}, .right_prefix = "also_"});
  Runner runner(pairs.gate(col("amount") != col("also_amount")));
  runner.run("orders", order(1, 7, 5));
  EXPECT_EQ(runner.run("orders", make_batch(orders, {{{1, 7, 5}, -1}, {{1, 7, 6}, 1}})), "");
}

TEST(Join, NamesARowThatWentButNeverCame) {
  Runner runner(orders_with_customers(JoinKind::left));
  EXPECT_EQ(runner.run("orders", order(1, 7, 50, -1)),
            "unknown row: join: row (1, 7, 50) of the left side went more often than it came");
  EXPECT_EQ(runner.run("customers", customer(7, 100, -1)),
            "unknown row: join: row (7, 100) of the right side went more often than it came");
  EXPECT_EQ(runner.run("orders", order(1, {}, 50, -1)),
            "unknown row: join: row (1, null, 50) of the left side went more often than it came");
}

TEST(Join, TakesARowThatComesAndGoesInOneBatch) {
  Runner runner(orders_with_customers(JoinKind::left));
  EXPECT_EQ(runner.run("orders", make_batch(orders, {{{1, 7, 5}, -1}, {{1, 7, 5}, 1}})), "");
}

TEST(Join, AnswersConditionsThatCannotBeComputedAsThePolicySays) {
  const Plan plan =
      orders_with_customers(JoinKind::left, 100 / col("customer_limit") > col("amount"));
  auto graph = Graph::make(plan, {.row_errors = RowErrorPolicy::drop}).value();
  auto changes = graph->run({{"orders", order(1, 7, 5)}, {"customers", customer(7, 0)}});
  EXPECT_EQ(to_string(changes.value()), "+1 (1, 7, 5, null, null)\n");
  graph->commit();
  EXPECT_EQ(graph->counts().row_errors, 1u);
  EXPECT_EQ(Runner(plan).run({{"orders", order(1, 7, 5)}, {"customers", customer(7, 0)}}),
            "row error: join: ((100 / customer_limit) > amount): division by zero in row "
            "(1, 7, 5, 7, 0)");
}

TEST(Join, SaysWhichColumnsMayBeNullAndWhatTellsRowsApart) {
  EXPECT_EQ(schema_of(orders_with_customers(JoinKind::inner)),
            "(id int64 not null, customer int64, amount int64, customer_id int64 not null, "
            "customer_limit int64, primary key id customer_id)");
  EXPECT_EQ(schema_of(orders_with_customers(JoinKind::left)),
            "(id int64 not null, customer int64, amount int64, customer_id int64, customer_limit "
            "int64)");
  EXPECT_EQ(schema_of(orders_with_customers(JoinKind::right)),
            "(id int64, customer int64, amount int64, customer_id int64 not null, customer_limit "
            "int64)");
  EXPECT_EQ(schema_of(orders_with_customers(JoinKind::full)),
            "(id int64, customer int64, amount int64, customer_id int64, customer_limit int64)");
  EXPECT_EQ(schema_of(orders_with_customers(JoinKind::semi)), to_string(*orders));
  EXPECT_EQ(schema_of(orders_with_customers(JoinKind::anti)), to_string(*orders));
  const SchemaRef log = make_schema({{"customer", Kind::int64, false}});
  EXPECT_EQ(
      schema_of(from("log", log).join(from("customers", customers), {.on = {{"customer", "id"}}})),
      "(customer int64 not null, id int64 not null, limit int64)");
}

TEST(Join, RefusesWhatDoesNotFitTogether) {
  const Plan left = from("orders", orders);
  const Plan right = from("customers", customers);
  EXPECT_EQ(schema_of(left.join(right, {.on = {{"customer", "id"}}})),
            "duplicate column: join: both sides have a column 'id': give a left_prefix or a "
            "right_prefix");
  EXPECT_EQ(schema_of(left.join(right, {.on = {}})),
            "invalid argument: join: there must be a column to join on");
  EXPECT_EQ(schema_of(left.join(right, {.on = {{"client", "id"}}})),
            "unknown column: join: the key of the left side: column 'client': 'client'; there are: "
            "id, customer, amount");
  EXPECT_EQ(schema_of(left.join(from("words", make_schema({{"word", Kind::text}})),
                                {.on = {{"customer", "word"}}})),
            "type mismatch: join: 'customer' of the left side is int64, but 'word' of the right "
            "side is text");
  EXPECT_EQ(schema_of(orders_with_customers(JoinKind::semi, col("amount"))),
            "type mismatch: join: amount is a condition, so it must be bool, not int64");
  EXPECT_EQ(schema_of(Plan::make(Join({.on = {"id"}}), {left})),
            "invalid argument: join: it cannot have 1 inputs");
}

TEST(Join, NeedsNoNamesOfASideThatItOnlyLooksFor) {
  EXPECT_EQ(schema_of(from("orders", orders)
                          .join(from("customers", customers),
                                {.on = {{"customer", "id"}}, .kind = JoinKind::semi})),
            to_string(*orders));
}

TEST(Join, StopsBeforeItGivesMuchMoreThanItMay) {
  constexpr int many = 100'000;
  data::BatchBuilder builder(orders);
  for (int id = 0; id < many; ++id) ASSERT_TRUE(builder.add({id, 7, id}));
  const ChangeBatch batch = builder.finish();
  for (const JoinKind kind : {JoinKind::inner, JoinKind::semi}) {
    const Join spec({.on = {{"customer", "id"}}, .kind = kind, .right_prefix = "customer_"});
    State state;
    auto op = spec.make(std::vector<SchemaRef>{orders, customers}, {}).value();
    op->open(state);
    Output out(RowErrorPolicy::fail, false, 100'000);
    ASSERT_TRUE(op->apply({0, batch}, out));
    EXPECT_EQ(op->apply({1, customer(7, 1)}, out).error(), Errc::too_large);
    std::size_t rows = 0;
    for (const ChangeBatch& given : out.take()) rows += given.size();
    EXPECT_LT(rows, static_cast<std::size_t>(many) / 2) << "of one row";
  }
}

}  // namespace
}  // namespace weir::flow::operators
