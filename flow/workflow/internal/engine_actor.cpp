#include <weir/flow/workflow/internal/engine_actor.hpp>

#include <utility>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/change_notices.hpp>
#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/engine_core.hpp>
#include <weir/flow/workflow/internal/limits.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::internal {
namespace {

/// Whether there is something to cancel that was not before.
template <class R>
bool becomes_listed(const WorkingSet& records, const KeyOf<R>& key, const std::optional<R>& after) {
  const Slot<R>* before = records.find<R>(key);
  const bool was_listed = before != nullptr && before->standing() == Standing::listed;
  return !was_listed && after && standing_of(*after) == Standing::listed;
}

Task<> wake_when_cancelled(CancellationToken token, SequenceBarrier* woken) {
  if (auto cancelled = co_await token.cancelled(); cancelled) woken->publish(1);
}

/// Claims one, puts it behind the first `before` of those that were claimed, and tells whether it
/// could be. What a claim gives is large, and is not to be handed from frame to frame.
Result<bool> claim_into(Draft& draft, const ExecutionId& id, const ClaimRequest& request,
                        std::vector<Claimed>& claimed, std::size_t before) {
  // Only the last run counts.
  claimed.resize(before);
  auto outcome = claim(draft, id, request);
  if (!outcome) return outcome.error();
  if (*outcome) claimed.push_back(**std::move(outcome));
  return claimed.size() > before;
}

/// Of one execution, and not of who asks.
bool is_broken(const Error& error) {
  return error == Errc::corruption || error == Errc::not_found || error == Errc::wrong_state;
}

constexpr Duration poison_pause = std::chrono::seconds(1);

}  // namespace

EngineActor::EngineActor(std::shared_ptr<EngineCore> core, EngineActorOptions options)
    : departure_(core->gone), core_(std::move(core)), options_(options) {}

Time EngineActor::time() const { return core_->records.store().time(); }

Ticket EngineActor::ticket() const { return records_.is_changed() ? batch_ : batch_ - 1; }

Task<Result<bool>> EngineActor::on(Begin) {
  WEIR_CO_TRY(live, co_await core_->records.live());
  for (const auto& [id, execution] : live) schedule_.update(id, nullptr, &execution);
  WEIR_CO_TRY(groups, co_await core_->records.cancelling_groups());
  groups_.assign(groups.begin(), groups.end());
  WEIR_CO_TRY(workflows, co_await core_->records.cancelling_workflows());
  workflows_.assign(workflows.begin(), workflows.end());
  WEIR_CO_TRY(next_notice, co_await core_->records.next_notice());
  next_notice_ = next_notice;
  WEIR_CO_TRY(has_entries, co_await core_->records.has_ended_entries());
  has_ended_entries_ = has_entries;
  records_.set_notes_ends(options_.retention.is_on());
  if (has_entries && !options_.retention.is_on()) {
    WEIR_CO_TRY_VOID(co_await core_->records.set_ended_entries(false));
  }
  if (!groups_.empty() || !workflows_.empty()) {
    is_dispatch_due_ = true;
    self().send<Dispatch>();
  }
  arrange_due();
  if (options_.retention.is_on()) self().send<Retire>();
  publish_figures();
  co_return true;
}

bool EngineActor::try_run(Command& command, const Chance& chance, Obstacle& obstacle) {
  Draft draft(records_, chance.now, chance.seed);
  const bool is_kept = command.run(draft);
  if (draft.has_missing()) {
    obstacle.missing = draft.take_missing();
    return false;
  }
  if (is_kept) obstacle.held = hold_on(draft);
  if (obstacle.held) return false;
  ++core_->figures->own().commands;
  if (is_kept && core_->tells_changes) tell_changes(draft, records_);
  if (is_kept) absorb(draft);
  return true;
}

