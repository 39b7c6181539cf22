#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/flow/workflow/internal/limits.hpp>
#include <weir/tests/flow/workflow/support/board.hpp>

namespace weir::flow::workflow::testing {

/// A board on which each command is one call, and on which what is expected to succeed does, or
/// throws.
class CommandBoard : public Board {
 public:
  using Draft = internal::Draft;

  Result<Created> create(const NewExecution& request);
  Result<WorkflowId> create_workflow(const NewWorkflow& request = {});
  ExecutionId make(const NewExecution& request) { return create(request).value().id; }
  ExecutionId make(const std::string& kind = "work") { return make(NewExecution{.kind = kind}); }
  ExecutionId make_member(const WorkflowId& workflow, NewExecution request = {.kind = "work"}) {
    request.workflow = workflow;
    return make(request);
  }

  Result<std::optional<Claimed>> try_claim(const ExecutionId& id,
                                           const ClaimRequest& request = {.worker = "w"});
  Claimed claim(const ExecutionId& id, const ClaimRequest& request = {.worker = "w"}) {
    return try_claim(id, request).value().value();
  }
  Result<Time> renew(const Handle& handle, Duration lease);
  Result<> complete(const Handle& handle, const std::string& result = "");
  Result<FailResult> fail(const Handle& handle, const Failure& failure = {.reason = "broken"});
  Result<> delay(const Handle& handle, Time until);
  Result<SuspendResult> suspend(const Handle& handle, const SuspendRequest& request);
  Result<SignalEffect> signal(const NewSignal& signal, const std::string& token);
  Result<SignalEffect> approve(const NewSignal& signal);
  Result<> resume(const ExecutionId& id, const std::string& by = "boss");
  Result<bool> expire_suspension(const ExecutionId& id);
  std::string token(const ExecutionId& id, const std::string& waitpoint);
  Result<> rotate_key(const std::string& id, const std::string& secret);
  Result<> retire_key(const std::string& id);
  Result<> cancel(const Handle& handle, const std::string& reason = "stop");
  Result<bool> cancel(const ExecutionId& id, const std::string& reason = "stop",
                      const std::string& by = "operator");
  Result<> revoke(const ExecutionId& id, const std::string& reason = "taken");
  Result<> replay(const ExecutionId& id);
  Result<> change_priority(const ExecutionId& id, std::int32_t priority);
  Result<> set_tag(const ExecutionId& id, const std::string& key, const std::string& value);
  Result<> set_tag(const WorkflowId& id, const std::string& key, const std::string& value);

  Result<bool> expire_lease(const ExecutionId& id);
  Result<bool> promote_due(const ExecutionId& id);
  Result<bool> expire_attempt(const ExecutionId& id);
  Result<bool> expire_execution(const ExecutionId& id);

  Result<std::uint64_t> stage(const WorkflowId& id, const std::vector<NewEdge>& edges,
                              std::optional<std::uint64_t> revision = {});
  Result<> apply(const WorkflowId& id, const std::vector<ExecutionId>& members);
  Result<bool> set_policy(const WorkflowId& id, const ExecutionId& downstream,
                          const EdgePolicy& policy);
  Result<> close(const WorkflowId& id);
  Result<bool> cancel(const WorkflowId& id, CancelPolicy policy);
  Result<std::vector<ExecutionId>> cancel_members(const WorkflowId& id,
                                                  const std::vector<ExecutionId>& members,
                                                  bool is_last);
  Result<internal::SiblingCancel> cancel_siblings(const ExecutionId& downstream,
                                                  std::size_t siblings_max = 1000);
  Result<> set_lane_state(const std::string& lane, LaneState state);
  Result<> set_lane_limit(const std::string& lane, std::optional<std::uint32_t> limit);

  Result<> set_lane_rate(const std::string& lane, const std::optional<Rate>& rate);
  Result<> resume_lane(const std::string& lane, const ResumeLane& request);
  Result<> set_limit(const std::string& key, std::optional<std::uint32_t> concurrency_max,
                     const std::optional<Rate>& rate = {});
  /// Why it is not claimed.
  Admission admission(const ExecutionId& id);

  // One execution from where it is to its end.
  void succeed(const ExecutionId& id, const std::string& result = "") {
    complete(claim(id).handle, result).value();
  }
  /// It must not have retries left.
  void fail_for_good(const ExecutionId& id) {
    const FailResult failed = fail(claim(id).handle).value();
    if (failed.retry_at) throw std::logic_error("it is tried again");
  }

  const Execution& execution(const ExecutionId& id) const { return *find<Execution>(id); }
  const StateVector& state(const ExecutionId& id) const { return execution(id).state; }
  PublicState public_state(const ExecutionId& id) const { return execution(id).public_state(); }
  const Attempt& attempt(const ExecutionId& id, std::uint32_t number) const {
    const bool is_newest = number == execution(id).attempt;
    return is_newest ? execution(id).newest : *find<Attempt>({id, number});
  }
  const Workflow& workflow(const WorkflowId& id) const { return *find<Workflow>(id); }
  const EdgeGroup& group(const ExecutionId& id) const { return *find<EdgeGroup>(id); }
  std::uint64_t leased(const std::string& lane = "default") const {
    const Lane* found = find<Lane>(lane);
    return found != nullptr ? found->active : 0;
  }
  std::uint64_t leased_under(const std::string& key) const {
    const Limit* found = find<Limit>(key);
    return found != nullptr ? found->active : 0;
  }
  std::vector<NoticeKind> take_kinds() {
    std::vector<NoticeKind> kinds;
    for (const Notice& notice : take_notices()) kinds.push_back(notice.kind);
    return kinds;
  }
};

/// Whether it was refused with this code and names what is wrong.
template <class T>
bool refuses(const Result<T>& result, Errc code, std::string_view what) {
  return !result && result.error() == code &&
         result.error().message().find(what) != std::string::npos;
}

}  // namespace weir::flow::workflow::testing
