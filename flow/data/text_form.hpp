#pragma once

#include <string>
#include <string_view>

#include <weir/flow/data/data_type.hpp>
#include <weir/flow/data/value.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::data {

/// A value as text: what a cast gives, and `parse_value` reads. Of null: empty. Not for bytes,
/// which have no such form.
std::string text_form(const Value& value);

/// A value of this type from its text, strictly: no spaces around it, nothing left over.
/// `invalid_value` or `overflow`, naming the text. A decimal is rounded to its scale.
Result<Value> parse_value(std::string_view text, DataType type);

}  // namespace weir::flow::data
