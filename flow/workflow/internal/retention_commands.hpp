#pragma once

#include <string>
#include <vector>

#include <weir/flow/workflow/internal/draft.hpp>
#include <weir/runtime/result.hpp>

// Removing what has ended, as functions of a draft. What is seen of an execution goes in one
// commit; what it has beside that, if it is much, in further ones. A workflow goes first, and its
// executions after it.
namespace weir::flow::workflow::internal {

/// It has ended now: from when on is counted how long it is kept, where anything is ever removed.
void note_ended(Draft& draft, const ExecutionId& id, const Execution& execution);
void note_ended(Draft& draft, const WorkflowId& id, const Workflow& workflow);

/// Entries of what ended when nobody removed anything.
Result<bool> add_entries(Draft& draft, const std::vector<ExecutionId>& executions);
Result<bool> add_entries(Draft& draft, const std::vector<WorkflowId>& workflows);

/// What was done about something that has been kept for long enough.
struct Retired {
  std::size_t executions = 0;
  std::size_t workflows = 0;
  bool is_postponed = false;  // somebody who has not ended depends on it
  bool is_left = false;       // there is more of it
};
/// An execution, or a workflow without its executions: those are left. At most `records_max` of the
/// records that an execution has many of.
Result<Retired> retire(Draft& draft, const EndedKey& key, std::size_t records_max);
/// Executions of a workflow that is gone. With `is_last` nothing is left.
Result<Retired> retire_members(Draft& draft, const EndedKey& key,
                               const std::vector<ExecutionId>& members, bool is_last,
                               std::size_t records_max);

/// Whether its id may be used, or something of one that was removed is still there.
Result<> check_is_free(Draft& draft, const RemainsKey& key);

/// There is one list of them for all.
inline constexpr std::uint8_t the_cursors = 0;
/// Notices up to `number` have been dealt with. It never goes back.
Result<> acknowledge_notices(Draft& draft, const std::string& consumer, std::uint64_t number);
Result<bool> drop_notice_cursor(Draft& draft, const std::string& consumer);

}  // namespace weir::flow::workflow::internal
