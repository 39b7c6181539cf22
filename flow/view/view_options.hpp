#pragma once

#include <optional>

#include <weir/flow/operator/operator.hpp>

namespace weir::flow::view {

/// How one view is kept; stored with it.
struct ViewOptions {
  /// What becomes of rows that cannot be computed. None: what `DatabaseOptions` say.
  std::optional<operators::RowErrorPolicy> row_errors = {};
};

}  // namespace weir::flow::view
