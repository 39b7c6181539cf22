#pragma once

#include <weir/flow/workflow/engine.hpp>
#include <weir/server/internal/route.hpp>

namespace weir::server::internal {

/// A page of executions, by the query's `after` and `limit`: those that the caller sees.
Task<Response> execution_page(const Call* call, flow::workflow::ExecutionFilter filter);

}  // namespace weir::server::internal
