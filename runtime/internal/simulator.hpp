#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/simulated_random.hpp>
#include <weir/runtime/internal/simulated_timers.hpp>
#include <weir/runtime/internal/simulated_trace.hpp>
#include <weir/runtime/internal/task_actor.hpp>
#include <weir/runtime/simulation.hpp>

namespace weir::internal {

/// When a simulation stops running.
struct RunLimits {
  const std::function<bool()>* holds = nullptr;
  std::int64_t until_ns = SimulatedTimers::never;
  std::uint64_t steps = UINT64_MAX;
};

/// Runs the actors of all nodes of one simulation.
///
/// An actor that has something to do stands in `ready_`, or with the timers while it is slow. One
/// step takes any one of the ready, or fires a timer that is due; only when neither is left does
/// the time move on.
class Simulator final : public SimulationHost, private TimerQueue {
 public:
  explicit Simulator(SimulationOptions options);
  ~Simulator() override;

  // --- for the actors
  void schedule(Core& core, Cell* cell) noexcept override;
  TimerQueue& timers(Core&) noexcept override { return *this; }
  std::int64_t now_ns() const noexcept override { return now_; }
  std::uint64_t random() noexcept override { return actors_random_.next(); }
  bool refuses(const Cell& target) noexcept override;
  void after_send() noexcept override;
  void before_message(Cell& cell) noexcept override;
  void run_blocking(Core& core, void (*work)(void*), void* context) override;

  // --- for whoever waits for actors
  void finish(Cell& task, const TaskOutcomeBase& outcome) override;
  void run_until_quiet(std::int64_t until_ns) override;
  bool run_until_stopped(Core& core, std::int64_t until_ns) override;
  /// Ends every actor of a node, and nothing else happens meanwhile.
  void take_down(Core& core) override;

  RunEnd run(const RunLimits& limits);
  RunEnd run_for(Duration time);
  /// The time that is `time` from now; the end of time if that is beyond it.
  std::int64_t time_in(Duration time) const noexcept;
  std::uint64_t steps_max() const noexcept { return options_.steps_max; }

  // --- nodes
  ActorSystemOptions system_options(const std::string& node_name);
  void add(Core& core);
  void crash_node(Core& core);

  // --- faults
  void crash(Cell& cell);
  void slow_down(Cell& cell, Duration time);
  void fill_mailbox(Cell& cell);
  void free_mailbox(Cell& cell);

  std::uint64_t seed() const noexcept { return options_.seed; }
  std::uint64_t steps() const noexcept { return steps_; }
  std::uint64_t trace_hash() const noexcept { return trace_.hash(); }
  RandomStream& test_random() noexcept { return test_random_; }
  bool has_reached_step_limit() const noexcept { return has_reached_step_limit_; }
  /// Throws if an actor of this simulation runs.
  void forbid_inside_actors() const;

 private:
  struct PausedCell;
  struct BlockingEvent;

  void arm(TimerEntry& entry, std::int64_t due_ns) noexcept override;
  void arm_lazily(TimerEntry& entry, std::int64_t delay_ns) noexcept override;
  bool cancel(TimerEntry& entry) noexcept override { return timers_.remove(entry); }

  bool is_timer_due_by(std::int64_t time_ns) const noexcept;
  bool step(std::int64_t until_ns);
  Cell* take_ready(std::size_t position) noexcept;
  void activate(Cell* cell) noexcept;
  Worker& worker_of(Core& core);
  std::uint64_t next_order() noexcept;

  Duration pause_before(const Cell& cell) noexcept;
  void pause(Cell* cell, Duration time);
  bool is_hit(const Cell& cell, Chance chance) noexcept;

  void collect_cells_of(Core& core);
  void run_blocking_calls_of(Core& core);
  void end_task(Cell& task);
  std::string describe_stuck(RunEnd end) const;

  const SimulationOptions options_;
  const Chance preemption_;
  const Chance actor_crash_;
  const Chance refused_send_;
  const Chance late_timer_;

  RandomStream order_random_;  // who is next
  RandomStream actors_random_;
  RandomStream faults_random_;
  RandomStream test_random_;

  std::vector<Cell*> ready_;
  SimulatedTimers timers_;
  std::int64_t now_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t timer_order_ = 0;
  SimulatedTrace trace_;
  unsigned depth_ = 0;  // activations within each other
  const void* thread_;
  bool has_reached_step_limit_ = false;

  std::vector<Core*> cores_;  // of the nodes that are up
  std::uint64_t cores_made_ = 0;
  Core* taken_down_ = nullptr;
  std::vector<Cell*> leaving_;  // those of `taken_down_` that have something to do

  // Keys are counted references.
  std::unordered_map<const Cell*, Duration> slow_;
  std::unordered_map<const Cell*, std::uint32_t> filled_;
};

}  // namespace weir::internal