Task<Result<>> EngineActor::run(Command* command) {
  // The same ids each time: those of records that it makes are looked for too.
  Chance chance{time(), random()};
  for (;;) {
    if (failure_) co_return *failure_;
    if (is_stopped_) co_return Error(Errc::closed, "the workflow engine was closed");
    Obstacle obstacle;
    if (try_run(*command, chance, obstacle)) co_return {};
    if (obstacle.held) {
      WEIR_CO_TRY_VOID(co_await obstacle.held->wait_until(1));
      chance.now = time();
      continue;
    }
    WEIR_CO_TRY_VOID(co_await core_->records.read(std::move(obstacle.missing), &records_));
  }
}

/// Of what a command did that is kept.
void EngineActor::count(const Draft& draft) {
  EngineReport& figures = core_->figures->own();
  for (const Notice& notice : draft.notices()) {
    figures.claims += notice.kind == NoticeKind::lease_acquired ? 1 : 0;
    figures.leases_expired += notice.kind == NoticeKind::lease_expired ? 1 : 0;
    figures.signals += notice.kind == NoticeKind::signal ? 1 : 0;
  }
}

void EngineActor::publish_figures() {
  EngineReport& figures = core_->figures->own();
  const StateCounts& totals = schedule_.totals();
  figures.waiting = totals[PublicState::waiting] + totals[PublicState::waiting_children];
  figures.delayed = totals[PublicState::delayed];
  figures.active = totals[PublicState::active];
  figures.suspended = totals[PublicState::suspended];
  figures.due = schedule_.due_size();
  core_->figures->publish();
}

void EngineActor::absorb(Draft& draft) {
  count(draft);
  if (options_.retention.is_on()) follow_ended(draft);
  draft.each_change<Execution>([&](const ExecutionId& id, const std::optional<Execution>& after) {
    const Slot<Execution>* slot = records_.find<Execution>(id);
    const Execution* before = slot != nullptr && slot->current ? &*slot->current : nullptr;
    const bool is_new = schedule_.update(id, before, after ? &*after : nullptr);
    const bool is_retried = before != nullptr && after && after->retries > before->retries;
    core_->figures->own().retries += is_retried ? 1 : 0;
    if (is_new) wake(after->lane, 1);
    if (after && after->has_ended()) tell_end(id);
  });
  draft.each_change<EdgeGroup>([&](const ExecutionId& id, const auto& after) {
    if (becomes_listed<EdgeGroup>(records_, id, after)) groups_.push_back(id);
  });
  draft.each_change<Workflow>([&](const WorkflowId& id, const auto& after) {
    if (becomes_listed<Workflow>(records_, id, after)) workflows_.push_back(id);
  });
  draft.apply(records_);
  draft.each_change<Lane>([&](const std::string& lane, const auto&) { wake_if_open(lane); });
  draft.each_change<Limit>([&](const std::string& key, const auto&) { follow_limit(key); });
  if ((!groups_.empty() || !workflows_.empty()) && !std::exchange(is_dispatch_due_, true)) {
    self().send<Dispatch>();
  }
  arrange_flush();
  arrange_due();
}

Task<Result<Ticket>> EngineActor::on(Submit submit) {
  WEIR_CO_TRY_VOID(co_await run(submit.command.get()));
  co_return ticket();
}

Task<Result<ClaimedAt>> EngineActor::on(Claim claim) {
  ClaimedAt reply;
  for (;;) {
    WEIR_CO_TRY_VOID(co_await claim_ready(&claim.request, &reply.claimed));
    if (!reply.claimed.empty() || !claim.waits || claim.request.executions_max == 0) break;
    if (claim.request.until && claim.request.until->is_cancelled()) break;
    WEIR_CO_TRY_VOID(co_await wait_for_ready(&claim.request));
  }
  // Who has given up gets no answer: others need not wait until the leases expire.
  if (current_cancellation().is_cancelled()) co_await give_back(std::move(reply.claimed));
  reply.ticket = ticket();
  co_return reply;
}

Task<> EngineActor::give_back(std::vector<Claimed> claimed) {
  const CancellationShield shield;
  for (const Claimed& one : claimed) {
    static_cast<void>(co_await call(
        [&](Draft& draft) { return internal::delay(draft, one.handle, draft.now()); }));
  }
}

