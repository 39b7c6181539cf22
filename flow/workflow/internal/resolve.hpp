#pragma once

#include <weir/flow/workflow/internal/draft.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::workflow::internal {

/// Tells those who depend on executions that have ended how they did. If their dependencies are
/// satisfied they become eligible; if these have become impossible they end too, and so on.
Result<> follow_ends(Draft& draft);

/// Counts an edge whose upstream has ended, and lets its group fire if that decides it.
Result<> resolve_edge(Draft& draft, const EdgeId& id, Outcome outcome);

/// Lets the group of edges into `downstream` fire, if it is decided.
Result<> fire_if_decided(Draft& draft, const ExecutionId& downstream);

}  // namespace weir::flow::workflow::internal
