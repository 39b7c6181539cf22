#include <weir/flow/data/function.hpp>

#include <algorithm>
#include <iterator>

#include <weir/flow/data/internal/builtin.hpp>
#include <weir/flow/data/internal/kernels.hpp>

namespace weir::flow::data {
namespace {

/// A function's own errors are those of a row; any other means the values were refused.
Errc row_error(const Error& error) noexcept {
  const bool is_ours = error.code().category() == data_category();
  return is_ours ? static_cast<Errc>(error.code().value()) : Errc::invalid_value;
}

Result<Value> call_row(const ScalarFunction& function, std::span<const Value> arguments) {
  const bool has_null = std::ranges::any_of(arguments, &Value::is_null);
  if (function.is_strict && has_null) return Value();
  auto result = function.call(arguments);
  if (!result || result->is_null()) return result;
  if (result->type() != function.result)
    return Error(Errc::type_mismatch, function.name + " gave " + to_string(*result));
  if (auto checked = check_value(*result); !checked) return std::move(checked).error();
  return result;
}

Evaluated call_rows(const ScalarFunction& function, std::span<const Evaluated> operands,
                    std::size_t rows) {
  auto column = std::make_shared<Column>(function.result);
  column->reserve(rows);
  RowErrors errors;
  std::vector<Value> arguments(operands.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      arguments[i] = operands[i].column->value(operands[i].at(row));
    }
    const auto result = call_row(function, arguments);
    column->append(result ? *result : Value());
    if (!result) errors.push_back({static_cast<std::uint32_t>(row), row_error(result.error())});
  }
  const bool is_constant = std::ranges::all_of(operands, &Evaluated::is_constant);
  return {std::move(column), is_constant, std::move(errors)};
}

}  // namespace

namespace internal {

void add_errors(const Evaluated& argument, std::size_t rows, RowErrors& errors) {
  if (argument.errors.empty()) return;
  RowErrors more = argument.errors;
  if (argument.is_constant) {
    const Errc code = more.front().code;
    more.resize(rows);
    for (std::uint32_t row = 0; row < rows; ++row) more[row] = {row, code};
  }
  RowErrors both;
  both.reserve(errors.size() + more.size());
  std::ranges::merge(errors, more, std::back_inserter(both), {}, &RowError::row, &RowError::row);
  const auto same = std::ranges::unique(both, {}, &RowError::row);
  both.erase(same.begin(), same.end());
  errors = std::move(both);
}

}  // namespace internal

FunctionRegistry::FunctionRegistry() {
  internal::add_arithmetic(*this);
  internal::add_comparisons(*this);
  internal::add_logic(*this);
  internal::add_text_functions(*this);
  internal::add_time_functions(*this);
}

Result<> FunctionRegistry::add(std::string name, Bind bind) {
  if (name.empty()) return Error(Errc::invalid_argument, "a function without a name");
  if (functions_.contains(name)) {
    return Error(Errc::invalid_argument, "function '" + name + "' exists");
  }
  functions_.insert({std::move(name), std::move(bind)});
  return {};
}

Result<> FunctionRegistry::add(ScalarFunction function) {
  if (!function.call)
    return Error(Errc::invalid_argument, "function '" + function.name + "' does nothing");
  if (!is_valid(function.result) || !std::ranges::all_of(function.parameters, is_valid)) {
    return Error(Errc::invalid_argument,
                 "function '" + function.name + "' has a type that there is not");
  }
  auto shared = std::make_shared<const ScalarFunction>(std::move(function));
  return add(
      shared->name, [shared](std::span<const ArgumentType> arguments) -> Result<BoundFunction> {
        if (auto counted = internal::expect_count(arguments, shared->parameters.size()); !counted) {
          return counted.error();
        }
        return BoundFunction{
            .result = shared->result,
            .kernel = [shared](std::span<const Evaluated> operands,
                               std::size_t rows) { return call_rows(*shared, operands, rows); },
            .parameters = shared->parameters};
      });
}

const Bind* FunctionRegistry::find(std::string_view name) const noexcept {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : &found->second;
}

std::vector<std::string> FunctionRegistry::names() const {
  std::vector<std::string> names;
  names.reserve(functions_.size());
  for (const auto& [name, bind] : functions_) names.push_back(name);
  return names;
}

const FunctionRegistry& builtin_functions() {
  static const FunctionRegistry registry;
  return registry;
}

}  // namespace weir::flow::data
