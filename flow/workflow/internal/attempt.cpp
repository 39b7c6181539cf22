#include <weir/flow/workflow/internal/attempt.hpp>

#include <algorithm>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/flow/workflow/internal/suspension.hpp>

namespace weir::flow::workflow::internal {
namespace {

AttemptKind kind_of(const StateVector& state) {
  if (state.phase == Phase::active) return AttemptKind::reclaim;
  if (state.attempt == AttemptState::pending_retry_attempt) return AttemptKind::retry;
  if (state.attempt == AttemptState::pending_replay_attempt) return AttemptKind::replay;
  return AttemptKind::initial;
}

void interrupt(Attempt& attempt, Time now) {
  if (attempt.ended_at) return;
  attempt.outcome = AttemptOutcome::interrupted_reclaimed;
  attempt.ended_at = now;
}

bool is_retried(const RetryPolicy& retry, const std::string& category, std::uint32_t retries) {
  if (retries >= retry.retries_max) return false;
  return retry.categories.empty() ||
         std::ranges::find(retry.categories, category) != retry.categories.end();
}

/// Ends the attempt, but not the execution, which is tried again.
Result<FailResult> retry_later(Draft& draft, const ExecutionId& id, const ExecutionSpec& spec,
                               const Failure& failure, bool is_own) {
  const Execution* before = draft.find<Execution>(id);
  const bool was_suspended = before->state.phase == Phase::suspended;
  const Duration pause = backoff_before(spec.retry, before->retries + 1, draft.random());
  if (before->lease) {
    tell(draft, id, *before, is_own ? NoticeKind::lease_released : NoticeKind::lease_revoked);
  }
  auto changed =
      change(draft, id, {pause > Duration::zero() ? EventKind::retry_delayed : EventKind::retry});
  if (!changed) return changed.error();
  Execution& execution = **changed;
  execution.newest.outcome = AttemptOutcome::ended_failure;
  execution.newest.ended_at = draft.now();
  execution.newest.reason = failure.reason;
  ++execution.retries;
  ++execution.epoch;
  execution.lease.reset();
  execution.attempt_deadline.reset();
  execution.eligible_at = after(draft.now(), pause);
  // The next attempt waits anew.
  if (was_suspended) drop_suspension(draft, id, execution);
  return FailResult{execution.eligible_at};
}

}  // namespace

Time after(Time from, Duration duration) {
  return from + std::chrono::duration_cast<Time::duration>(duration);
}

void begin_attempt(Draft& draft, const ExecutionId& id, const StateVector& before,
                   Execution& execution, const std::string& worker) {
  const bool goes_on =
      before.phase == Phase::runnable && before.attempt == AttemptState::attempt_interrupted;
  if (goes_on) {
    execution.newest.outcome = AttemptOutcome::running;
    execution.newest.worker = worker;
    execution.newest.epoch = execution.epoch;
    return;
  }
  std::optional<std::uint32_t> after;
  if (execution.attempts > 0) {
    after = execution.attempt;
    if (before.phase == Phase::active) interrupt(execution.newest, draft.now());
    draft.put<Attempt>({id, execution.attempt}, std::move(execution.newest));
  }
  execution.attempt = execution.attempts++;
  execution.newest = {.kind = kind_of(before),
                      .outcome = AttemptOutcome::running,
                      .worker = worker,
                      .epoch = execution.epoch,
                      .after = after,
                      .started_at = draft.now()};
}

Result<FailResult> fail_attempt(Draft& draft, const ExecutionId& id, const Failure& failure,
                                const std::string& by, bool is_own) {
  const ExecutionSpec* spec = draft.find<ExecutionSpec>(id);
  const Execution* execution = draft.find<Execution>(id);
  if (spec == nullptr || execution == nullptr) {
    return Error(Errc::corruption, "execution " + to_string(id) + " has no specification");
  }
  if (!failure.is_final && is_retried(spec->retry, failure.category, execution->retries)) {
    return retry_later(draft, id, *spec, failure, is_own);
  }
  auto ended = end(draft, id,
                   {.event = EventKind::fail,
                    .reason = failure.reason,
                    .by = by,
                    .is_own = is_own,
                    .leaves_undo = failure.leaves_undo});
  if (!ended) return ended.error();
  return FailResult{};
}

}  // namespace weir::flow::workflow::internal
