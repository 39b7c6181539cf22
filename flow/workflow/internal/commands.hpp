#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weir/flow/workflow/handle.hpp>
#include <weir/flow/workflow/internal/draft.hpp>
#include <weir/flow/workflow/request.hpp>
#include <weir/runtime/result.hpp>

/// Everything that changes workflows and executions, as functions of a draft: what a refused one
/// has done to its draft is thrown away.
namespace weir::flow::workflow::internal {

// Executions.
Result<Created> create(Draft& draft, const NewExecution& request);
/// The same of a kind that is Weir's own.
Result<Created> create_own(Draft& draft, const NewExecution& request);
/// `wrong_state` if it cannot be claimed now; none if this worker may not, or if it ends instead:
/// because it was reclaimed too often, or because its workflow is being cancelled.
Result<std::optional<Claimed>> claim(Draft& draft, const ExecutionId& id,
                                     const ClaimRequest& request);
Result<Time> renew(Draft& draft, const Handle& handle, Duration lease);
Result<> complete(Draft& draft, const Handle& handle, const std::string& result);
Result<FailResult> fail(Draft& draft, const Handle& handle, const Failure& failure);
/// Put off by its worker, who gives it back; the attempt goes on when it is claimed again.
Result<> delay(Draft& draft, const Handle& handle, Time until);
/// By an operator, whoever has it. True if that ended it; false if it had ended before.
Result<bool> cancel(Draft& draft, const ExecutionId& id, const std::string& reason,
                    const std::string& by);
/// By its worker, who stops for good: as `complete`, it needs the lease.
Result<> cancel(Draft& draft, const Handle& handle, const std::string& reason);
Result<> revoke(Draft& draft, const ExecutionId& id, const std::string& reason);
Result<> replay(Draft& draft, const ExecutionId& id);
Result<> change_priority(Draft& draft, const ExecutionId& id, std::int32_t priority);
Result<> set_tag(Draft& draft, const ExecutionId& id, const std::string& key,
                 const std::string& value);

// What time does. Each looks again whether it is due: false if it is not.
Result<bool> expire_lease(Draft& draft, const ExecutionId& id);
Result<bool> promote_due(Draft& draft, const ExecutionId& id);
Result<bool> expire_attempt(Draft& draft, const ExecutionId& id);
Result<bool> expire_execution(Draft& draft, const ExecutionId& id);
Result<bool> expire_suspension(Draft& draft, const ExecutionId& id);

// Suspending, and signals.
/// Gives its lease back until the condition is satisfied; keeps it if it is already. The secret is
/// that of the first key, if there is none.
Result<SuspendResult> suspend(Draft& draft, const Handle& handle, const SuspendRequest& request,
                              const std::string& fresh_secret);
/// From outside, by who has a token.
Result<SignalEffect> signal(Draft& draft, const NewSignal& signal, const std::string& token);
/// By an operator, without one.
Result<SignalEffect> approve(Draft& draft, const NewSignal& signal);
/// Whatever it waits for.
Result<> resume(Draft& draft, const ExecutionId& id, const std::string& by);
std::string handle_secret(Draft& draft, const std::string& fresh_secret);
Result<std::string> waitpoint_token(Draft& draft, const ExecutionId& id,
                                    const std::string& waitpoint, const std::string& fresh_secret);
Result<> rotate_key(Draft& draft, const std::string& id, const std::string& secret);
Result<> retire_key(Draft& draft, const std::string& id);

/// The first of them that is due.
Result<bool> meet_due(Draft& draft, const ExecutionId& id);

// Workflows.
Result<WorkflowId> create(Draft& draft, const NewWorkflow& request);
/// Gives the revision of the graph then. With `revision` only if it is that now.
Result<std::uint64_t> stage(Draft& draft, const WorkflowId& workflow,
                            const std::vector<NewEdge>& edges,
                            std::optional<std::uint64_t> revision);
/// Puts staged edges in force, and lets those begin that were added.
Result<> apply(Draft& draft, const WorkflowId& workflow);
/// The same for these of its executions; those that were applied before are as they were.
Result<> apply(Draft& draft, const WorkflowId& workflow, const std::vector<ExecutionId>& members);
/// False if it is that already.
Result<bool> set_policy(Draft& draft, const WorkflowId& workflow, const ExecutionId& downstream,
                        const EdgePolicy& policy);
Result<> set_tag(Draft& draft, const WorkflowId& id, const std::string& key,
                 const std::string& value);
/// A workflow that stays open is sealed as soon as all its executions have ended.
Result<> close(Draft& draft, const WorkflowId& id);

// Cancelling in pieces.
/// The workflow alone; its executions follow by `cancel_members`. False if it had ended before.
Result<bool> cancel(Draft& draft, const WorkflowId& id, CancelPolicy policy,
                    const std::string& reason);
/// Those of `members` that its policy concerns and that have not ended, and gives them. With
/// `is_last` nothing is left.
Result<std::vector<ExecutionId>> cancel_members(Draft& draft, const WorkflowId& id,
                                                const std::vector<ExecutionId>& members,
                                                bool is_last);
/// What was done about a group of edges that has fired.
struct SiblingCancel {
  std::vector<ExecutionId> cancelled = {};
  std::size_t ended_before = 0;
  std::size_t spared = 0;  // needed by others
  std::size_t left = 0;
  bool is_filtered = false;  // of another namespace: nothing was done
};
/// Cancels at most `siblings_max` of those that a fired group does not need.
Result<SiblingCancel> cancel_siblings(Draft& draft, const ExecutionId& downstream,
                                      std::size_t siblings_max,
                                      const std::vector<std::string>& spaces = {});
/// Whether it is of one of these namespaces; of any, if there are none.
bool is_in(const std::string& space, const std::vector<std::string>& spaces);

// Lanes.
Result<> set_lane_state(Draft& draft, const std::string& lane, LaneState state);
Result<> set_lane_limit(Draft& draft, const std::string& lane,
                        std::optional<std::uint32_t> concurrency_max);
Result<> set_lane_rate(Draft& draft, const std::string& lane, const std::optional<Rate>& rate);
Result<> resume_lane(Draft& draft, const std::string& lane, const ResumeLane& request);
Result<> set_limit(Draft& draft, const std::string& key,
                   std::optional<std::uint32_t> concurrency_max, const std::optional<Rate>& rate);

}  // namespace weir::flow::workflow::internal
