#include <weir/flow/data/expression.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include <weir/flow/data/compiled_expression.hpp>

namespace weir::flow::data {
namespace {

using std::chrono::microseconds;

constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();

/// Rows with a column of each type; the last one is all null.
ChangeBatch sample() {
  const auto schema = std::make_shared<const Schema>(Schema::make({{"i", Kind::int64},
                                                                   {"u", Kind::uint64},
                                                                   {"f", Kind::float64},
                                                                   {"d", DataType::decimal(2)},
                                                                   {"t", Kind::text},
                                                                   {"b", Kind::boolean},
                                                                   {"at", Kind::timestamp},
                                                                   {"day", Kind::date},
                                                                   {"took", Kind::duration}})
                                                         .value());
  BatchBuilder builder(schema);
  const Timestamp at = parse_timestamp("2024-02-29T12:30:00Z").value();
  const Date day = parse_date("2024-02-29").value();
  EXPECT_TRUE(
      builder.add({7, 3u, 2.5, Decimal{150, 2}, "Weir é", true, at, day, microseconds(1500)}));
  EXPECT_TRUE(
      builder.add({int64_max, 0u, 0.0, Decimal{0, 2}, "", false, at, day, microseconds(0)}));
  EXPECT_TRUE(builder.add(
      {Value(), Value(), Value(), Value(), Value(), Value(), Value(), Value(), Value()}));
  return builder.finish();
}

/// What an expression gives for the three rows; errors as `!overflow`.
std::string evaluate(const Expression& expression) {
  const ChangeBatch batch = sample();
  const auto compiled = CompiledExpression::compile(expression, *batch.schema());
  if (!compiled) return "refused: " + compiled.error().message();
  const auto evaluation = compiled->evaluate(batch);
  EXPECT_EQ(evaluation.column->type(), compiled->type());
  EXPECT_EQ(evaluation.column->size(), batch.size());
  std::string out;
  for (std::uint32_t row = 0; row < batch.size(); ++row) {
    std::string value = to_string(evaluation.column->value(row));
    for (const RowError& error : evaluation.errors) {
      if (error.row != row) continue;
      EXPECT_EQ(value, "null") << "of a row with an error";
      value = "!" + make_error_code(error.code).message();
    }
    out += (out.empty() ? "" : " ") + value;
  }
  return out;
}

TEST(Expression, IsShownAsOneWouldWriteIt) {
  EXPECT_EQ(to_string(col("amount") * 2 > lit(10)), "((amount * 2) > 10)");
  EXPECT_EQ(to_string(!is_null(col("a")) && col("b") == "x"), "(not(is_null(a)) and (b = 'x'))");
  EXPECT_EQ(to_string(cast(col("a"), DataType::decimal(2))), "cast(a as decimal(2))");
  EXPECT_EQ(to_string(when(col("a"), 1).when(col("b"), 2).otherwise(3)), "case(a, 1, b, 2, 3)");
}

TEST(Expression, ComputesWithIntegersAndRefusesToWrapAround) {
  EXPECT_EQ(evaluate(col("i") + 1), "8 !overflow null");
  EXPECT_EQ(evaluate(col("i") * 2), "14 !overflow null");
  EXPECT_EQ(evaluate(-col("i")), "-7 -9223372036854775807 null");
  EXPECT_EQ(evaluate(lit(int64_min) - col("i")), "!overflow !overflow null");
  EXPECT_EQ(evaluate(col("u") - 1), "2 !overflow null");
  EXPECT_EQ(evaluate(lit(10) / col("u")), "3 !division by zero null");
  EXPECT_EQ(evaluate(col("i") % 4), "3 3 null");
  EXPECT_EQ(evaluate(lit(int64_min) / -1), "!overflow !overflow !overflow");
  EXPECT_EQ(evaluate(lit(int64_min) % -1), "0 0 0");
  EXPECT_EQ(evaluate(call("abs", {lit(int64_min)})), "!overflow !overflow !overflow");
}

TEST(Expression, ComputesWithFloatsAndDecimals) {
  EXPECT_EQ(evaluate(col("f") * 2), "5 0 null");
  EXPECT_EQ(evaluate(col("f") + col("i")), "9.5 9223372036854775808 null");
  EXPECT_EQ(evaluate(lit(1) / col("f")), "0.4 !division by zero null");
  EXPECT_EQ(evaluate(col("d") + 1), "2.50 1.00 null");
  EXPECT_EQ(evaluate(col("d") * 0.5), "0.750 0.000 null");
  EXPECT_EQ(evaluate(col("d") * col("d")), "2.2500 0.0000 null");
  EXPECT_EQ(evaluate(lit(1) / col("d")), "0.666667 !division by zero null");
  EXPECT_EQ(evaluate(col("d") + col("i")), "8.50 9223372036854775807.00 null");
  EXPECT_EQ(evaluate(call("floor", {-col("d")})), "-2.00 0.00 null");
  EXPECT_EQ(evaluate(call("ceil", {-col("d")})), "-1.00 0.00 null");
  EXPECT_EQ(evaluate(call("round", {col("d")})), "2.00 0.00 null");
  EXPECT_EQ(evaluate(call("round", {col("f")})), "3 0 null");
}

TEST(Expression, ComparesNullAsUnknown) {
  EXPECT_EQ(evaluate(col("i") == 7), "true false null");
  EXPECT_EQ(evaluate(col("d") >= 1.5), "true false null");
  EXPECT_EQ(evaluate(col("t") < "X"), "true true null");
  EXPECT_EQ(evaluate(col("f") != col("f")), "false false null");
  EXPECT_EQ(evaluate(col("i") == Value()), "null null null");
  EXPECT_EQ(evaluate(is_distinct(col("i"), Value())), "true true false");
  EXPECT_EQ(evaluate(col("at") > "2024-02-29T00:00:00Z"), "true true null");
  EXPECT_EQ(evaluate(col("at") >= col("day")), "true true null");
  EXPECT_EQ(evaluate(null_if(col("i"), 7)), "null 9223372036854775807 null");
  EXPECT_EQ(evaluate(is_null(col("i"))), "false false true");
  EXPECT_EQ(evaluate(is_null(col("i") + 1)), "false !overflow true");
}

TEST(Expression, SaysWhyARowCannotBeComputed) {
  EXPECT_EQ(evaluate(error_of(col("i") + 1)), "null 'overflow' null");
  EXPECT_EQ(evaluate(error_of(lit(10) / col("u"))), "null 'division by zero' null");
  EXPECT_EQ(evaluate(error_of(cast(col("t"), Kind::int64))),
            "'invalid value' 'invalid value' null");
  EXPECT_EQ(evaluate(error_of(lit(1) / 0)),
            "'division by zero' 'division by zero' 'division by zero'");
  EXPECT_EQ(evaluate(is_null(error_of(col("i") + 1))), "true false true");
  EXPECT_EQ(evaluate(error_of(Value())), "null null null");
  EXPECT_EQ(evaluate(call("error_of", {})).substr(0, 8), "refused:");
}

TEST(Expression, HasThreeValuedLogicInWhichOneSideMayDecide) {
  const Expression unknown = col("b") && Value();
  EXPECT_EQ(evaluate(unknown), "null false null");
  EXPECT_EQ(evaluate(col("b") || Value()), "true null null");
  EXPECT_EQ(evaluate(!col("b")), "false true null");
  const Expression broken = col("i") / 0 == 1;
  EXPECT_EQ(evaluate(broken), "!division by zero !division by zero null");
  EXPECT_EQ(evaluate(broken && false), "false false false");
  EXPECT_EQ(evaluate(lit(true) || broken), "true true true");
  EXPECT_EQ(evaluate(broken && col("b")), "!division by zero false null");
  EXPECT_EQ(evaluate(lit(1) / 0 == 1 || col("b")), "true !division by zero !division by zero");
}

TEST(Expression, ChoosesAndIgnoresErrorsOfWhatIsNotChosen) {
  const Expression safe = when(col("u") != 0, lit(10) / col("u")).otherwise(-1);
  EXPECT_EQ(evaluate(safe),
            "refused: type mismatch: case((u <> 0), (10 / u), -1): -1 is not a value of uint64");
  EXPECT_EQ(evaluate(when(col("u") != 0, lit(10) / col("u")).otherwise(0)), "3 0 0");
  EXPECT_EQ(evaluate(when(col("b"), "yes").when(!col("b"), "no")), "'yes' 'no' null");
  EXPECT_EQ(evaluate(when(lit(1) / col("u") == 1, 1).otherwise(2)), "2 !division by zero 2");
  EXPECT_EQ(evaluate(coalesce({col("i"), 0})), "7 9223372036854775807 0");
  EXPECT_EQ(evaluate(coalesce({lit(1) / col("u"), 5u})), "0 !division by zero 5");
  EXPECT_EQ(evaluate(coalesce({col("d"), col("i")})), "1.50 0.00 null");
}

TEST(Expression, Casts) {
  EXPECT_EQ(evaluate(cast(col("f"), Kind::int64)), "3 0 null");
  EXPECT_EQ(evaluate(cast(col("i"), Kind::uint64)), "7 9223372036854775807 null");
  EXPECT_EQ(evaluate(cast(-col("i"), Kind::uint64)), "!overflow !overflow null");
  EXPECT_EQ(evaluate(cast(col("d"), Kind::int64)), "2 0 null");
  EXPECT_EQ(evaluate(cast(col("d"), DataType::decimal(1))), "1.5 0.0 null");
  EXPECT_EQ(evaluate(cast(col("i"), Kind::text)), "'7' '9223372036854775807' null");
  EXPECT_EQ(evaluate(cast(col("t"), Kind::int64)), "!invalid value !invalid value null");
  EXPECT_EQ(evaluate(cast(cast(col("i"), Kind::text), Kind::int64)), "7 9223372036854775807 null");
  EXPECT_EQ(evaluate(cast(lit("1e400"), Kind::float64)), "!overflow !overflow !overflow");
  EXPECT_EQ(evaluate(cast(col("at"), Kind::date)), "2024-02-29 2024-02-29 null");
  EXPECT_EQ(evaluate(cast(col("day"), Kind::timestamp) == col("at")), "false false null");
  EXPECT_EQ(evaluate(cast(cast(col("t"), Kind::bytes), Kind::text) == col("t")), "true true null");
  EXPECT_EQ(evaluate(cast(Value(), Kind::int64)), "null null null");
}

TEST(Expression, HasTextFunctions) {
  EXPECT_EQ(evaluate(call("length", {col("t")})), "6 0 null");
  EXPECT_EQ(evaluate(call("upper", {call("substring", {col("t"), 1, 4})})), "'WEIR' '' null");
  EXPECT_EQ(evaluate(call("concat", {col("t"), "!"}) == "!"), "false true null");
  EXPECT_EQ(evaluate(call("like", {col("t"), "W%_"})), "true false null");
  EXPECT_EQ(evaluate(call("like", {lit("50%"), "50\\%"})), "true true true");
  EXPECT_EQ(evaluate(call("like", {lit("505"), "50\\%"})), "false false false");
  EXPECT_EQ(evaluate(call("like", {lit("é"), "_"})), "true true true");
  EXPECT_EQ(evaluate(call("replace", {lit("a-b-c"), "-", "+"})), "'a+b+c' 'a+b+c' 'a+b+c'");
  EXPECT_EQ(evaluate(call("trim", {lit("  a b ")})), "'a b' 'a b' 'a b'");
  EXPECT_EQ(evaluate(call("starts_with", {col("t"), "We"})), "true false null");
  EXPECT_EQ(evaluate(call("ends_with", {col("t"), "é"})), "true false null");
  EXPECT_EQ(evaluate(call("ends_with", {lit("weir"), "ir"})), "true true true");
  EXPECT_EQ(evaluate(call("ends_with", {lit("ir"), "weir"})), "false false false");
  EXPECT_EQ(evaluate(call("contains", {col("t"), "ei"})), "true false null");
  EXPECT_EQ(evaluate(call("contains", {col("t"), ""})), "true true null");
  EXPECT_EQ(evaluate(call("substring", {col("t"), 0, 3})), "'We' '' null");
  EXPECT_EQ(evaluate(call("substring", {col("t"), 1, -1})), "!invalid value !invalid value null");
}

TEST(Expression, HasTimes) {
  EXPECT_EQ(evaluate(call("extract", {"month", col("at")})), "2 2 null");
  EXPECT_EQ(evaluate(call("truncate", {"month", col("at")})),
            "2024-02-01T00:00:00Z 2024-02-01T00:00:00Z null");
  EXPECT_EQ(evaluate(call("add_months", {col("day"), 12})),
            "2025-02-28T00:00:00Z 2025-02-28T00:00:00Z null");
  EXPECT_EQ(evaluate(col("at") + col("took") - col("at")), "PT0.0015S PT0S null");
  EXPECT_EQ(evaluate(col("took") * 2), "PT0.003S PT0S null");
  EXPECT_EQ(evaluate(col("day") + 1), "2024-03-01 2024-03-01 null");
  EXPECT_EQ(evaluate(col("day") - col("day")), "0 0 null");
  EXPECT_EQ(evaluate(col("day") + col("i")), "2024-03-07 !overflow null");
}

TEST(Expression, IsRefusedWithTheNamesOfColumnsAndTypes) {
  EXPECT_EQ(evaluate(col("x") + 1),
            "refused: unknown column: 'x'; there are: i, u, f, d, t, b, at, day, took");
  EXPECT_EQ(evaluate(col("i") + col("t")),
            "refused: type mismatch: (i + t): int64 and text have no '+'; cast one of them");
  EXPECT_EQ(evaluate(col("i") == col("u")),
            "refused: type mismatch: (i = u): int64 and uint64 do not fit together; cast one of "
            "them");
  EXPECT_EQ(evaluate(col("i") && col("b")),
            "refused: type mismatch: (i and b): a condition is bool, not int64");
  EXPECT_EQ(evaluate(call("lowr", {col("t")})), "refused: unknown function: lowr(t): 'lowr'");
  EXPECT_EQ(evaluate(call("lower", {col("i")})),
            "refused: type mismatch: lower(i): text is expected, not int64");
  EXPECT_EQ(evaluate(call("lower", {})),
            "refused: invalid argument: lower(): takes 1 arguments, not 0");
  EXPECT_EQ(evaluate(col("at") > "yesterday").substr(0, 30), "refused: type mismatch: (at > ");
  EXPECT_EQ(evaluate(cast(col("b"), Kind::uuid)),
            "refused: type mismatch: cast(b as uuid): there is no conversion from bool to uuid");
  EXPECT_EQ(evaluate(lit(Value())), "refused: type mismatch: null: null has no type; cast it");
  EXPECT_EQ(evaluate(call("extract", {col("t"), col("at")})).substr(0, 27),
            "refused: invalid argument: ");
}

TEST(FunctionRegistry, CallsFunctionsOfTheUser) {
  FunctionRegistry functions;
  ASSERT_TRUE(functions.add({.name = "half",
                             .parameters = {Kind::int64},
                             .result = Kind::int64,
                             .call = [](std::span<const Value> arguments) -> Result<Value> {
                               const auto number = arguments[0].as<std::int64_t>();
                               if (number % 2 != 0) return Error(Errc::invalid_value, "odd");
                               return Value(number / 2);
                             }}));
  const ChangeBatch batch = sample();
  const auto compiled =
      CompiledExpression::compile(call("half", {col("i") + 1}), *batch.schema(), functions);
  ASSERT_TRUE(compiled) << compiled.error().message();
  const auto evaluation = compiled->evaluate(batch);
  EXPECT_EQ(evaluation.column->value(0), Value(4));
  EXPECT_EQ(evaluation.errors, (RowErrors{{1, Errc::overflow}}));
  EXPECT_TRUE(evaluation.column->is_null(2)) << "strict: not called for null";
  EXPECT_EQ(functions
                .add({.name = "half",
                      .parameters = {},
                      .result = Kind::int64,
                      .call = [](auto) -> Result<Value> { return Value(); }})
                .error(),
            Errc::invalid_argument);
  EXPECT_EQ(functions.add({.name = "+", .parameters = {}, .result = Kind::int64, .call = nullptr})
                .error(),
            Errc::invalid_argument);
}

TEST(CompiledExpression, SelectsRowsForWhichAConditionIsTrue) {
  const ChangeBatch batch = sample();
  const auto compiled = CompiledExpression::compile(col("i") >= 7, *batch.schema()).value();
  Values<std::uint32_t> rows;
  select_true(compiled.evaluate(batch), rows);
  EXPECT_EQ(rows, (Values<std::uint32_t>{0, 1}));
}

TEST(CompiledExpression, EvaluatesNoRows) {
  const ChangeBatch empty(sample().schema());
  for (const Expression& expression :
       {col("i") + 1, lit(1) + 2, col("t"), call("concat", {col("t"), "x"})}) {
    const auto compiled = CompiledExpression::compile(expression, *empty.schema()).value();
    EXPECT_EQ(compiled.evaluate(empty).column->size(), 0u);
  }
}

}  // namespace
}  // namespace weir::flow::data
