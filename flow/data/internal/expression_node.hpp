#pragma once

#include <string>
#include <vector>

#include <weir/flow/data/expression.hpp>

namespace weir::flow::data::internal {

/// How many steps may be inside one another: what someone would write by hand is never this deep;
/// bytes that are not an expression may be.
inline constexpr int expression_depth_max = 1'000;

/// One step of an expression, as it was written.
struct ExpressionNode {
  // Persisted: never renumber.
  enum class Step : std::uint8_t { column = 1, literal = 2, cast = 3, call = 4 };

  Step step;
  std::string name = {};  // of the column or function; operators are functions named by their sign
  Value literal = {};
  DataType type = Kind::boolean;  // of a cast
  std::vector<Expression> arguments = {};
};

}  // namespace weir::flow::data::internal
