#pragma once

#include <cstdint>
#include <vector>

#include <weir/flow/view/internal/worker.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/task.hpp>

namespace weir::flow::view::internal {

/// One cycle for all workers.
struct Submit {
  using Reply = std::vector<FlowOutcome>;

  CycleChanges changes;
  std::vector<std::vector<FlowTask>> tasks;  // for each worker
};

struct PlaceFlow {
  using Reply = FlowTraits;

  std::size_t worker;
  FlowDefinitionRef definition;
  bool is_new;
};

struct DisplaceFlow {
  std::size_t worker;
  std::uint64_t flow;
};

/// Fans a cycle out to the workers and brings together what they give.
class Pool final : public Actor<Submit, EndCycle, PlaceFlow, DisplaceFlow, Drain> {
 public:
  Pool(const storage::Store* store, FlowOptions options, std::size_t workers)
      : store_(store), options_(options), size_(workers) {}

  void on_start();
  Task<std::vector<FlowOutcome>> on(Submit cycle);
  Task<> on(EndCycle end);
  Task<Result<FlowTraits>> on(PlaceFlow place);
  Task<> on(DisplaceFlow displace);
  Task<bool> on(Drain);

 private:
  const storage::Store* store_;
  FlowOptions options_;
  std::size_t size_;
  std::vector<Worker::Ref> workers_;
};

}  // namespace weir::flow::view::internal
