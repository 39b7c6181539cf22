#include <weir/flow/view/internal/worker.hpp>

#include <algorithm>
#include <utility>

namespace weir::flow::view::internal {

Result<FlowTraits> Worker::on(AddFlow add) {
  const std::uint64_t id = add.definition->id();
  FlowStateReader state(store_, *add.definition->view->state);
  auto flow = Flow::make(std::move(add.definition), options_, std::move(state), add.is_new);
  if (!flow) return std::move(flow).error();
  const FlowTraits traits = (*flow)->traits();
  flows_.insert_or_assign(id, *std::move(flow));
  return traits;
}

Task<std::vector<FlowOutcome>> Worker::on(RunFlows cycle) {
  std::vector<FlowOutcome> outcomes;
  std::vector<RelationChanges> produced;
  std::set<std::uint64_t> failed;
  for (const FlowTask& task : cycle.tasks) {
    const auto at = flows_.find(task.flow);
    if (at == flows_.end()) {
      outcomes.push_back({task.flow, Error(weir::Errc::not_found, "the worker was restarted")});
      failed.insert(task.flow);
      continue;
    }
    Flow& flow = *at->second;
    const auto& sources = flow.definition().sources();
    const auto broken = std::ranges::find_if(
        sources, [&](const SourceEntry& source) { return failed.contains(source.relation); });
    if (broken != sources.end()) {
      outcomes.push_back({task.flow, Error(weir::Errc::cancelled,
                                           "its source '" + broken->name + "' has failed")});
      failed.insert(task.flow);
      continue;
    }
    auto inputs = inputs_of(flow, task, *cycle.changes, produced);
    const bool ends_filling = task.filling == Flow::Filling::ended;
    if (inputs && inputs->empty() && !task.tick && !ends_filling) continue;
    ran_.insert(task.flow);
    Result<FlowResult> result =
        inputs ? co_await run_flow(&flow, {*std::move(inputs), task.tick, task.filling})
               : Result<FlowResult>(inputs.error());
    if (result) {
      produced.push_back({flow.definition().view, result->changes});
    } else {
      failed.insert(task.flow);
    }
    outcomes.push_back({task.flow, std::move(result)});
  }
  co_return outcomes;
}

void Worker::on(EndCycle end) {
  for (const std::uint64_t id : std::exchange(ran_, {})) {
    const auto at = flows_.find(id);
    if (at == flows_.end()) continue;
    if (end.committed->contains(id)) {
      at->second->commit();
    } else {
      at->second->roll_back();
    }
  }
}

}  // namespace weir::flow::view::internal
