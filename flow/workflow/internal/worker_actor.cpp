#include <weir/flow/workflow/internal/worker_actor.hpp>

#include <algorithm>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/undo_commands.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::internal {
namespace {

constexpr Duration unavailable_pause = std::chrono::seconds(1);

/// Nothing is claimed any more, or ever was. Anything else that keeps a worker from claiming, such
/// as others who are always faster, may have passed in a while.
bool ends_claiming(const Error& error) {
  return error == Errc::closed || error == Errc::invalid_argument ||
         error == weir::Errc::cancelled || error == weir::Errc::stopped;
}

/// Nobody has the lease any more that the handle is.
bool is_loss(const Error& error) {
  return error == Errc::execution_not_active || error == Errc::lease_revoked ||
         error == Errc::lease_expired || error == Errc::stale_lease || error == Errc::not_found;
}

/// The result cannot be kept, now or later. Of anything else that keeps it from being told nobody
/// is to blame: it is done again when the lease has ended.
bool is_unfit(const Error& error) {
  return error == Errc::too_large || error == Errc::invalid_argument;
}

Failure failure_of(const Error& error) {
  return {.reason = error.message(),
          .category = error.code().category().name(),
          .is_final = error == Errc::step_failed};
}

/// Goes on with the trace of whoever asked for it, however long ago that was.
Span begin_attempt(const Claimed& claimed, const std::string& lane) {
  const telemetry::TraceContext& cause = claimed.spec.trace;
  if (!cause.is_valid()) return caused_span({}, cause);
  return caused_span("workflow.attempt." + claimed.spec.kind, cause,
                     {{"workflow.execution", to_string(claimed.handle.execution)},
                      {"workflow.kind", claimed.spec.kind},
                      {"workflow.lane", lane},
                      {"workflow.attempt", static_cast<std::int64_t>(claimed.handle.attempt)},
                      {"workflow.attempt.kind", to_string(claimed.attempt_kind)}});
}

/// What an execution undoes, by its payload. Only the end of the other one makes such an execution:
/// what claims to be one of one that goes on, or of another namespace, must not undo anything.
Task<Result<ExecutionInfo>> undone_by(const Engine* engine, ExecutionId undo, std::string payload) {
  const auto id = parse_execution_id(payload);
  if (!id) co_return Error(Errc::corruption, payload);
  WEIR_CO_TRY(undone, co_await engine->describe(*id));
  WEIR_CO_TRY(own, co_await engine->describe(undo));
  if (!undone || !own) co_return Error(Errc::not_found, payload + " was removed");
  const Execution& execution = undone->execution;
  if (execution.has_ended() && undo_id(*id, execution) == undo &&
      execution.space == own->execution.space) {
    co_return *std::move(undone);
  }
  co_return Error(Errc::corruption, to_string(undo) + " is not what undoes " + payload +
                                        ", which is " + to_string(execution.state));
}

}  // namespace

WorkerActor::WorkerActor(std::shared_ptr<const Engine> engine,
                         std::shared_ptr<const Handlers> handlers, WorkerOptions options,
                         std::shared_ptr<SequenceBarrier> gone)
    : departure_(std::move(gone)),
      engine_(std::move(engine)),
      handlers_(std::move(handlers)),
      options_(std::move(options)) {}

void WorkerActor::on(StartWork) { claiming_.spawn(claim_all()); }

Task<Result<>> WorkerActor::wait_for_room() {
  while (active_ >= options_.executions_max && !is_stopping_) {
    WEIR_CO_TRY_VOID(co_await room_.wait_until(room_.published() + 1));
  }
  co_return {};
}

Task<> WorkerActor::claim_all() {
  while (!is_stopping_) {
    if (auto room = co_await wait_for_room(); !room || is_stopping_) co_return;
    ClaimRequest request{.worker = options_.name,
                         .lane = options_.lane,
                         .capabilities = options_.capabilities,
                         .lease = options_.lease,
                         .executions_max = options_.executions_max - active_,
                         .until = stopping_.token()};
    auto claimed = co_await engine_->next(std::move(request));
    if (!claimed) {
      if (ends_claiming(claimed.error())) co_return;
      if (auto slept = co_await sleep_for(unavailable_pause); !slept) co_return;
      continue;
    }
    for (Claimed& one : *claimed) {
      ++active_;
      work_.spawn(treat(std::move(one)));
    }
  }
}

Task<> WorkerActor::treat(Claimed claimed) {
  ++report_.claimed;
  const Place place = running_.insert(running_.end(), {.handle = claimed.handle});
  if (!std::exchange(beats_, true)) beat_ = schedule_once<Beat>(options_.lease / 3);
  Span attempt = begin_attempt(claimed, options_.lane);  // after what is not of it alone
  const std::string kind = claimed.spec.kind;
  if (const auto plain = handlers_->plain.find(kind); plain != handlers_->plain.end()) {
    co_await run_plain(&plain->second, std::move(claimed), place);
  } else if (const auto durable = handlers_->durable.find(kind);
             durable != handlers_->durable.end()) {
    co_await run_durable(&durable->second, std::move(claimed), place);
  } else if (kind == undo_kind) {
    co_await run_undo(std::move(claimed), place);
  } else {
    co_await leave_to_others(claimed.handle);
  }
  if (place->failure) attempt.set_status(telemetry::SpanStatus::error, *place->failure);
  if (place->is_lost) attempt.add_event("workflow.lease.lost");
  running_.erase(place);
  count_wait(true);
  if (running_.empty() && done_) done_->publish(1);
}

