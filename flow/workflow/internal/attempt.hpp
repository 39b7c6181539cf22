#pragma once

#include <string>

#include <weir/flow/workflow/internal/draft.hpp>
#include <weir/flow/workflow/request.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::workflow::internal {

Time after(Time from, Duration duration);

/// The attempt goes on if it was given back, otherwise the next one begins.
void begin_attempt(Draft& draft, const ExecutionId& id, const StateVector& before,
                   Execution& execution, const std::string& worker);

/// The attempt has failed: another one is made as the execution's policy says, or it has failed for
/// good. Its worker says so, or it is found out by others.
Result<FailResult> fail_attempt(Draft& draft, const ExecutionId& id, const Failure& failure,
                                const std::string& by, bool is_own);

}  // namespace weir::flow::workflow::internal
