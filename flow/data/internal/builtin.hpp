#pragma once

#include <weir/flow/data/function.hpp>

// The built-in functions, a file for each group.
namespace weir::flow::data::internal {

void add_arithmetic(FunctionRegistry& registry);
void add_comparisons(FunctionRegistry& registry);
void add_logic(FunctionRegistry& registry);
void add_text_functions(FunctionRegistry& registry);
void add_time_functions(FunctionRegistry& registry);

/// `int64 and text`, for error messages.
std::string name_types(std::span<const ArgumentType> arguments);
/// Refuses another number of arguments.
Result<> expect_count(std::span<const ArgumentType> arguments, std::size_t count);
/// The type that both can be converted to without loss, or, of literals, exactly.
Result<DataType> common_type(const ArgumentType& a, const ArgumentType& b);
/// The decimal that a float literal is written as; none of other literals.
std::optional<DataType> written_decimal(const Value& literal);

/// A conversion as a kernel; null if there is none.
Kernel make_cast(DataType from, DataType to);
/// A literal in another type, if it has exactly that value there.
Result<Value> convert_literal(const Value& value, DataType to);

}  // namespace weir::flow::data::internal
