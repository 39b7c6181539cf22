#pragma once

#include <cstdint>
#include <optional>

#include <weir/flow/operator/operator.hpp>

namespace weir::flow::view {

/// When a view follows. Persisted: never renumber.
enum class ViewUpdate : std::uint8_t {
  deferred = 0,       // soon after the commit that changes a table, in a commit of its own
  transactional = 1,  // in that very commit, which is refused if the view cannot follow
};

/// How one view is kept; stored with it.
struct ViewOptions {
  /// What becomes of rows that cannot be computed. None: what `DatabaseOptions` say.
  std::optional<operators::RowErrorPolicy> row_errors = {};
  /// A transactional view reads tables and other transactional views, and has no operator that goes
  /// by the clock.
  ViewUpdate update = ViewUpdate::deferred;
};

}  // namespace weir::flow::view
