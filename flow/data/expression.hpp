#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/flow/data/data_type.hpp>
#include <weir/flow/data/value.hpp>

namespace weir::flow::data {

namespace internal {
struct ExpressionNode;
}

/// What is computed for each row of a batch. Says nothing about types until it is compiled for a
/// schema; cheap to copy.
///
///     col("amount") * 2 > 10 && !is_null(col("note"))
///     when(col("kind") == "in", col("amount")).otherwise(-col("amount"))
///
/// Three-valued logic, as in SQL: what is computed from null is null, except where the outcome does
/// not depend on it.
class Expression {
 public:
  /// A literal.
  Expression(Value value);
  template <class T>
    requires std::constructible_from<Value, T> && (!std::same_as<std::remove_cvref_t<T>, Value>) &&
             (!std::derived_from<std::remove_cvref_t<T>, Expression>)
  Expression(T&& value) : Expression(Value(std::forward<T>(value))) {}
  explicit Expression(internal::ExpressionNode node);

  const internal::ExpressionNode& node() const noexcept { return *node_; }
  /// If it is nothing but a column.
  std::optional<std::string_view> column_name() const noexcept;

  // Arithmetic. Overflow and division by zero are errors of their row.
  friend Expression operator+(Expression a, Expression b);
  friend Expression operator-(Expression a, Expression b);
  friend Expression operator*(Expression a, Expression b);
  friend Expression operator/(Expression a, Expression b);
  friend Expression operator%(Expression a, Expression b);
  friend Expression operator-(Expression a);

  friend Expression operator==(Expression a, Expression b);
  friend Expression operator!=(Expression a, Expression b);
  friend Expression operator<(Expression a, Expression b);
  friend Expression operator<=(Expression a, Expression b);
  friend Expression operator>(Expression a, Expression b);
  friend Expression operator>=(Expression a, Expression b);

  // Where one side decides, an error of the other does not matter.
  friend Expression operator&&(Expression a, Expression b);
  friend Expression operator||(Expression a, Expression b);
  friend Expression operator!(Expression a);

  /// As one would write it: `((amount * 2) > 10)`.
  friend std::string to_string(const Expression& expression);

 private:
  std::shared_ptr<const internal::ExpressionNode> node_;
};

/// The value of a column.
Expression col(std::string name);
/// A value that is the same for every row.
Expression lit(Value value);
/// A function by its name, built in or registered.
Expression call(std::string name, std::vector<Expression> arguments);
/// The value in another type. Digits that do not fit are rounded away; what is out of range, or
/// text that is not a value, is an error of its row.
Expression cast(Expression value, DataType type);

Expression is_null(Expression value);
/// Why it cannot be computed, as text such as "division by zero"; null where it can. Handles the
/// error: rows that have one can be told apart, and kept elsewhere.
Expression error_of(Expression value);
/// The first that is not null.
Expression coalesce(std::vector<Expression> values);
/// Null where both are equal.
Expression null_if(Expression value, Expression other);
/// True or false, also where one or both are null.
Expression is_distinct(Expression a, Expression b);

/// `when(condition, value).when(...).otherwise(value)`. Without a match and without `otherwise`:
/// null. An error in a value that is not chosen does not matter.
class When : public Expression {
 public:
  When when(Expression condition, Expression value) const;
  Expression otherwise(Expression value) const;

 private:
  friend When when(Expression condition, Expression value);
  using Expression::Expression;
};
When when(Expression condition, Expression value);

}  // namespace weir::flow::data