Task<Result<>> EngineActor::claim_ready(const ClaimRequest* request,
                                        std::vector<Claimed>* claimed) {
  while (claimed->size() < request->executions_max) {
    if (failure_) co_return *failure_;
    const auto next = schedule_.next_ready(*request);
    if (!next) break;
    auto outcome =
        co_await call([id = *next, request, claimed, before = claimed->size()](Draft& draft) {
          return claim_into(draft, id, *request, *claimed, before);
        });
    // Somebody else has it, if its records had to be read first.
    const bool is_gone = schedule_.next_ready(*request) != next;
    if (!outcome && outcome.error() == Errc::wrong_state && is_gone) continue;
    if (!outcome && is_broken(outcome.error()) && set_aside(*next, outcome.error())) continue;
    if (!outcome) co_return outcome.error();
    if (!*outcome && schedule_.next_ready(*request) == next) {
      WEIR_CO_TRY(is_passed, co_await pass_over(*next, request));
      if (!is_passed) break;
    }
  }
  co_return {};
}

Task<Result<bool>> EngineActor::pass_over(ExecutionId next, const ClaimRequest* request) {
  auto admission = co_await call([&](Draft& draft) -> Result<Admission> {
    const Execution* execution = draft.find<Execution>(next);
    return execution != nullptr ? admission_of(draft, *execution) : Admission();
  });
  if (!admission) co_return admission.error();
  if (admission->is_given()) co_return true;  // meanwhile
  const bool is_lane = admission->key.empty();
  if (!is_lane) {
    schedule_.park(request->lane, next, *admission);
  } else if (admission->until) {
    schedule_.wake_at(request->lane, *admission->until);
  }
  arrange_due();
  co_return !is_lane;
}

Task<Result<>> EngineActor::wait_for_ready(const ClaimRequest* request) {
  if (is_stopped_) co_return Error(Errc::closed, "the workflow engine was closed");
  Waiter waiter{request, SequenceBarrier()};
  auto& waiters = waiters_[request->lane];
  waiters.push_back(&waiter);
  TaskScope watch;  // goes with the wait
  if (request->until) watch.spawn(wake_when_cancelled(*request->until, &waiter.woken));
  const auto woken = co_await waiter.woken.wait_until(1);
  waiters.remove(&waiter);
  if (!woken) co_return woken.error();
  co_return {};
}

/// There may be more places in the lane than before.
void EngineActor::wake_if_open(const std::string& lane) {
  const Slot<Lane>* slot = records_.find<Lane>(lane);
  const Lane known = slot != nullptr && slot->current ? *slot->current : Lane();
  const std::uint64_t room = known.room(time());
  if (const std::size_t ready = schedule_.ready(lane); ready > 0 && room > 0) {
    wake(lane, static_cast<std::size_t>(std::min<std::uint64_t>(ready, room)));
  }
}

/// There may be more room under this limit than before.
void EngineActor::follow_limit(const std::string& key) {
  const auto lanes = is_class(key) ? schedule_.unpark_all() : schedule_.unpark(key);
  for (const std::string& lane : lanes) wake_if_open(lane);
}

void EngineActor::wake(const std::string& lane, std::size_t waiters_max) {
  const auto waiters = waiters_.find(lane);
  if (waiters == waiters_.end()) return;
  for (Waiter* waiter : waiters->second) {
    if (waiters_max == 0) break;
    if (waiter->woken.published() > 0) continue;
    if (!schedule_.next_ready(*waiter->request)) continue;
    waiter->woken.publish(1);
    --waiters_max;
  }
}

void EngineActor::arrange_flush() {
  if (!std::exchange(is_flush_due_, true)) self().send<Flush>();
}

Task<> EngineActor::on(Flush) {
  while (records_.is_changed() && !failure_) {
    // Whoever was told of the commit before may have something to do by now: it is part of this
    // one.
    co_await yield();
    const Ticket batch = batch_++;
    const Span committing = begin_commit();
    storage::Transaction transaction = core_->records.write(records_, next_notice_);
    next_notice_ += records_.notices().size();
    records_.note_taken();
    auto version = co_await transaction.commit();
    if (!version) {
      fail(version.error());
      break;
    }
    publish_figures();
    core_->committed.publish(batch);
    records_.forget(options_.records_max);
  }
  publish_figures();
  is_flush_due_ = false;
}

