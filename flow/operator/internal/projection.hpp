#pragma once

#include <span>
#include <string>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/data/compiled_expression.hpp>
#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators::internal {

/// Expressions computed for each row of a batch, with the flow's answer to rows that cannot be
/// computed.
class Projection {
 public:
  struct Computed {
    data::ChangeBatch batch;  // the rows that are left
    data::Columns columns;    // one for each expression, as long as `batch`
  };

  static Result<Projection> make(std::span<const NamedExpression> expressions,
                                 const data::Schema& schema, const Library& library);

  /// What the expressions give, in order.
  const std::vector<data::Field>& fields() const noexcept { return fields_; }
  Result<Computed> compute(const data::ChangeBatch& batch, Output& out) const;

 private:
  std::vector<data::Field> fields_;
  std::vector<data::CompiledExpression> expressions_;
};

/// One expression, of whichever type.
Result<Projection> make_projection(const data::Expression& expression, const data::Schema& schema,
                                   const Library& library);

/// A condition: `type_mismatch` if it is not true or false.
class Condition {
 public:
  static Result<Condition> make(const data::Expression& condition, const data::Schema& schema,
                                const Library& library);

  /// The rows for which it is true, in order.
  Result<data::Values<std::uint32_t>> select(const data::ChangeBatch& batch, Output& out) const;

 private:
  explicit Condition(data::CompiledExpression expression, std::string text)
      : expression_(std::move(expression)), text_(std::move(text)) {}

  data::CompiledExpression expression_;
  std::string text_;
};

/// `(1, 'text', null)`
std::string describe_row(const data::ChangeBatch& batch, std::size_t row);

}  // namespace weir::flow::operators::internal
