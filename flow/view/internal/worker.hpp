#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <weir/flow/view/internal/flow_run.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/task.hpp>

namespace weir::flow::view::internal {

using CycleChanges = std::shared_ptr<const std::vector<RelationChanges>>;

/// Runs flows, sources before those who read them: what one gives is input of the next. Gives an
/// outcome for each that had something to do.
struct RunFlows {
  using Reply = std::vector<FlowOutcome>;
  CycleChanges changes;
  std::vector<FlowTask> tasks;
};

/// The cycle is over: what these flows gave has been committed, and nothing of the others.
struct EndCycle {
  std::shared_ptr<const std::set<std::uint64_t>> committed;
};

/// Makes a flow, or makes it again from its state.
struct AddFlow {
  using Reply = FlowTraits;
  FlowDefinitionRef definition;
  bool is_new;
};

struct RemoveFlow {
  std::uint64_t flow;
};

/// Answered when all that was sent before it has been dealt with.
struct Drain {
  using Reply = bool;
};

/// Runs the flows that it was given, one after the other.
class Worker final : public Actor<RunFlows, EndCycle, AddFlow, RemoveFlow, Drain> {
 public:
  Worker(const storage::Store* store, FlowOptions options) : store_(store), options_(options) {}

  Task<std::vector<FlowOutcome>> on(RunFlows cycle);
  void on(EndCycle end);
  Result<FlowTraits> on(AddFlow add);
  void on(RemoveFlow remove) { flows_.erase(remove.flow); }
  bool on(Drain) { return true; }

 private:
  const storage::Store* store_;
  FlowOptions options_;
  std::map<std::uint64_t, std::unique_ptr<Flow>> flows_;
  std::set<std::uint64_t> ran_;  // in the current cycle
};

}  // namespace weir::flow::view::internal
