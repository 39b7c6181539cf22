#include <weir/flow/data/compiled_expression.hpp>

#include <algorithm>

#include <weir/flow/data/internal/builtin.hpp>
#include <weir/flow/data/internal/expression_node.hpp>
#include <weir/flow/data/internal/kernels.hpp>
#include <weir/flow/data/internal/select_rows.hpp>

namespace weir::flow::data {
namespace internal {

class CompiledNode {
 public:
  virtual ~CompiledNode() = default;
  virtual Evaluated evaluate(std::span<const ColumnRef> columns, std::size_t rows) const = 0;
  /// The same for all rows, and known before there are any.
  virtual bool is_constant() const noexcept { return false; }
};

}  // namespace internal

namespace {

using internal::CompiledNode;
using internal::ExpressionNode;
using Step = ExpressionNode::Step;
using NodeRef = std::shared_ptr<const CompiledNode>;

class ColumnNode final : public CompiledNode {
 public:
  explicit ColumnNode(std::size_t index) noexcept : index_(index) {}
  Evaluated evaluate(std::span<const ColumnRef> columns, std::size_t) const override {
    return {.column = columns[index_]};
  }

 private:
  std::size_t index_;
};

class ConstantNode final : public CompiledNode {
 public:
  explicit ConstantNode(Evaluated value) noexcept : value_(std::move(value)) {}
  Evaluated evaluate(std::span<const ColumnRef>, std::size_t) const override { return value_; }
  bool is_constant() const noexcept override { return true; }

 private:
  Evaluated value_;
};

/// Rows with an error are null, also where the function would have given something.
void make_null(Evaluated& result, const RowErrors& errors) {
  const auto is_null = [&](const RowError& error) { return result.column->is_null(error.row); };
  if (std::ranges::all_of(errors, is_null)) return;
  auto copy = std::make_shared<Column>(*result.column);
  for (const RowError& error : errors) copy->nulls().add(error.row);
  result.column = std::move(copy);
}

class CallNode final : public CompiledNode {
 public:
  CallNode(Kernel kernel, bool handles_errors, std::vector<NodeRef> arguments)
      : kernel_(std::move(kernel)),
        handles_errors_(handles_errors),
        arguments_(std::move(arguments)) {}

  Evaluated evaluate(std::span<const ColumnRef> columns, std::size_t rows) const override {
    std::vector<Evaluated> operands;
    operands.reserve(arguments_.size());
    for (const NodeRef& argument : arguments_) {
      operands.push_back(argument->evaluate(columns, rows));
    }
    const bool is_constant = std::ranges::all_of(operands, &Evaluated::is_constant);
    const std::size_t computed = is_constant ? 1 : rows;
    Evaluated result = kernel_(operands, computed);
    if (handles_errors_) return result;
    for (const Evaluated& operand : operands) {
      internal::add_errors(operand, computed, result.errors);
    }
    if (!result.errors.empty()) make_null(result, result.errors);
    return result;
  }

 private:
  Kernel kernel_;
  bool handles_errors_;
  std::vector<NodeRef> arguments_;
};

NodeRef constant_of(const Value& value, DataType type) {
  auto column = std::make_shared<Column>(type);
  column->append(value);
  return std::make_shared<ConstantNode>(
      Evaluated{.column = std::move(column), .is_constant = true});
}

/// A part of an expression whose type is known; null may have none yet.
struct Part {
  NodeRef node;
  std::optional<DataType> type;
  const Value* literal = nullptr;
};

/// Adds the part of the expression that is meant.
Error in(const Expression& expression, const Error& error) {
  return Error(error.code(), to_string(expression) + ": " + error.detail());
}

class Compiler {
 public:
  Compiler(const Schema& schema, const FunctionRegistry& functions)
      : schema_(schema), functions_(functions) {}

  Result<Part> compile(const Expression& expression, int depth = 0) const {
    if (depth > internal::expression_depth_max)
      return Error(Errc::invalid_argument, "more than 1'000 steps inside one another");
    const ExpressionNode& node = expression.node();
    switch (node.step) {
      case Step::column: return compile_column(expression);
      case Step::literal: return compile_literal(node.literal);
      case Step::cast: return compile_cast(expression, depth);
      case Step::call: return compile_call(expression, depth);
    }
    return Error(Errc::invalid_argument, "not an expression");
  }

  /// The part with a type: what every expression as a whole has.
  static Result<Part> convert(Part part, DataType type, const Expression& expression) {
    if (part.type == type) return part;
    if (!part.type) return Part{constant_of({}, type), type};
    if (part.literal) {
      auto value = internal::convert_literal(*part.literal, type);
      if (!value) return in(expression, value.error());
      return Part{constant_of(*value, type), type};
    }
    Kernel cast = internal::make_cast(*part.type, type);
    if (!cast) {
      return in(expression,
                Error(Errc::type_mismatch, "there is no conversion from " + to_string(*part.type) +
                                               " to " + to_string(type)));
    }
    return Part{make_call(std::move(cast), false, {std::move(part.node)}), type};
  }

