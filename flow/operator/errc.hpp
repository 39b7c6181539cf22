#pragma once

#include <system_error>

namespace weir::flow::operators {

/// Why a flow was refused, or could not go on.
enum class Errc {
  invalid_argument = 1,
  /// Of a source, or of an operator of yours.
  unknown_name,
  wrong_schema,
  /// A row went that had not come.
  unknown_row,
  /// A row could not be computed, and the flow's policy is to fail.
  row_error,
  corruption,
  /// State must be read from disk first: do it again where waiting is allowed.
  would_block,
  /// What `OperatorHarness` found.
  broken_rule,
  /// An operator gave more in one cycle than `GraphOptions` allow.
  too_large,
};

const std::error_category& operator_category() noexcept;

inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), operator_category()};
}

}  // namespace weir::flow::operators

template <>
struct std::is_error_code_enum<weir::flow::operators::Errc> : std::true_type {};
