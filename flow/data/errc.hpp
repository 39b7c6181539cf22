#pragma once

#include <system_error>

namespace weir::flow::data {

/// Why data, a schema or an expression was refused.
enum class Errc {
  invalid_argument = 1,
  unknown_column,
  duplicate_column,
  unknown_function,
  type_mismatch,
  null_not_allowed,
  // Of single rows: what a policy decides upon.
  overflow,
  division_by_zero,
  invalid_value,
  corruption,
};

const std::error_category& data_category() noexcept;

inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), data_category()};
}

}  // namespace weir::flow::data

template <>
struct std::is_error_code_enum<weir::flow::data::Errc> : std::true_type {};