Span EngineActor::begin_commit() {
  const std::size_t records = records_.changes();
  ++core_->figures->own().commits;
  if (core_->metrics) core_->metrics->record_commit(records);
  Span committing = span("workflow.commit");
  if (!committing.is_recorded()) return committing;
  committing.set({"workflow.records", static_cast<std::int64_t>(records)});
  committing.set({"workflow.notices", static_cast<std::int64_t>(records_.notices().size())});
  return committing;
}

void EngineActor::fail(const Error& cause) {
  failure_ = Error(Errc::unavailable, cause.message());
  core_->committed.close(*failure_);
  turn_away(*failure_);
}

void EngineActor::turn_away(const Error& reason) {
  for (auto& [lane, waiters] : waiters_) {
    for (Waiter* waiter : waiters) waiter->woken.close(reason);
  }
  for (const auto& [id, woken] : end_waiters_) woken->close(reason);
}

void EngineActor::arrange_due() {
  const auto due = schedule_.next_due();
  if (!due || (timer_due_ && *timer_due_ <= *due)) return;
  timer_due_ = due;
  timer_.cancel();
  timer_ = schedule_once<Due>(Schedule::pause_before(*due - time()));
}

Task<> EngineActor::on(Due) {
  timer_due_.reset();
  constexpr std::size_t at_once = 256;
  bool has_failed = false;
  for (const std::string& lane : schedule_.take_wakes(time())) wake_if_open(lane);
  for (const ExecutionId& id : schedule_.due(time(), at_once)) {
    auto met = co_await meet(id);
    if (!met && !set_aside(id, met.error())) has_failed = true;
  }
  if (failure_ || is_stopped_) co_return;
  if (!has_failed) {
    arrange_due();
  } else if (!timer_due_) {
    // What cannot be met stays due: look again, but not at once.
    timer_due_ = time() + std::chrono::duration_cast<Time::duration>(poison_pause);
    timer_ = schedule_once<Due>(poison_pause);
  }
}

Task<Result<>> EngineActor::meet(ExecutionId id) {
  auto outcome = co_await call([id](Draft& draft) { return meet_due(draft, id); });
  if (!outcome) co_return outcome.error();
  co_return {};
}

Task<Result<CancelledAt>> EngineActor::on(CancelWorkflow cancel) {
  const bool is_first = cancelling_.insert(cancel.workflow).second;
  auto marked = co_await call([&](Draft& draft) {
    return internal::cancel(draft, cancel.workflow, cancel.policy, cancel.reason);
  });
  CancelledAt reply;
  Result<> done;
  const bool is_ours = is_first && marked && *marked;
  if (!marked) {
    done = marked.error();
  } else if (is_ours) {
    done = co_await cancel_members(cancel.workflow, &reply.cancelled);
  }
  if (is_first) cancelling_.erase(cancel.workflow);
  // Whoever asked may have given up, or somebody else was faster who left it to this one: it is to
  // be cancelled all the same.
  if (!is_ours || !done) dispatch_later(cancel.workflow);
  if (!done) co_return done.error();
  reply.is_new = *marked;
  reply.ticket = ticket();
  co_return reply;
}

void EngineActor::dispatch_later(const WorkflowId& workflow) {
  workflows_.push_back(workflow);
  if (!std::exchange(is_dispatch_due_, true)) self().send<Dispatch>();
}

Task<Result<>> EngineActor::cancel_members(WorkflowId workflow,
                                           std::vector<ExecutionId>* cancelled) {
  std::optional<ExecutionId> after;
  for (bool is_last = false; !is_last;) {
    // The list of members is in the store, with those that were added before.
    WEIR_CO_TRY_VOID(co_await core_->committed.wait_until(ticket()));
    WEIR_CO_TRY(members, co_await core_->records.members(workflow, after, options_.cancels_max));
    is_last = members.size() < options_.cancels_max;
    if (!members.empty()) after = members.back();
    auto outcome = co_await call(
        [&](Draft& draft) { return internal::cancel_members(draft, workflow, members, is_last); });
    if (!outcome) co_return outcome.error();
    cancelled->insert(cancelled->end(), outcome->begin(), outcome->end());
  }
  co_return {};
}

