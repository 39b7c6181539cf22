#pragma once

#include <string>

#include <weir/flow/workflow/handle.hpp>
#include <weir/flow/workflow/internal/draft.hpp>
#include <weir/flow/workflow/transition.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::workflow::internal {

Error no_such(const ExecutionId& id);
Error no_such(const WorkflowId& id);

/// Lets an event happen to an execution, short of its end. Here alone states change: the counters
/// of its workflow and lane follow.
Result<Execution*> change(Draft& draft, const ExecutionId& id, Event event);

/// How an execution ends.
struct Ending {
  EventKind event = EventKind::cancel;
  std::string reason = {};
  std::string by = {};
  /// Others had decided already: no failure of its workflow.
  bool is_sibling = false;
  /// Its worker ends it, by its lease. Who completes it always does.
  bool is_own = false;
  /// And has not undone what it did.
  bool leaves_undo = false;
};

/// The one way to end an execution, whoever asks for it: its state, its attempt, its lease, its
/// epoch, its notices, its counters, and all that follows from it for those who depend on it and
/// for its workflow.
Result<> end(Draft& draft, const ExecutionId& id, const Ending& ending);
/// The same without what follows for others: `follow_ends` does that for several at once.
Result<> end_alone(Draft& draft, const ExecutionId& id, const Ending& ending);

/// The execution whose lease the handle is; otherwise why it is not, the first that applies:
/// `execution_not_active`, `lease_revoked`, `lease_expired`, `stale_lease`.
Result<Execution*> fenced(Draft& draft, const Handle& handle);
/// The same for what does not change the execution itself.
Result<> check_lease(Draft& draft, const Handle& handle);

/// Whether it is cancelled with its workflow.
bool is_concerned(const Execution& execution, CancelPolicy policy);
/// Whether the cancelling of its workflow will come to it, in whichever piece. Until then it is
/// neither begun nor skipped.
bool is_being_cancelled(Draft& draft, const Execution& execution);
/// Ends one that is being cancelled, without what follows for others.
Result<> cancel_with_workflow(Draft& draft, const ExecutionId& id);

/// Whether one of them has ended; all of them are there.
Result<bool> has_any_ended(Draft& draft, const std::vector<ExecutionId>& executions);

/// Tells what has happened to an execution that has not ended; of a signal, at which waitpoint.
void tell(Draft& draft, const ExecutionId& id, const Execution& execution, NoticeKind kind,
          const std::string& waitpoint = {});

/// `apply` is to look at the execution. The workflow is there.
void note_staged(Draft& draft, const WorkflowId& workflow, const ExecutionId& id);

/// The workflow is over if nothing is left to do.
void seal_if_done(Draft& draft, const WorkflowId& id);

}  // namespace weir::flow::workflow::internal
