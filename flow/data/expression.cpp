#include <weir/flow/data/expression.hpp>

#include <weir/flow/data/internal/expression_node.hpp>

namespace weir::flow::data {
namespace {

using internal::ExpressionNode;
using Step = ExpressionNode::Step;

Expression binary(const char* sign, Expression a, Expression b) {
  return call(sign, {std::move(a), std::move(b)});
}

bool is_sign(const std::string& name) { return name.find_first_of("+-*/%=<>") == 0; }

std::string list(const std::vector<Expression>& arguments) {
  std::string out;
  for (const Expression& argument : arguments)
    out += (out.empty() ? "" : ", ") + to_string(argument);
  return out;
}

std::string call_to_string(const ExpressionNode& node) {
  const auto& arguments = node.arguments;
  const bool is_infix =
      arguments.size() == 2 && (is_sign(node.name) || node.name == "and" || node.name == "or");
  if (is_infix) {
    return "(" + to_string(arguments[0]) + " " + node.name + " " + to_string(arguments[1]) + ")";
  }
  return node.name + "(" + list(arguments) + ")";
}

}  // namespace

Expression::Expression(ExpressionNode node)
    : node_(std::make_shared<const ExpressionNode>(std::move(node))) {}
Expression::Expression(Value value)
    : Expression(ExpressionNode{.step = Step::literal, .literal = std::move(value)}) {}

std::optional<std::string_view> Expression::column_name() const noexcept {
  if (node_->step != ExpressionNode::Step::column) return std::nullopt;
  return node_->name;
}

Expression col(std::string name) {
  return Expression(ExpressionNode{.step = Step::column, .name = std::move(name)});
}
Expression lit(Value value) { return Expression(std::move(value)); }
Expression call(std::string name, std::vector<Expression> arguments) {
  return Expression(ExpressionNode{
      .step = Step::call, .name = std::move(name), .arguments = std::move(arguments)});
}
Expression cast(Expression value, DataType type) {
  return Expression(
      ExpressionNode{.step = Step::cast, .type = type, .arguments = {std::move(value)}});
}

Expression operator+(Expression a, Expression b) { return binary("+", std::move(a), std::move(b)); }
Expression operator-(Expression a, Expression b) { return binary("-", std::move(a), std::move(b)); }
Expression operator*(Expression a, Expression b) { return binary("*", std::move(a), std::move(b)); }
Expression operator/(Expression a, Expression b) { return binary("/", std::move(a), std::move(b)); }
Expression operator%(Expression a, Expression b) { return binary("%", std::move(a), std::move(b)); }
Expression operator-(Expression a) { return call("negate", {std::move(a)}); }

Expression operator==(Expression a, Expression b) {
  return binary("=", std::move(a), std::move(b));
}
Expression operator!=(Expression a, Expression b) {
  return binary("<>", std::move(a), std::move(b));
}
Expression operator<(Expression a, Expression b) { return binary("<", std::move(a), std::move(b)); }
Expression operator<=(Expression a, Expression b) {
  return binary("<=", std::move(a), std::move(b));
}
Expression operator>(Expression a, Expression b) { return binary(">", std::move(a), std::move(b)); }
Expression operator>=(Expression a, Expression b) {
  return binary(">=", std::move(a), std::move(b));
}

Expression operator&&(Expression a, Expression b) {
  return binary("and", std::move(a), std::move(b));
}
Expression operator||(Expression a, Expression b) {
  return binary("or", std::move(a), std::move(b));
}
Expression operator!(Expression a) { return call("not", {std::move(a)}); }

Expression is_null(Expression value) { return call("is_null", {std::move(value)}); }
Expression error_of(Expression value) { return call("error_of", {std::move(value)}); }
Expression coalesce(std::vector<Expression> values) { return call("coalesce", std::move(values)); }
Expression null_if(Expression value, Expression other) {
  return call("null_if", {std::move(value), std::move(other)});
}
Expression is_distinct(Expression a, Expression b) {
  return call("is_distinct", {std::move(a), std::move(b)});
}

When When::when(Expression condition, Expression value) const {
  ExpressionNode longer = node();
  longer.arguments.push_back(std::move(condition));
  longer.arguments.push_back(std::move(value));
  return When(std::move(longer));
}
Expression When::otherwise(Expression value) const {
  ExpressionNode whole = node();
  whole.arguments.push_back(std::move(value));
  return Expression(std::move(whole));
}
When when(Expression condition, Expression value) {
  return When(ExpressionNode{
      .step = Step::call, .name = "case", .arguments = {std::move(condition), std::move(value)}});
}

std::string to_string(const Expression& expression) {
  const ExpressionNode& node = expression.node();
  switch (node.step) {
    case Step::column: return node.name;
    case Step::literal: return to_string(node.literal);
    case Step::cast: return "cast(" + list(node.arguments) + " as " + to_string(node.type) + ")";
    case Step::call: return call_to_string(node);
  }
  return {};
}

}  // namespace weir::flow::data
