#include <weir/flow/operator/graph.hpp>

#include <gtest/gtest.h>

#include <weir/flow/operator/apply.hpp>
#include <weir/flow/operator/operator_registry.hpp>

namespace weir::flow::operators {
namespace {

using data::ChangeBatch;
using data::col;
using data::Kind;
using data::SchemaRef;
using data::Value;

SchemaRef make_schema(std::vector<data::Field> fields, const std::vector<std::string>& key = {}) {
  return std::make_shared<const data::Schema>(data::Schema::make(std::move(fields), key).value());
}

const SchemaRef orders = make_schema({{"id", Kind::int64, false}, {"amount", Kind::int64}}, {"id"});

ChangeBatch order(std::int64_t id, Value amount, data::Weight weight = 1) {
  data::BatchBuilder builder(orders);
  EXPECT_TRUE(builder.add({id, std::move(amount)}, weight));
  return builder.finish();
}

std::string refusal(const Plan& plan, const Library& library = {}) {
  auto graph = Graph::make(plan, {.library = library});
  return graph ? "accepted" : graph.error().message();
}

TEST(Graph, GivesWhatItsOperatorsMakeOfAChange) {
  const Plan plan = from("orders", orders)
                        .filter(col("amount") > 10)
                        .map({{"id", col("id")}, {"twice", col("amount") * 2}});
  auto graph = Graph::make(plan).value();
  EXPECT_EQ(to_string(*graph->schema()), "(id int64 not null, twice int64, primary key id)");
  EXPECT_EQ(to_string(graph->run({{"orders", order(1, 20)}}).value()), "+1 (1, 40)\n");
  EXPECT_TRUE(graph->run({{"orders", order(2, 5)}}).value().is_empty());
}

TEST(Graph, ComputesAPartThatIsUsedTwiceOnce) {
  const Plan large = from("orders", orders).filter(col("amount") > 10);
  auto graph = Graph::make(large.append({large})).value();
  EXPECT_EQ(graph->sources().size(), 1u);
  EXPECT_EQ(to_string(graph->run({{"orders", order(1, 20)}}).value()), "+2 (1, 20)\n");
}

TEST(Graph, RefusesAPlanWithThePathToWhatIsWrong) {
  const Plan source = from("orders", orders);
  EXPECT_EQ(refusal(source.filter(col("price") > 1).distinct()),
            "unknown column: distinct < filter: 'price'; there are: id, amount");
  EXPECT_EQ(refusal(source.filter(col("amount"))),
            "type mismatch: filter: amount is a condition, so it must be bool, not int64");
  EXPECT_EQ(refusal(source.apply("mine")),
            "unknown name: apply mine: no operator 'mine' is registered");
  EXPECT_EQ(refusal(source.extend({{"id", col("id")}})), "duplicate column: extend: id");
}

TEST(Graph, RefusesChangesOfWhatItDoesNotRead) {
  auto graph = Graph::make(from("orders", orders)).value();
  EXPECT_EQ(graph->run({{"people", order(1, 1)}}).error().message(),
            "unknown name: no source 'people'");
  const SchemaRef other = make_schema({{"id", Kind::text}});
  EXPECT_EQ(graph->run({{"orders", ChangeBatch(other)}}).error().message(),
            "wrong schema: source 'orders' has (id int64 not null, amount int64, primary key id), "
            "not (id text)");
}

TEST(Graph, AnswersRowsThatCannotBeComputedAsItsPolicySays) {
  const Plan plan = from("orders", orders).extend({{"share", 100 / col("amount")}});
  const auto run = [&](RowErrorPolicy policy) {
    auto graph = Graph::make(plan, {.row_errors = policy}).value();
    auto changes = graph->run({{"orders", order(1, 0)}, {"orders", order(2, 50)}});
    graph->commit();
    return (changes ? to_string(*changes) : changes.error().message() + "\n") +
           std::to_string(graph->counts().row_errors);
  };
  EXPECT_EQ(run(RowErrorPolicy::fail),
            "row error: extend: column 'share': division by zero in row (1, 0)\n0");
  EXPECT_EQ(run(RowErrorPolicy::null), "+1 (1, 0, null)\n+1 (2, 50, 2)\n1");
  EXPECT_EQ(run(RowErrorPolicy::drop), "+1 (2, 50, 2)\n1");
}

TEST(Graph, CountsOnlyWhatWasCommitted) {
  auto graph = Graph::make(from("orders", orders).filter(1 / col("amount") > 0),
                           {.row_errors = RowErrorPolicy::drop})
                   .value();
  EXPECT_TRUE(graph->run({{"orders", order(1, 0)}}));
  graph->roll_back();
  EXPECT_EQ(graph->counts().row_errors, 0u);
  EXPECT_TRUE(graph->run({{"orders", order(1, 0)}}));
  graph->commit();
  EXPECT_EQ(graph->counts().row_errors, 1u);
}

/// Gives rows of another schema than it says.
class Liar final : public Operator {
 public:
  using Operator::Operator;
  Result<> apply(const Input&, Output& out) override {
    data::BatchBuilder builder(make_schema({{"x", Kind::text}}));
    for (int times = 0; times < 2; ++times) {
      EXPECT_TRUE(builder.add({"lie"}));
      out.emit(builder.finish());
    }
    return {};
  }
};

TEST(Graph, RefusesRowsThatAreNotOfTheirOperatorsSchema) {
  OperatorRegistry registry;
  ASSERT_TRUE(registry.add("liar", [](const OperatorRegistry::Arguments& arguments) {
    return Result<std::unique_ptr<Operator>>(std::make_unique<Liar>(arguments.inputs[0]));
  }));
  auto graph =
      Graph::make(from("orders", orders).apply("liar"), {.library = {.operators = &registry}})
          .value();
  EXPECT_EQ(graph->run({{"orders", order(1, 1)}}).error().message(),
            "wrong schema: apply liar: it gave rows of (x text), but it is declared to give (id "
            "int64 not null, amount int64, primary key id)");
  // Also where what it gives is put together first.
  const Plan source = from("orders", orders);
  auto both = Graph::make(Plan::make(Apply("liar", {}), {source, source}),
                          {.library = {.operators = &registry}})
                  .value();
  EXPECT_EQ(both->run({{"orders", order(1, 1)}}).error().code(), Errc::wrong_schema);
  // What was on its way is forgotten.
  EXPECT_TRUE(Graph::make(from("orders", orders)).value()->run({}).value().is_empty());
}

TEST(Graph, TakesMoreThanTheLimit) {
  auto graph = Graph::make(from("orders", orders).group_by({}).aggregate({count().as("orders")}),
                           {.output_bytes_max = 60})
                   .value();
  data::BatchBuilder many(orders);
  for (int id = 0; id < 100; ++id) ASSERT_TRUE(many.add({id, id}));
  EXPECT_EQ(to_string(graph->run({{"orders", many.finish()}}).value()), "+1 (100)\n");
}

TEST(Graph, RefusesAnOperatorThatGivesMoreThanTheLimit) {
  auto graph =
      Graph::make(from("orders", orders).filter(col("amount") > 0), {.output_bytes_max = 60})
          .value();
  EXPECT_TRUE(graph->run({{"orders", order(1, 1)}}));
  graph->commit();
  data::BatchBuilder many(orders);
  for (int id = 0; id < 100; ++id) ASSERT_TRUE(many.add({id, id}));
  const auto refused = graph->run({{"orders", many.finish()}});
  EXPECT_EQ(refused.error().code(), Errc::too_large);
  EXPECT_NE(refused.error().message().find("filter: it gave"), std::string::npos)
      << refused.error().message();
}

/// Gives a row without an id, which its schema does not allow.
class Forgetful final : public Operator {
 public:
  using Operator::Operator;
  Result<> apply(const Input&, Output& out) override {
    data::BatchBuilder builder(schema());
    builder.column(0).append_null();
    builder.column(1).append(5);
    builder.add_weight(1);
    out.emit(builder.finish());
    return {};
  }
};

TEST(Graph, RefusesNullsThatTheirOperatorsSchemaDoesNotAllow) {
  OperatorRegistry registry;
  ASSERT_TRUE(registry.add("forgetful", [](const OperatorRegistry::Arguments& arguments) {
    return Result<std::unique_ptr<Operator>>(std::make_unique<Forgetful>(arguments.inputs[0]));
  }));
  auto graph =
      Graph::make(from("orders", orders).apply("forgetful"), {.library = {.operators = &registry}})
          .value();
  EXPECT_EQ(
      graph->run({{"orders", order(1, 1)}}).error().message(),
      "wrong schema: apply forgetful: it gave null for 'id', which is declared to be never null");
}

TEST(Graph, RefusesParametersThatCannotBeStored) {
  OperatorRegistry registry;
  ASSERT_TRUE(registry.add("same", [](const OperatorRegistry::Arguments& arguments) {
    return Result<std::unique_ptr<Operator>>(std::make_unique<Liar>(arguments.inputs[0]));
  }));
  EXPECT_EQ(
      refusal(from("orders", orders).apply("same", {"good", "\xFF"}), {.operators = &registry}),
      "invalid value: apply same: a parameter of 'same': '\\xFF' is not UTF-8");
}

TEST(Graph, AnswersAnOperatorThatCannotBeMade) {
  OperatorRegistry registry;
  ASSERT_TRUE(registry.add(
      "thrower", [](const OperatorRegistry::Arguments&) -> Result<std::unique_ptr<Operator>> {
        throw std::runtime_error("no");
      }));
  ASSERT_TRUE(registry.add("nothing", [](const OperatorRegistry::Arguments&) {
    return Result<std::unique_ptr<Operator>>(nullptr);
  }));
  const Library library{.operators = &registry};
  EXPECT_EQ(Graph::make(from("orders", orders).apply("thrower").distinct(), {.library = library})
                .error()
                .detail(),
            "distinct < apply thrower: no");
  EXPECT_EQ(refusal(from("orders", orders).apply("nothing"), library),
            "invalid argument: apply nothing: 'nothing' made no operator");
}

class Thrower final : public Operator {
 public:
  using Operator::Operator;
  Result<> apply(const Input&, Output&) override { throw std::runtime_error("no"); }
};

TEST(Graph, NamesTheOperatorThatThrew) {
  OperatorRegistry registry;
  ASSERT_TRUE(registry.add("thrower", [](const OperatorRegistry::Arguments& arguments) {
    return Result<std::unique_ptr<Operator>>(std::make_unique<Thrower>(arguments.inputs[0]));
  }));
  auto graph = Graph::make(from("orders", orders).apply("thrower").distinct(),
                           {.library = {.operators = &registry}})
                   .value();
  const auto run = graph->run({{"orders", order(1, 1)}});
  EXPECT_EQ(run.error().detail(), "distinct < apply thrower: no");
}

TEST(Graph, GivesWhatDependsOnTheCycleAllOfItAtOnce) {
  // So many rows are given in parts, those that go before those that come.
  constexpr std::int64_t rows = 20'000;
  const SchemaRef places = make_schema({{"id", Kind::int64, false}, {"city", Kind::text}}, {"id"});
  const auto change = [&](data::Weight weight, const char* city, data::BatchBuilder& builder) {
    for (std::int64_t id = 0; id < rows; ++id) EXPECT_TRUE(builder.add({id, city}, weight));
  };
  auto graph = Graph::make(from("places", places)
                               .top(rows, {.per = {"city"}, .order = {ascending("id")}})
                               .gate(col("city") == "a"))
                   .value();
  data::BatchBuilder builder(places);
  change(1, "a", builder);
  EXPECT_EQ(graph->run({{"places", builder.finish()}}).value().size(), std::size_t{rows});
  graph->commit();
  change(-1, "a", builder);
  change(1, "b", builder);
  const auto moved = graph->run({{"places", builder.finish()}}).value();
  EXPECT_EQ(moved.size(), std::size_t{2 * rows}) << "the gate was open for all of them";
}

TEST(OperatorRegistry, RefusesANameThatIsTaken) {
  OperatorRegistry registry;
  const auto make = [](const OperatorRegistry::Arguments&) -> Result<std::unique_ptr<Operator>> {
    return Errc::invalid_argument;
  };
  EXPECT_TRUE(registry.add("mine", make));
  EXPECT_EQ(registry.add("mine", make).error().message(),
            "invalid argument: there is already an operator 'mine'");
  EXPECT_EQ(registry.add("", make).error(), Errc::invalid_argument);
  EXPECT_EQ(registry.names(), std::vector<std::string>{"mine"});
}

}  // namespace
}  // namespace weir::flow::operators
