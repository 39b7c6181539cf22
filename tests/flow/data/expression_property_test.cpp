// Random expressions over random columns, against an interpreter that takes one row at a time and
// shares nothing with the product but how expressions are written down.

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>

#include <weir/flow/data/compiled_expression.hpp>
#include <weir/flow/data/internal/expression_node.hpp>
#include <weir/tests/flow/data/support/random_data.hpp>

namespace weir::flow::data {
namespace {

using internal::ExpressionNode;
using test::RandomData;

/// A value or an error.
struct Cell {
  Value value = {};
  std::optional<Errc> error = {};
  friend bool operator==(const Cell&, const Cell&) = default;
};

Cell failed(Errc code) { return {.error = code}; }

class Interpreter {
 public:
  Interpreter(const Schema& schema, std::vector<Value> row)
      : schema_(schema), row_(std::move(row)) {}

  Cell run(const Expression& expression) const {
    const ExpressionNode& node = expression.node();
    if (node.step == ExpressionNode::Step::column) return {row_[*schema_.find(node.name)]};
    if (node.step == ExpressionNode::Step::literal) return {node.literal};
    if (node.name == "and") return both(node, false);
    if (node.name == "or") return both(node, true);
    if (node.name == "case") return choose(node);
    if (node.name == "coalesce") return first(node);
    if (node.name == "error_of") {
      const Cell cell = run(node.arguments[0]);
      return cell.error ? Cell{Value(make_error_code(*cell.error).message())} : Cell{};
    }
    std::vector<Value> values;
    for (const Expression& argument : node.arguments) {
      Cell cell = run(argument);
      if (cell.error) return cell;
      values.push_back(std::move(cell.value));
    }
    if (node.name == "is_null") return {Value(values[0].is_null())};
    for (const Value& value : values) {
      if (value.is_null()) return {};
    }
    if (node.name == "not") return {Value(!values[0].as<bool>())};
    if (values[0].type()->kind == Kind::int64) return integers(node.name, values);
    return compare(node.name, values[0] <=> values[1]);
  }

 private:
  /// `decisive` on one side settles it, whatever is on the other.
  Cell both(const ExpressionNode& node, bool decisive) const {
    Cell a = run(node.arguments[0]);
    Cell b = run(node.arguments[1]);
    for (const Cell* cell : {&a, &b}) {
      if (!cell->error && cell->value == Value(decisive)) return *cell;
    }
    if (a.error) return a;
    if (b.error) return b;
    if (a.value.is_null() || b.value.is_null()) return {};
    return {Value(!decisive)};
  }
  Cell choose(const ExpressionNode& node) const {
    std::size_t i = 0;
    for (; i + 1 < node.arguments.size(); i += 2) {
      Cell condition = run(node.arguments[i]);
      if (condition.error) return condition;
      if (condition.value == Value(true)) return run(node.arguments[i + 1]);
    }
    return i < node.arguments.size() ? run(node.arguments[i]) : Cell{};
  }
  Cell first(const ExpressionNode& node) const {
    Cell cell;
    for (const Expression& argument : node.arguments) {
      cell = run(argument);
      if (cell.error || !cell.value.is_null()) return cell;
    }
    return cell;
  }
  static Cell compare(const std::string& sign, std::weak_ordering order) {
    if (sign == "=") return {Value(order == 0)};
    if (sign == "<>") return {Value(order != 0)};
    if (sign == "<") return {Value(order < 0)};
    if (sign == "<=") return {Value(order <= 0)};
    if (sign == ">") return {Value(order > 0)};
    return {Value(order >= 0)};
  }
  static Cell integers(const std::string& sign, const std::vector<Value>& values) {
    const Int128 a = values[0].as<std::int64_t>();
    if (sign == "negate") return in_range(-a);
    const Int128 b = values[1].as<std::int64_t>();
    if (sign == "+") return in_range(a + b);
    if (sign == "-") return in_range(a - b);
    if (sign == "*") return in_range(a * b);
    if ((sign == "/" || sign == "%") && b == 0) return failed(Errc::division_by_zero);
    if (sign == "/") return in_range(a / b);
    if (sign == "%") return in_range(a % b);
    return compare(sign, a <=> b);
  }
  static Cell in_range(Int128 number) {
    const auto narrow = static_cast<std::int64_t>(number);
    if (narrow != number) return failed(Errc::overflow);
    return {Value(narrow)};
  }

