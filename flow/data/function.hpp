#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/data/column.hpp>
#include <weir/flow/data/errc.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::data {

/// Why one row has no value. What happens then is for the flow to decide.
struct RowError {
  std::uint32_t row;
  Errc code;
  friend bool operator==(const RowError&, const RowError&) = default;
};
/// In the order of rows, one for each at most.
using RowErrors = std::vector<RowError>;

/// The values of an expression for some rows. A constant has one row that stands for all. Rows with
/// an error are null.
struct Evaluated {
  ColumnRef column;
  bool is_constant = false;
  RowErrors errors = {};

  /// Where the value of a row is in `column`.
  std::size_t at(std::size_t row) const noexcept { return is_constant ? 0 : row; }
};

/// Computes a column from those of the arguments, for `rows` rows (one if all are constant).
/// Errors of the arguments are added to those it gives, unless the function handles them itself.
using Kernel = std::function<Evaluated(std::span<const Evaluated> arguments, std::size_t rows)>;

/// A function for arguments of certain types.
struct BoundFunction {
  DataType result;
  Kernel kernel;
  /// The types that arguments are converted to first; empty: taken as they are.
  std::vector<DataType> parameters = {};
  bool handles_errors = false;
};

/// What one argument looks like before anything is computed.
struct ArgumentType {
  std::optional<DataType> type;    // none: null without a type
  const Value* literal = nullptr;  // if it is one
};

/// Decides which arguments a function takes. The detail of an error names the types.
using Bind = std::function<Result<BoundFunction>(std::span<const ArgumentType> arguments)>;

/// A function of yours that is called for each row.
struct ScalarFunction {
  std::string name;
  std::vector<DataType> parameters;
  DataType result;
  /// Must give the same for the same arguments, always: views are computed again.
  std::function<Result<Value>(std::span<const Value> arguments)> call;
  /// True: null if an argument is null, without a call.
  bool is_strict = true;
};

/// Functions by name. The built-in ones are in every registry.
class FunctionRegistry {
 public:
  FunctionRegistry();

  /// `invalid_argument` if the name is taken.
  Result<> add(ScalarFunction function);
  /// The same for functions over whole columns.
  Result<> add(std::string name, Bind bind);
  /// Null if there is none.
  const Bind* find(std::string_view name) const noexcept;
  std::vector<std::string> names() const;

 private:
  std::map<std::string, Bind, std::less<>> functions_;
};

/// The built-in functions only.
const FunctionRegistry& builtin_functions();

}  // namespace weir::flow::data
