#include <weir/flow/view/internal/pool.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <weir/runtime/span.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view::internal {

/// What came of one worker's share; an outcome for each task if there was no answer.
Task<> Pool::run_share(Place* place, RunFlows share, Duration deadline,
                       std::vector<FlowOutcome>* outcomes) {
  std::vector<std::uint64_t> flows;
  for (const FlowTask& task : share.tasks) flows.push_back(task.flow);
  Result<std::vector<FlowOutcome>> reply(std::vector<FlowOutcome>{});
  Result<> answers;
  if (place->is_late) answers = co_await check_answers(place);
  if (answers) {
    place->has_work = true;
    reply = co_await place->worker.ask<RunFlows>(std::move(share)).within(deadline);
    place->is_late = !reply && reply.error() == weir::Errc::timed_out;
  } else {
    reply = answers.error();
  }
  if (reply) {
    for (FlowOutcome& outcome : *reply) outcomes->push_back(std::move(outcome));
  } else {
    for (const std::uint64_t flow : flows) outcomes->push_back({flow, reply.error()});
  }
}

/// One that was late may be there again.
Task<Result<>> Pool::check_answers(Place* place) {
  if (place->is_late && now() < place->ask_again)
    co_return Error(weir::Errc::timed_out, "the worker is busy with something else");
  const auto answer = co_await place->worker.ask<Drain>().within(answer_time);
  note_answer(*place, !answer && answer.error() == weir::Errc::timed_out);
  if (!answer) co_return answer.error();
  co_return {};
}

void Pool::note_answer(Place& place, bool is_late) {
  place.is_late = is_late;
  if (is_late) place.ask_again = now() + late_time;
}

void Pool::on_start() {
  for (std::size_t number = 0; number < size_; ++number) {
    places_.push_back({spawn<Worker>(
        {.name = "worker-" + std::to_string(number), .supervision = Supervision::restart()}, store_,
        options_)});
  }
}

Task<std::vector<FlowOutcome>> Pool::on(Submit cycle) {
  auto submitting = span("flow.pool.submit");
  std::vector<FlowOutcome> outcomes;
  TaskScope scope;
  std::int64_t batches = 0;
  for (std::size_t number = 0; number < cycle.tasks.size(); ++number) {
    if (cycle.tasks[number].empty()) continue;
    ++batches;
    scope.spawn(run_share(&places_[number], RunFlows{cycle.changes, std::move(cycle.tasks[number])},
                          options_.cycle_deadline, &outcomes));
  }
  submitting.set({"flow.batches", batches});
  co_await scope.join();
  submitting.set({"flow.outcomes", static_cast<std::int64_t>(outcomes.size())});
  co_return outcomes;
}

/// Nobody waits for room in the mailbox of one that had nothing to do.
Task<> Pool::on(EndCycle end) {
  for (Place& place : places_) {
    if (std::exchange(place.has_work, false))
      static_cast<void>(co_await place.worker.deliver<EndCycle>(end));
  }
}

Task<Result<FlowTraits>> Pool::on(PlaceFlow place) {
  Place& at = places_[place.worker];
  WEIR_CO_TRY_VOID(co_await check_answers(&at));
  // An operator of someone else's may take its time to be made.
  const Duration deadline = std::max<Duration>(options_.cycle_deadline, answer_time);
  auto placed =
      co_await at.worker.ask<AddFlow>(std::move(place.definition), place.is_new).within(deadline);
  note_answer(at, !placed && placed.error() == weir::Errc::timed_out);
  co_return placed;
}

Task<> Pool::on(DisplaceFlow displace) {
  static_cast<void>(co_await places_[displace.worker].worker.deliver<RemoveFlow>(displace.flow));
}

Task<bool> Pool::on(Drain) {
  for (const Place& place : places_) static_cast<void>(co_await place.worker.ask<Drain>());
  co_return true;
}

}  // namespace weir::flow::view::internal
