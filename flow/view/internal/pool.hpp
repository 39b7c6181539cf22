#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <weir/flow/view/internal/worker.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/task.hpp>

namespace weir::flow::view::internal {

/// How long a worker may take to answer what is nothing to do: no view moves meanwhile.
inline constexpr Duration answer_time = std::chrono::seconds(1);
/// One that does not is asked again after this time, however many flows it has.
inline constexpr Duration late_time = std::chrono::seconds(5);

/// One cycle for all workers.
struct Submit {
  using Reply = std::vector<FlowOutcome>;

  CycleChanges changes;
  std::vector<std::vector<FlowTask>> tasks;  // for each worker
};

/// `timed_out` if the worker is busy with something else.
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

/// Fans a cycle out to the workers and brings together what they give. Nobody waits twice for one
/// that has not answered in time: it is given nothing before it answers again.
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
  struct Place {
    Worker::Ref worker;
    bool is_late = false;      // it has not answered in time
    TimePoint ask_again = {};  // if it is late
    bool has_work = false;     // in this cycle
  };
  Task<> run_share(Place* place, RunFlows share, Duration deadline,
                   std::vector<FlowOutcome>* outcomes);
  Task<Result<>> check_answers(Place* place);
  void note_answer(Place& place, bool is_late);

  std::vector<Place> places_;
};

}  // namespace weir::flow::view::internal
