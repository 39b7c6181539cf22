#include <weir/flow/view/internal/pool.hpp>

#include <string>
#include <utility>

#include <weir/runtime/span.hpp>
#include <weir/runtime/task_scope.hpp>

namespace weir::flow::view::internal {
namespace {

/// What came of one worker's share; an outcome for each task if there was no answer.
Task<> run_share(const Worker::Ref* worker, RunFlows share, Duration deadline,
                 std::vector<FlowOutcome>* outcomes) {
  std::vector<std::uint64_t> flows;
  for (const FlowTask& task : share.tasks) flows.push_back(task.flow);
  auto reply = co_await worker->ask<RunFlows>(std::move(share)).within(deadline);
  if (reply) {
    for (FlowOutcome& outcome : *reply) outcomes->push_back(std::move(outcome));
  } else {
    for (const std::uint64_t flow : flows) outcomes->push_back({flow, reply.error()});
  }
}

}  // namespace

void Pool::on_start() {
  for (std::size_t number = 0; number < size_; ++number) {
    workers_.push_back(spawn<Worker>(
        {.name = "worker-" + std::to_string(number), .supervision = Supervision::restart()}, store_,
        options_));
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
    scope.spawn(run_share(&workers_[number],
                          RunFlows{cycle.changes, std::move(cycle.tasks[number])},
                          options_.cycle_deadline, &outcomes));
  }
  submitting.set({"flow.batches", batches});
  co_await scope.join();
  submitting.set({"flow.outcomes", static_cast<std::int64_t>(outcomes.size())});
  co_return outcomes;
}

Task<> Pool::on(EndCycle end) {
  for (const auto& worker : workers_) static_cast<void>(co_await worker.deliver<EndCycle>(end));
}

Task<Result<FlowTraits>> Pool::on(PlaceFlow place) {
  co_return co_await workers_[place.worker].ask<AddFlow>(std::move(place.definition), place.is_new);
}

Task<> Pool::on(DisplaceFlow displace) {
  static_cast<void>(co_await workers_[displace.worker].deliver<RemoveFlow>(displace.flow));
}

Task<bool> Pool::on(Drain) {
  for (const auto& worker : workers_) static_cast<void>(co_await worker.ask<Drain>());
  co_return true;
}

}  // namespace weir::flow::view::internal
