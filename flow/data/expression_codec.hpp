#pragma once

#include <string>
#include <string_view>

#include <weir/flow/data/expression.hpp>
#include <weir/flow/data/value.hpp>
#include <weir/runtime/result.hpp>

// Persisted, as part of the queries of views: never change. docs/storage_format.md describes the
// bytes.
namespace weir::flow::data {

/// Appends a value of any type, or null.
void append_value(const Value& value, std::string& out);
/// Takes what `append_value` appended. False if it is something else.
bool take_value(std::string_view& in, Value& value);

void append_expression(const Expression& expression, std::string& out);
/// Takes what `append_expression` appended; `corruption` if it is something else.
Result<Expression> take_expression(std::string_view& in);

}  // namespace weir::flow::data
