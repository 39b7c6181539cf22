#pragma once

#include <weir/flow/workflow/internal/draft.hpp>
#include <weir/flow/workflow/internal/working_set.hpp>

namespace weir::flow::workflow::internal {

/// Tells of the executions and workflows that a draft changes, unless it has told of them already.
/// `before` is what it was made of.
void tell_changes(Draft& draft, const WorkingSet& before);

}  // namespace weir::flow::workflow::internal