Task<Result<>> EngineActor::cancel_siblings(ExecutionId downstream) {
  auto outcome = co_await call([&](Draft& draft) {
    return internal::cancel_siblings(draft, downstream, options_.cancels_max,
                                     options_.dispatch_spaces);
  });
  if (!outcome) co_return outcome.error();
  EngineReport& figures = core_->figures->own();
  if (outcome->is_filtered) {
    ++figures.dispatches_filtered;
    co_return {};
  }
  figures.siblings_cancelled += outcome->cancelled.size();
  figures.siblings_spared += outcome->spared;
  figures.siblings_ended_before += outcome->ended_before;
  if (outcome->left > 0) {
    groups_.push_back(downstream);
  } else {
    ++figures.groups_dispatched;
  }
  co_return {};
}

/// If the engine as a whole cannot go on, nothing in particular is to blame.
void EngineActor::note_set_aside(std::string what, const Error& reason) {
  if (failure_ || is_stopped_) return;
  ++core_->figures->own().dispatch_errors;
  set_aside_.insert_or_assign(std::move(what), reason);
  publish_figures();
}

bool EngineActor::set_aside(const ExecutionId& id, const Error& reason) {
  const Slot<Execution>* slot = records_.find<Execution>(id);
  if (failure_ || is_stopped_ || slot == nullptr || !slot->current) return false;
  schedule_.set_aside(id, *slot->current);
  note_set_aside("execution " + to_string(id), reason);
  return true;
}

QueueSeen EngineActor::on(LookAtQueue look) const {
  return {schedule_.counts(look.lane), schedule_.waiting(look.lane, look.executions_max)};
}

std::vector<SetAside> EngineActor::on(ListSetAside) const {
  std::vector<SetAside> list;
  for (const auto& [what, reason] : set_aside_) list.push_back({what, reason});
  return list;
}

/// Of a workflow whose namespace is dispatched here, if anything is left.
Task<Result<>> EngineActor::cancel_rest(WorkflowId workflow) {
  bool is_left = false;
  auto is_ours = co_await call([&](Draft& draft) -> Result<bool> {
    const Workflow* found = draft.find<Workflow>(workflow);
    is_left = found != nullptr && found->cancelling;
    return !is_left || is_in(found->space, options_.dispatch_spaces);
  });
  if (!is_ours) co_return is_ours.error();
  core_->figures->own().dispatches_filtered += *is_ours ? 0 : 1;
  if (!is_left || !*is_ours) co_return {};
  std::vector<ExecutionId> cancelled;
  co_return co_await cancel_members(workflow, &cancelled);
}

Task<> EngineActor::on(Dispatch) {
  while ((!groups_.empty() || !workflows_.empty()) && !failure_ && !is_stopped_) {
    if (!groups_.empty()) {
      const ExecutionId group = groups_.front();
      groups_.pop_front();
      auto done = co_await cancel_siblings(group);
      if (!done) note_set_aside("edge group of execution " + to_string(group), done.error());
    }
    if (!workflows_.empty()) {
      const WorkflowId workflow = workflows_.front();
      workflows_.pop_front();
      if (!cancelling_.insert(workflow).second) continue;
      auto done = co_await cancel_rest(workflow);
      if (!done) note_set_aside("workflow " + to_string(workflow), done.error());
      cancelling_.erase(workflow);
    }
  }
  is_dispatch_due_ = false;
}

Task<Result<bool>> EngineActor::on(Stop) {
  is_stopped_ = true;
  timer_.cancel();
  retire_timer_.cancel();
  while (records_.is_changed() && !failure_) {
    WEIR_CO_TRY_VOID(co_await core_->committed.wait_until(batch_));
  }
  const Error reason(Errc::closed, "the workflow engine was closed");
  core_->committed.close(reason);
  turn_away(reason);
  stop();
  co_return true;
}

}  // namespace weir::flow::workflow::internal