/// What is corrupt is to be seen, and does not heal by being tried again; what is only out of
/// reach is tried again when the lease has ended.
Task<> WorkerActor::fail_to_read(Place place, Error error) {
  if (error == Errc::corruption || error == Errc::not_found) {
    Failure failure = failure_of(error);
    failure.is_final = true;
    note(co_await fail(place, std::move(failure)), report_.failed);
  } else {
    ++report_.lost;
  }
}

/// Whether there was something to fail.
Task<Result<>> WorkerActor::fail(Place place, Failure failure) {
  place->failure = failure.reason;
  auto failed = co_await engine_->fail(place->handle, std::move(failure));
  co_return failed ? Result<>() : Result<>(failed.error());
}

/// What a coroutine gave cannot be kept, and it would give the same again.
Task<> WorkerActor::give_up_if_unfit(Place place, Error error) {
  if (!is_unfit(error)) co_return;
  static_cast<void>(
      co_await fail(place, {.reason = error.message(), .is_final = true, .leaves_undo = true}));
}

Task<> WorkerActor::leave_to_others(Handle handle) {
  const auto wait = std::chrono::ceil<Time::duration>(options_.unknown_kind_delay);
  note(co_await engine_->delay(handle, engine_->time() + wait), report_.unknown);
}

void WorkerActor::count_wait(bool waits) {
  active_ += waits ? -1 : 1;
  if (waits) room_.publish(room_.published() + 1);
}

void WorkerActor::note(const Result<>& told, std::uint64_t& count) {
  ++(told ? count : report_.lost);
}

Task<> WorkerActor::run_plain(const Handlers::Plain* handler, Claimed claimed, Place place) {
  const Handle handle = claimed.handle;
  std::optional<Result<std::string>> outcome;
  SequenceBarrier done;
  place->let_go = &done;
  if (!is_stopping_) {
    TaskScope scope;  // what is let go goes with it
    scope.spawn(keep(guarded((*handler)(std::move(claimed))), &outcome, &done));
    if (auto ended = co_await done.wait_until(1); !ended) outcome.reset();
  }
  place->let_go = nullptr;
  if (place->is_lost) {
    ++report_.lost;
  } else if (!outcome) {
    note(co_await engine_->delay(handle, engine_->time()), report_.put_off);
  } else if (!*outcome) {
    note(co_await fail(place, failure_of(outcome->error())), report_.failed);
  } else {
    auto completed = co_await engine_->complete(handle, **std::move(outcome));
    if (!completed && is_unfit(completed.error())) {
      static_cast<void>(co_await fail(place, failure_of(completed.error())));
    }
    note(completed, report_.completed);
  }
}

RunOptions WorkerActor::run_options(std::int32_t priority, std::string space) {
  return {.memory_wait_max = options_.memory_wait_max,
          .lane = options_.lane,
          .priority = priority,
          .space = std::move(space),
          .on_wait = [this](bool waits) { count_wait(waits); }};
}

Task<> WorkerActor::run_durable(const WorkflowRun::Function* function, Claimed claimed,
                                Place place) {
  const Handle handle = claimed.handle;
  Journal journal;
  // The first claim of all finds none.
  for (bool has_journal = handle.epoch > 1, goes_on = true; goes_on; has_journal = true) {
    if (has_journal) {
      auto read = co_await engine_->journal(handle.execution);
      if (!read) {
        co_await fail_to_read(place, read.error());
        co_return;
      }
      journal = *std::move(read);
    }
    WorkflowRun run(engine_.get(), handle, std::move(journal),
                    run_options(claimed.priority, claimed.space));
    journal = {};
    place->run = &run;
    if (is_stopping_) run.drain();
    const Parting parting =
        co_await run.drive(function, run.input().value_or(claimed.spec.payload));
    place->run = nullptr;
    goes_on = !place->is_lost && co_await part_from(&run, parting, place);
    if (place->is_lost) ++report_.lost;
  }
}

Task<> WorkerActor::run_undo(Claimed claimed, Place place) {
  const Handle handle = claimed.handle;
  auto undone = co_await undone_by(engine_.get(), handle.execution, claimed.spec.payload);
  if (!undone) {
    co_await fail_to_read(place, undone.error());
    co_return;
  }
  const auto function = handlers_->durable.find(undone->spec.kind);
  if (function == handlers_->durable.end()) {
    co_await leave_to_others(handle);
  } else {
    co_await undo(&function->second, handle, *std::move(undone), place);
  }
}