 private:
  Result<Part> compile_column(const Expression& expression) const {
    auto index = schema_.index_of(expression.node().name);
    if (!index) return index.error();
    return Part{std::make_shared<ColumnNode>(*index), schema_[*index].type};
  }

  static Result<Part> compile_literal(const Value& literal) {
    if (auto checked = check_value(literal); !checked) return std::move(checked).error();
    const auto type = literal.type();
    if (!type) return Part{nullptr, std::nullopt, &literal};
    return Part{constant_of(literal, *type), type, &literal};
  }

  Result<Part> compile_cast(const Expression& expression, int depth) const {
    const auto& [step, name, literal, type, arguments] = expression.node();
    if (!is_valid(type)) {
      return in(expression, Error(Errc::invalid_argument, "there is no type " + to_string(type) +
                                                              " with a scale of " +
                                                              std::to_string(type.scale)));
    }
    auto part = compile(arguments[0], depth + 1);
    if (!part) return part;
    part->literal = nullptr;  // rounds, unlike a literal that is used as it is
    return convert(*std::move(part), type, expression);
  }

  Result<Part> compile_call(const Expression& expression, int depth) const {
    const ExpressionNode& node = expression.node();
    const Bind* bind = functions_.find(node.name);
    if (!bind) return in(expression, Error(Errc::unknown_function, "'" + node.name + "'"));
    std::vector<Part> parts;
    std::vector<ArgumentType> types;
    for (const Expression& argument : node.arguments) {
      auto part = compile(argument, depth + 1);
      if (!part) return part;
      types.push_back({part->type, part->literal});
      parts.push_back(*std::move(part));
    }
    auto bound = (*bind)(types);
    if (!bound) return in(expression, bound.error());
    return finish_call(*std::move(bound), std::move(parts), expression);
  }

  static Result<Part> finish_call(BoundFunction bound, std::vector<Part> parts,
                                  const Expression& expression) {
    const bool takes_any = bound.parameters.empty();
    if (!takes_any && bound.parameters.size() != parts.size())
      return in(expression, Error(Errc::invalid_argument, "it has another number of parameters"));
    std::vector<NodeRef> arguments;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (takes_any && !parts[i].type)
        return in(expression, Error(Errc::type_mismatch, "null has no type; cast it"));
      const DataType type = takes_any ? *parts[i].type : bound.parameters[i];
      auto part = convert(std::move(parts[i]), type, expression);
      if (!part) return part;
      arguments.push_back(std::move(part->node));
    }
    return Part{make_call(std::move(bound.kernel), bound.handles_errors, std::move(arguments)),
                bound.result};
  }

  /// Computes at once what does not depend on a row.
  static NodeRef make_call(Kernel kernel, bool handles_errors, std::vector<NodeRef> arguments) {
    const bool is_constant = std::ranges::all_of(arguments, &CompiledNode::is_constant);
    auto node = std::make_shared<CallNode>(std::move(kernel), handles_errors, std::move(arguments));
    if (!is_constant) return node;
    return std::make_shared<ConstantNode>(node->evaluate({}, 1));
  }

  const Schema& schema_;
  const FunctionRegistry& functions_;
};

}  // namespace

Result<CompiledExpression> CompiledExpression::compile(const Expression& expression,
                                                       const Schema& schema,
                                                       const FunctionRegistry& functions) {
  auto part = Compiler(schema, functions).compile(expression);
  if (!part) return part.error();
  if (!part->type) {
    return Error(Errc::type_mismatch, to_string(expression) + ": null has no type; cast it");
  }
  return CompiledExpression(std::move(part->node), *part->type);
}

CompiledExpression::Evaluation CompiledExpression::evaluate(std::span<const ColumnRef> columns,
                                                            std::size_t rows) const {
  Evaluated result = node_->evaluate(columns, rows);
  if (!result.is_constant) return {std::move(result.column), std::move(result.errors)};
  Evaluation evaluation;
  internal::add_errors(result, rows, evaluation.errors);
  const std::vector<std::uint32_t> repeated(rows, 0);
  evaluation.column = std::make_shared<const Column>(result.column->take(repeated));
  return evaluation;
}

void select_true(const CompiledExpression::Evaluation& evaluation, Values<std::uint32_t>& rows) {
  const std::span<const std::uint8_t> values = evaluation.column->values<std::uint8_t>();
  rows.resize(values.size());
  const std::uint8_t* const are_true = values.data();
  const std::size_t count =
      evaluation.column->has_nulls()
          ? internal::select_rows(values.size(), rows.data(),
                                  [&, are_true](std::uint32_t row) {
                                    return are_true[row] != 0 && !evaluation.column->is_null(row);
                                  })
          : internal::select_rows(values.size(), rows.data(),
                                  [are_true](std::uint32_t row) { return are_true[row] != 0; });
  rows.resize(count);
}

}  // namespace weir::flow::data
