// What expressions do at the ends of their types, and with values that no column can hold.

#include <weir/flow/data/compiled_expression.hpp>

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace weir::flow::data {
namespace {

using std::chrono::microseconds;

/// The value of an expression for one row; an error as `!overflow`.
std::string evaluate(const Expression& expression, const Value& x, DataType type,
                     const FunctionRegistry& functions = builtin_functions()) {
  const auto schema = std::make_shared<const Schema>(Schema::make({{"x", type}}).value());
  BatchBuilder builder(schema);
  EXPECT_TRUE(builder.add({x}));
  const auto compiled = CompiledExpression::compile(expression, *schema, functions);
  if (!compiled) return "refused: " + compiled.error().message();
  const auto evaluation = compiled->evaluate(builder.finish());
  if (evaluation.errors.empty()) return to_string(evaluation.column->value(0));
  EXPECT_TRUE(evaluation.column->is_null(0));
  return "!" + make_error_code(evaluation.errors[0].code).message();
}

std::string of_decimal(const char* function, Int128 coefficient, std::uint8_t scale) {
  return evaluate(call(function, {col("x")}), Decimal{coefficient, scale},
                  DataType::decimal(scale));
}

TEST(ExpressionEdge, RoundsDecimalsOf38DigitsWhereTheResultHasAsMany) {
  const std::string nines(36, '9');
  EXPECT_EQ(of_decimal("floor", coefficient_max, 38), "0." + std::string(38, '0'));
  EXPECT_EQ(of_decimal("ceil", coefficient_max, 38), "!overflow");
  EXPECT_EQ(of_decimal("round", coefficient_max, 38), "!overflow");
  EXPECT_EQ(of_decimal("ceil", -coefficient_max, 38), "0." + std::string(38, '0'));
  EXPECT_EQ(of_decimal("floor", -coefficient_max, 38), "!overflow");
  EXPECT_EQ(of_decimal("floor", coefficient_max, 2), nines + ".00");
  EXPECT_EQ(of_decimal("ceil", -coefficient_max, 2), "-" + nines + ".00");
  EXPECT_EQ(of_decimal("ceil", coefficient_max, 2), "!overflow");
  EXPECT_EQ(of_decimal("floor", coefficient_max, 0), std::string(38, '9'));
  for (const char* function : {"floor", "ceil", "round"}) {
    EXPECT_EQ(of_decimal(function, -300, 2), "-3.00") << function;
    EXPECT_EQ(of_decimal(function, 0, 38), "0." + std::string(38, '0')) << function;
  }
  EXPECT_EQ(of_decimal("floor", -301, 2), "-4.00");
  EXPECT_EQ(of_decimal("ceil", 301, 2), "4.00");
}

TEST(ExpressionEdge, ComputesWithTimesThatAreOutOfRange) {
  // Rows with an error still go through what follows, which must not mind.
  const auto longest = microseconds::max();
  for (const microseconds by : {longest, -longest, microseconds::min()}) {
    for (const char* field : {"year", "week", "day", "hour", "second", "microsecond"}) {
      const Expression moved = col("x") + lit(by);
      for (const Timestamp at : {timestamp_min, Timestamp(), timestamp_max}) {
        EXPECT_EQ(evaluate(call("truncate", {field, moved}), at, Kind::timestamp), "!overflow");
        EXPECT_EQ(evaluate(call("extract", {field, moved}), at, Kind::timestamp), "!overflow");
        EXPECT_EQ(evaluate(call("add_months", {moved, 1}), at, Kind::timestamp), "!overflow");
        EXPECT_EQ(evaluate(cast(moved, Kind::text), at, Kind::timestamp), "!overflow");
      }
    }
  }
  const Expression later = col("x") + std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_EQ(evaluate(call("truncate", {"year", later}), date_max, Kind::date), "!overflow");
  EXPECT_EQ(evaluate(cast(later, Kind::text), date_max, Kind::date), "!overflow");
  EXPECT_EQ(evaluate(call("add_months", {col("x"), 1}), timestamp_max, Kind::timestamp),
            "!overflow");
  EXPECT_EQ(evaluate(call("truncate", {"week", col("x")}), timestamp_min, Kind::timestamp),
            "0001-01-01T00:00:00Z");
}

TEST(ExpressionEdge, RefusesLiteralsThatNoColumnCanHold) {
  const auto refusal = [](Value value) {
    return evaluate(lit(std::move(value)), 1, Kind::int64).substr(0, 20);
  };
  EXPECT_EQ(refusal("\xFF"), "refused: invalid val");
  EXPECT_EQ(refusal(Decimal{coefficient_max + 1, 0}), "refused: overflow: a");
  EXPECT_EQ(refusal(Decimal{1, 39}), "refused: overflow: a");
  EXPECT_EQ(refusal(timestamp_max + microseconds(1)), "refused: overflow: d");
  EXPECT_EQ(refusal(date_max + std::chrono::days(1)), "refused: overflow: d");
}

TEST(ExpressionEdge, RefusesCastsToTypesThatThereAreNot) {
  DataType scaled = Kind::int64;
  scaled.scale = 2;
  for (const DataType type : {DataType::decimal(39), DataType::decimal(255), scaled}) {
    EXPECT_EQ(evaluate(cast(col("x"), type), 0.5, Kind::float64).substr(0, 26),
              "refused: invalid argument:");
    EXPECT_EQ(evaluate(cast(col("x"), type), "5", Kind::text).substr(0, 26),
              "refused: invalid argument:");
  }
}

TEST(ExpressionEdge, CountsWhatAFunctionGivesThatNoColumnCanHoldAsItsError) {
  FunctionRegistry functions;
  ASSERT_TRUE(functions.add({.name = "broken",
                             .parameters = {Kind::int64},
                             .result = Kind::text,
                             .call = [](auto) -> Result<Value> { return Value("\xFF"); }}));
  ASSERT_TRUE(functions.add({.name = "late",
                             .parameters = {Kind::int64},
                             .result = Kind::timestamp,
                             .call = [](auto) -> Result<Value> { return Timestamp::max(); }}));
  EXPECT_EQ(evaluate(call("broken", {col("x")}), 1, Kind::int64, functions), "!invalid value");
  EXPECT_EQ(evaluate(call("late", {col("x")}), 1, Kind::int64, functions), "!overflow");
  EXPECT_EQ(functions
                .add({.name = "long",
                      .parameters = {},
                      .result = DataType::decimal(39),
                      .call = [](auto) -> Result<Value> { return Value(); }})
                .error(),
            Errc::invalid_argument);
}

TEST(ExpressionEdge, RefusesANullWithoutATypeForAFunctionThatTakesAny) {
  FunctionRegistry functions;
  const auto same = [](std::span<const ArgumentType>) -> Result<BoundFunction> {
    return BoundFunction{
        .result = Kind::int64,
        .kernel = [](std::span<const Evaluated> operands, std::size_t) { return operands[0]; }};
  };
  ASSERT_TRUE(functions.add("same", same));
  EXPECT_EQ(evaluate(call("same", {col("x")}), 1, Kind::int64, functions), "1");
  EXPECT_EQ(evaluate(call("same", {Value()}), 1, Kind::int64, functions),
            "refused: type mismatch: same(null): null has no type; cast it");
}

}  // namespace
}  // namespace weir::flow::data
