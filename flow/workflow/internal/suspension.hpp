#pragma once

#include <optional>

#include <weir/flow/workflow/internal/draft.hpp>
#include <weir/flow/workflow/suspension.hpp>

namespace weir::flow::workflow::internal {

// There is one keyring of each use for all. Persisted: never renumber.
inline constexpr std::uint8_t the_keyring = 0;     // of waitpoints
inline constexpr std::uint8_t handle_keyring = 1;  // of handles

/// Why it went on after its newest suspension, if it had one that is over.
std::optional<Resumption> resumption_of(Draft& draft, const ExecutionId& id,
                                        const Execution& execution);
/// It is not suspended any more, and does not go on from there.
void drop_suspension(Draft& draft, const ExecutionId& id, Execution& execution);
/// What nothing has taken is not for whoever comes next.
void drop_signals(Draft& draft, const ExecutionId& id, const Execution& execution);

}  // namespace weir::flow::workflow::internal
