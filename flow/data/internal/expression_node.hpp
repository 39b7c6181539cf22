#pragma once

#include <string>
#include <vector>

#include <weir/flow/data/expression.hpp>

namespace weir::flow::data::internal {

/// One step of an expression, as it was written.
struct ExpressionNode {
  enum class Step : std::uint8_t { column, literal, cast, call };

  Step step;
  std::string name = {};  // of the column or function; operators are functions named by their sign
  Value literal = {};
  DataType type = Kind::boolean;  // of a cast
  std::vector<Expression> arguments = {};
};

}  // namespace weir::flow::data::internal