  const Schema& schema_;
  std::vector<Value> row_;
};

/// Expressions that compile, of one of three types.
class RandomExpressions {
 public:
  explicit RandomExpressions(RandomData& random) : random_(random) {}

  Expression integer(int depth) {
    if (depth == 0 || random_.one_in(6)) {
      return random_.one_in(3) ? literal() : col(pick({"i", "j"}));
    }
    switch (random_.below(4)) {
      case 0: return -integer(depth - 1);
      case 1: return coalesce({integer(depth - 1), integer(depth - 1)});
      case 2: return when(condition(depth - 1), integer(depth - 1)).otherwise(integer(depth - 1));
      default:
        return call(pick({"+", "-", "*", "/", "%"}), {integer(depth - 1), integer(depth - 1)});
    }
  }
  /// Powers of two are divided by in another way.
  Expression literal() {
    return lit(random_.one_in(3) ? Value(std::int64_t{1} << random_.below(63))
                                 : random_.value(Kind::int64, false));
  }
  Expression condition(int depth) {
    if (depth == 0 || random_.one_in(8)) {
      return random_.one_in(3) ? lit(random_.one_in(2)) : col(pick({"p", "q"}));
    }
    const std::string sign = pick({"=", "<>", "<", "<=", ">", ">="});
    switch (random_.below(6)) {
      case 0: return !condition(depth - 1);
      case 1: return is_null(integer(depth - 1));
      case 2: return condition(depth - 1) && condition(depth - 1);
      case 3: return condition(depth - 1) || condition(depth - 1);
      case 4: return call(sign, {text(), text()});
      default: return call(sign, {integer(depth - 1), integer(depth - 1)});
    }
  }

 private:
  Expression text() {
    if (random_.one_in(4)) return error_of(integer(1));
    return random_.one_in(3) ? lit(random_.value(Kind::text, false)) : col(pick({"s", "t"}));
  }
  std::string pick(std::initializer_list<const char*> names) {
    return *(names.begin() + random_.below(names.size()));
  }

  RandomData& random_;
};

SchemaRef wide_schema() {
  return std::make_shared<const Schema>(Schema::make({{"i", Kind::int64},
                                                      {"j", Kind::int64},
                                                      {"p", Kind::boolean},
                                                      {"q", Kind::boolean},
                                                      {"s", Kind::text},
                                                      {"t", Kind::text}})
                                            .value());
}

TEST(ExpressionProperty, ColumnsGiveWhatSingleRowsGive) {
  const SchemaRef schema = wide_schema();
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    RandomData random(seed);
    RandomExpressions expressions(random);
    const ChangeBatch batch = random.batch(schema, random.below(90));
    const int depth = static_cast<int>(random.below(5));
    const Expression expression =
        random.one_in(2) ? expressions.integer(depth) : expressions.condition(depth);
    const auto compiled = CompiledExpression::compile(expression, *schema);
    ASSERT_TRUE(compiled) << compiled.error().message() << " seed " << seed;
    const auto evaluation = compiled->evaluate(batch);
    auto error = evaluation.errors.begin();
    for (std::uint32_t row = 0; row < batch.size(); ++row) {
      Cell cell{evaluation.column->value(row)};
      if (error != evaluation.errors.end() && error->row == row) cell.error = (error++)->code;
      const Cell expected = Interpreter(*schema, batch.row(row)).run(expression);
      ASSERT_EQ(cell, expected) << "seed " << seed << ": " << to_string(expression) << " is "
                                << to_string(cell.value) << ", expected "
                                << to_string(expected.value);
    }
    ASSERT_EQ(error, evaluation.errors.end()) << "seed " << seed << ": errors out of order";
  }
}

}  // namespace
}  // namespace weir::flow::data
