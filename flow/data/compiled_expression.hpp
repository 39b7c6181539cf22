#pragma once

#include <memory>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/data/expression.hpp>
#include <weir/flow/data/function.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::data {

namespace internal {
class CompiledNode;
}

/// An expression for rows of one schema: columns are found, types are checked, constants computed.
/// Cheap to copy; usable from any thread.
class CompiledExpression {
 public:
  struct Evaluation {
    ColumnRef column;  // null where there is an error
    RowErrors errors;
  };

  /// Errors say which part of the expression is meant, and name columns and types:
  /// `unknown_column`, `unknown_function`, `type_mismatch`, `invalid_argument`.
  static Result<CompiledExpression> compile(
      const Expression& expression, const Schema& schema,
      const FunctionRegistry& functions = builtin_functions());

  DataType type() const noexcept { return type_; }
  Evaluation evaluate(std::span<const ColumnRef> columns, std::size_t rows) const;
  Evaluation evaluate(const ChangeBatch& batch) const {
    return evaluate(batch.columns(), batch.size());
  }

 private:
  CompiledExpression(std::shared_ptr<const internal::CompiledNode> node, DataType type)
      : node_(std::move(node)), type_(type) {}

  std::shared_ptr<const internal::CompiledNode> node_;
  DataType type_;
};

/// For a filter: the rows for which a condition is true, neither false nor null nor an error.
void select_true(const CompiledExpression::Evaluation& evaluation, Values<std::uint32_t>& rows);

}  // namespace weir::flow::data
