#pragma once

#include <weir/flow/operator/window.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {

/// What a window that does not close gives, computed from all rows: written apart from the
/// operator, so that both are not wrong in the same way.
///
/// Rows that cannot be computed are left out, as by the policy `drop`.
Rows evaluate(const Window& window, const Rows& rows, const data::SchemaRef& schema);

}  // namespace weir::flow::operators::test
