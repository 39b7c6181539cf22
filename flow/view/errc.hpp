#pragma once

#include <system_error>

namespace weir::flow::view {

/// Why a database refused something.
enum class Errc {
  invalid_argument = 1,
  unknown_relation,
  already_exists,
  /// Only tables are written; views follow.
  not_a_table,
  /// Rows are appended to ring buffers and series, not inserted or replaced.
  append_only,
  /// The table or view was altered or dropped since it was opened: open it again.
  stale_relation,
  /// Others read it; they are listed.
  in_use,
  duplicate_key,
  unknown_key,
  /// The view was not live at that version: it was backfilling, or had failed.
  not_ready,
  /// The view failed, and is not tried again by itself.
  quarantined,
  corruption,
  /// A batch has more bytes than `DatabaseOptions` allow.
  too_large,
};

const std::error_category& view_category() noexcept;

inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), view_category()};
}

}  // namespace weir::flow::view

template <>
struct std::is_error_code_enum<weir::flow::view::Errc> : std::true_type {};
