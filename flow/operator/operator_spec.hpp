#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <weir/flow/data/expression.hpp>
#include <weir/flow/data/function.hpp>
#include <weir/flow/data/schema.hpp>
#include <weir/flow/operator/operator.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::operators {

class OperatorRegistry;
class SpecWriter;

/// What operators may refer to by name.
struct Library {
  const data::FunctionRegistry* functions = &data::builtin_functions();
  /// Null: there are none but the built-in ones.
  const OperatorRegistry* operators = nullptr;
};

/// What one operator is to do, as plain data. Each kind has a struct of its own, in the header of
/// its name.
class OperatorSpec {
 public:
  virtual ~OperatorSpec() = default;

  /// As in `filter`: for messages and spans.
  virtual std::string_view name() const noexcept = 0;
  /// What `read_spec` makes the same of. Persisted: only to be added to, at the end.
  virtual void write(SpecWriter& out) const = 0;
  /// Whether it can have so many.
  virtual bool takes_inputs(std::size_t count) const noexcept { return count == 1; }
  /// Checks it against the schemas of its inputs. Errors name columns and types.
  virtual Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                                 const Library& library) const = 0;

 protected:
  OperatorSpec() = default;
  OperatorSpec(const OperatorSpec&) = default;
  OperatorSpec& operator=(const OperatorSpec&) = default;
};

/// A column to be computed.
struct NamedExpression {
  std::string name;
  data::Expression value;
};

}  // namespace weir::flow::operators
