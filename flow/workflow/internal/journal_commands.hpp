#pragma once

#include <string>
#include <vector>

#include <weir/flow/workflow/handle.hpp>
#include <weir/flow/workflow/internal/draft.hpp>
#include <weir/flow/workflow/journal.hpp>
#include <weir/runtime/result.hpp>

// What can be done to journals, as functions of a draft. Who writes has the lease, or is refused.
namespace weir::flow::workflow::internal {

/// Adds entries at the end, which has to be `end`: `stale_revision`, `limit_reached`, `too_large`.
Result<> append_journal(Draft& draft, const Handle& handle, std::uint32_t end,
                        const std::vector<JournalEntry>& entries);
/// Removes all entries, and leaves one with what the coroutine begins with.
Result<JournalHead> restart_journal(Draft& draft, const Handle& handle, const std::string& input);
Result<Journal> read_journal(Draft& draft, const ExecutionId& id);

}  // namespace weir::flow::workflow::internal