Task<> WorkerActor::undo(const WorkflowRun::Function* function, Handle handle, ExecutionInfo undone,
                         Place place) {
  auto journal = co_await engine_->journal(undone.id);
  auto own = co_await engine_->journal(handle.execution);
  if (!journal || !own) {
    co_await fail_to_read(place, journal ? own.error() : journal.error());
    co_return;
  }
  RunOptions options = run_options(undone.execution.priority, undone.execution.space);
  options.undoing = Undoing{undone.id, *std::move(own)};
  WorkflowRun run(engine_.get(), handle, *std::move(journal), std::move(options));
  place->run = &run;
  if (is_stopping_) run.drain();
  const std::string input = run.input().value_or(undone.spec.payload);
  const Parting parting = co_await run.drive(function, input);
  place->run = nullptr;
  if (place->is_lost) {
    ++report_.lost;
  } else {
    co_await part_from(&run, parting, place);
  }
}

/// True if the coroutine begins anew.
Task<bool> WorkerActor::part_from(const WorkflowRun* run, Parting parting, Place place) {
  const Handle handle = run->handle();
  switch (parting) {
    case Parting::finished: {
      auto completed = co_await engine_->complete(handle, run->output());
      if (!completed) co_await give_up_if_unfit(place, completed.error());
      note(completed, report_.completed);
      break;
    }
    case Parting::failed:
    case Parting::changed: {
      Failure failure = failure_of(run->error());
      // A journal that does not fit may fit again, to the code of before.
      failure.is_final = parting == Parting::failed;
      failure.leaves_undo = run->is_refused();
      if (parting == Parting::changed) failure.category = "code_changed";
      note(co_await fail(place, std::move(failure)), report_.failed);
      break;
    }
    case Parting::waits:
      note(co_await engine_->delay(handle, run->wake_at()), report_.put_off);
      break;
    case Parting::suspends: ++report_.put_off; break;  // it was given back when it was suspended
    case Parting::continued: {
      auto restarted = co_await engine_->restart_journal(handle, run->output());
      if (restarted) co_return true;
      co_await give_up_if_unfit(place, restarted.error());
      ++report_.lost;
      break;
    }
    case Parting::stopped:
      note(co_await engine_->delay(handle, engine_->time()), report_.put_off);
      break;
    default: ++report_.lost; break;
  }
  co_return false;
}

void WorkerActor::on(Beat) {
  beats_ = !running_.empty();
  if (!beats_) return;
  for (const Running& running : running_) work_.spawn(renew(running.handle));
  beat_ = schedule_once<Beat>(options_.lease / 3);
}

Task<> WorkerActor::renew(Handle handle) {
  auto renewed = co_await engine_->renew(handle, options_.lease);
  if (renewed || !is_loss(renewed.error())) co_return;
  const auto place = std::ranges::find_if(running_, [&](const Running& running) {
    return running.handle.execution == handle.execution && running.handle.epoch == handle.epoch;
  });
  if (place != running_.end()) lose(*place);
}

void WorkerActor::lose(Running& running) {
  running.is_lost = true;
  if (running.run != nullptr) running.run->lose();
  if (running.let_go != nullptr) running.let_go->publish(1);
}

Task<Result<bool>> WorkerActor::on(StopWork) {
  is_stopping_ = true;
  stopping_.cancel();
  room_.publish(room_.published() + 1);
  // Another store may not have heard of it.
  if (engine_->store() == nullptr) claiming_.cancel_all();
  co_await claiming_.join();
  done_.emplace();
  for (const Running& running : running_) {
    if (running.run != nullptr) running.run->drain();
  }
  if (!running_.empty()) {
    TaskScope alarm;
    alarm.spawn(ring(options_.drain_max, &*done_));
    static_cast<void>(co_await done_->wait_until(1));
  }
  for (const Running& running : running_) {
    if (running.run != nullptr) running.run->give_up();
    if (running.let_go != nullptr) running.let_go->publish(1);
  }
  co_await work_.join();
  beat_.cancel();
  stop();
  co_return true;
}

WorkerReport WorkerActor::on(ReportWork) const {
  WorkerReport report = report_;
  report.running = running_.size();
  return report;
}

Task<Result<std::string>> WorkerActor::on(AskRun question) {
  WEIR_CO_TRY(info, co_await engine_->describe(question.execution));
  if (!info) co_return Error(Errc::not_found, "execution " + to_string(question.execution));
  const auto function = handlers_->durable.find(info->spec.kind);
  if (function == handlers_->durable.end()) {
    co_return Error(Errc::not_found, "no durable coroutine of kind '" + info->spec.kind + "'");
  }
  WEIR_CO_TRY(journal, co_await engine_->journal(question.execution));
  RunOptions options{.lane = options_.lane, .is_query = true};
  WorkflowRun run(engine_.get(), {.execution = question.execution}, std::move(journal), options);
  Result<std::string> answer =
      Error(Errc::wrong_state, to_string(question.execution) + " is not where it can be asked");
  const auto ask = [&] { answer = run.query(question.name, question.argument); };
  const std::string input = run.input().value_or(info->spec.payload);
  const Parting parting = co_await run.drive(&function->second, input, ask);
  if (parting == Parting::changed) co_return run.error();
  co_return answer;
}

}  // namespace weir::flow::workflow::internal
