#include <weir/tests/flow/workflow/support/command_board.hpp>

namespace weir::flow::workflow::testing {

Result<Created> CommandBoard::create(const NewExecution& request) {
  return run([&](Draft& draft) { return internal::create(draft, request); });
}

Result<WorkflowId> CommandBoard::create_workflow(const NewWorkflow& request) {
  return run([&](Draft& draft) { return internal::create(draft, request); });
}

Result<std::optional<Claimed>> CommandBoard::try_claim(const ExecutionId& id,
                                                       const ClaimRequest& request) {
  return run([&](Draft& draft) { return internal::claim(draft, id, request); });
}

Result<Time> CommandBoard::renew(const Handle& handle, Duration lease) {
  return run([&](Draft& draft) { return internal::renew(draft, handle, lease); });
}

Result<> CommandBoard::complete(const Handle& handle, const std::string& result) {
  return run([&](Draft& draft) { return internal::complete(draft, handle, result); });
}

Result<> CommandBoard::cancel(const Handle& handle, const std::string& reason) {
  return run([&](Draft& draft) { return internal::cancel(draft, handle, reason); });
}

Result<FailResult> CommandBoard::fail(const Handle& handle, const Failure& failure) {
  return run([&](Draft& draft) { return internal::fail(draft, handle, failure); });
}

Result<> CommandBoard::delay(const Handle& handle, Time until) {
  return run([&](Draft& draft) { return internal::delay(draft, handle, until); });
}

Result<SuspendResult> CommandBoard::suspend(const Handle& handle, const SuspendRequest& request) {
  return run([&](Draft& draft) { return internal::suspend(draft, handle, request, "secret"); });
}

Result<SignalEffect> CommandBoard::signal(const NewSignal& signal, const std::string& token) {
  return run([&](Draft& draft) { return internal::signal(draft, signal, token); });
}

Result<SignalEffect> CommandBoard::approve(const NewSignal& signal) {
  return run([&](Draft& draft) { return internal::approve(draft, signal); });
}

Result<> CommandBoard::resume(const ExecutionId& id, const std::string& by) {
  return run([&](Draft& draft) { return internal::resume(draft, id, by); });
}

Result<bool> CommandBoard::expire_suspension(const ExecutionId& id) {
  return run([&](Draft& draft) { return internal::expire_suspension(draft, id); });
}

std::string CommandBoard::token(const ExecutionId& id, const std::string& waitpoint) {
  return run([&](Draft& draft) {
           return internal::waitpoint_token(draft, id, waitpoint, "secret");
         })
      .value();
}

Result<> CommandBoard::rotate_key(const std::string& id, const std::string& secret) {
  return run([&](Draft& draft) { return internal::rotate_key(draft, id, secret); });
}

Result<> CommandBoard::retire_key(const std::string& id) {
  return run([&](Draft& draft) { return internal::retire_key(draft, id); });
}

Result<bool> CommandBoard::cancel(const ExecutionId& id, const std::string& reason,
                                  const std::string& by) {
  return run([&](Draft& draft) { return internal::cancel(draft, id, reason, by); });
}

Result<> CommandBoard::revoke(const ExecutionId& id, const std::string& reason) {
  return run([&](Draft& draft) { return internal::revoke(draft, id, reason); });
}

Result<> CommandBoard::replay(const ExecutionId& id) {
  return run([&](Draft& draft) { return internal::replay(draft, id); });
}

Result<> CommandBoard::change_priority(const ExecutionId& id, std::int32_t priority) {
  return run([&](Draft& draft) { return internal::change_priority(draft, id, priority); });
}

Result<> CommandBoard::set_tag(const ExecutionId& id, const std::string& key,
                               const std::string& value) {
  return run([&](Draft& draft) { return internal::set_tag(draft, id, key, value); });
}

Result<> CommandBoard::set_tag(const WorkflowId& id, const std::string& key,
                               const std::string& value) {
  return run([&](Draft& draft) { return internal::set_tag(draft, id, key, value); });
}

Result<bool> CommandBoard::expire_lease(const ExecutionId& id) {
  return run([&](Draft& draft) { return internal::expire_lease(draft, id); });
}

Result<bool> CommandBoard::promote_due(const ExecutionId& id) {
  return run([&](Draft& draft) { return internal::promote_due(draft, id); });
}

Result<bool> CommandBoard::expire_attempt(const ExecutionId& id) {
  return run([&](Draft& draft) { return internal::expire_attempt(draft, id); });
}

Result<bool> CommandBoard::expire_execution(const ExecutionId& id) {
  return run([&](Draft& draft) { return internal::expire_execution(draft, id); });
}

Result<std::uint64_t> CommandBoard::stage(const WorkflowId& id, const std::vector<NewEdge>& edges,
                                          std::optional<std::uint64_t> revision) {
  return run([&](Draft& draft) { return internal::stage(draft, id, edges, revision); });
}

Result<> CommandBoard::apply(const WorkflowId& id, const std::vector<ExecutionId>& members) {
  return run([&](Draft& draft) { return internal::apply(draft, id, members); });
}

Result<bool> CommandBoard::set_policy(const WorkflowId& id, const ExecutionId& downstream,
                                      const EdgePolicy& policy) {
  return run([&](Draft& draft) { return internal::set_policy(draft, id, downstream, policy); });
}

Result<> CommandBoard::close(const WorkflowId& id) {
  return run([&](Draft& draft) { return internal::close(draft, id); });
}

Result<bool> CommandBoard::cancel(const WorkflowId& id, CancelPolicy policy) {
  return run([&](Draft& draft) { return internal::cancel(draft, id, policy, "stop"); });
}

Result<std::vector<ExecutionId>> CommandBoard::cancel_members(
    const WorkflowId& id, const std::vector<ExecutionId>& members, bool is_last) {
  return run([&](Draft& draft) { return internal::cancel_members(draft, id, members, is_last); });
}

Result<internal::SiblingCancel> CommandBoard::cancel_siblings(const ExecutionId& downstream,
                                                              std::size_t siblings_max) {
  return run(
      [&](Draft& draft) { return internal::cancel_siblings(draft, downstream, siblings_max); });
}

Result<> CommandBoard::set_lane_state(const std::string& lane, LaneState state) {
  return run([&](Draft& draft) { return internal::set_lane_state(draft, lane, state); });
}

Result<> CommandBoard::set_lane_limit(const std::string& lane, std::optional<std::uint32_t> limit) {
  return run([&](Draft& draft) { return internal::set_lane_limit(draft, lane, limit); });
}

Result<> CommandBoard::set_lane_rate(const std::string& lane, const std::optional<Rate>& rate) {
  return run([&](Draft& draft) { return internal::set_lane_rate(draft, lane, rate); });
}

Result<> CommandBoard::resume_lane(const std::string& lane, const ResumeLane& request) {
  return run([&](Draft& draft) { return internal::resume_lane(draft, lane, request); });
}

Result<> CommandBoard::set_limit(const std::string& key,
                                 std::optional<std::uint32_t> concurrency_max,
                                 const std::optional<Rate>& rate) {
  return run([&](Draft& draft) { return internal::set_limit(draft, key, concurrency_max, rate); });
}

Admission CommandBoard::admission(const ExecutionId& id) {
  return run([&](Draft& draft) -> Result<Admission> {
           const Execution* execution = draft.find<Execution>(id);
           if (execution == nullptr) return internal::no_such(id);
           return internal::admission_of(draft, *execution);
         })
      .value();
}

}  // namespace weir::flow::workflow::testing
