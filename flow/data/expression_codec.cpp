#include <weir/flow/data/expression_codec.hpp>

#include <utility>
#include <vector>

#include <weir/flow/data/column.hpp>
#include <weir/flow/data/errc.hpp>
#include <weir/flow/data/internal/expression_node.hpp>
#include <weir/flow/data/row_codec.hpp>
#include <weir/storage/value.hpp>

namespace weir::flow::data {
namespace {

using internal::ExpressionNode;
using Step = ExpressionNode::Step;
using Number = storage::ValueCodec<std::uint64_t>;
using Text = storage::ValueCodec<std::string>;

void append_type(DataType type, std::string& out) {
  out.push_back(static_cast<char>(type.kind));
  out.push_back(static_cast<char>(type.scale));
}

bool take_type(std::string_view& in, DataType& type) {
  if (in.size() < 2) return false;
  const auto kind = static_cast<std::uint8_t>(in[0]);
  const auto scale = static_cast<std::uint8_t>(in[1]);
  in.remove_prefix(2);
  if (kind < static_cast<std::uint8_t>(Kind::boolean) ||
      kind > static_cast<std::uint8_t>(Kind::uuid)) {
    return false;
  }
  type = static_cast<Kind>(kind);
  type.scale = scale;
  return is_valid(type);
}

bool take_node(std::string_view& in, int depth, ExpressionNode& node);

bool take_arguments(std::string_view& in, int depth, ExpressionNode& node) {
  std::uint64_t count = 0;
  if (!Number::decode(in, count) || count > in.size()) return false;
  for (; count > 0; --count) {
    ExpressionNode argument{.step = Step::literal};
    if (!take_node(in, depth + 1, argument)) return false;
    node.arguments.emplace_back(std::move(argument));
  }
  return true;
}

bool take_node(std::string_view& in, int depth, ExpressionNode& node) {
  if (depth > internal::expression_depth_max || in.empty()) return false;
  node.step = static_cast<Step>(in.front());
  in.remove_prefix(1);
  switch (node.step) {
    case Step::column: return Text::decode(in, node.name);
    case Step::literal: return take_value(in, node.literal);
    case Step::cast:
      return take_type(in, node.type) && take_arguments(in, depth, node) &&
             node.arguments.size() == 1;
    case Step::call: return Text::decode(in, node.name) && take_arguments(in, depth, node);
  }
  return false;
}

}  // namespace

void append_value(const Value& value, std::string& out) {
  const auto type = value.type();
  out.push_back(type ? '\1' : '\0');
  if (!type) return;
  append_type(*type, out);
  Column column(*type);
  column.append(value);
  append_ordered(column, 0, out);
}

bool take_value(std::string_view& in, Value& value) {
  if (in.empty() || static_cast<unsigned char>(in.front()) > 1) return false;
  const bool is_null = in.front() == '\0';
  in.remove_prefix(1);
  value = Value();
  if (is_null) return true;
  DataType type = Kind::boolean;
  if (!take_type(in, type)) return false;
  Column column(type);
  if (!take_ordered(in, column)) return false;
  value = column.value(0);
  return !value.is_null();
}

void append_expression(const Expression& expression, std::string& out) {
  const ExpressionNode& node = expression.node();
  out.push_back(static_cast<char>(node.step));
  if (node.step == Step::literal) return append_value(node.literal, out);
  if (node.step == Step::cast) append_type(node.type, out);
  if (node.step == Step::column || node.step == Step::call) Text::encode(node.name, out);
  if (node.step == Step::column) return;
  Number::encode(node.arguments.size(), out);
  for (const Expression& argument : node.arguments) append_expression(argument, out);
}

Result<Expression> take_expression(std::string_view& in) {
  ExpressionNode node{.step = Step::literal};
  if (!take_node(in, 0, node)) return Error(Errc::corruption, "an expression");
  return Expression(std::move(node));
}

}  // namespace weir::flow::data
