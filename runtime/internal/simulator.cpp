#include <weir/runtime/internal/simulator.hpp>

#include <algorithm>
#include <stdexcept>

#include <weir/runtime/check.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/worker.hpp>

namespace weir::internal {
namespace {

// How many actors may be interrupted at once.
constexpr unsigned preemption_depth_max = 3;
// Once one has run in between, the chance that another one follows.
constexpr Chance preemption_goes_on(0.5);
// Actors of different nodes have different ids, and so do those of before and after a restart.
constexpr std::uint64_t ids_per_core = 1'000'000'000;

enum Stream : std::uint64_t { order, actors, faults, test };

// Its address tells threads apart.
constinit thread_local char thread_mark = 0;

void check_chance(const char* name, double chance) {
  if (chance >= 0 && chance <= 1) return;
  throw std::invalid_argument("SimulationOptions: " + std::string(name) + " is " +
                              std::to_string(chance) + "; a chance lies between 0 and 1");
}

void check_time(const char* name, Duration time) {
  if (time >= Duration::zero()) return;
  throw std::invalid_argument("SimulationOptions: " + std::string(name) + " is negative");
}

SimulationOptions checked(SimulationOptions options) {
  check_chance("preemption", options.preemption);
  check_chance("faults.actor_crash", options.faults.actor_crash);
  check_chance("faults.refused_send", options.faults.refused_send);
  check_chance("faults.late_timer", options.faults.late_timer);
  check_time("faults.late_timer_max", options.faults.late_timer_max);
  check_time("faults.message_time_max", options.faults.message_time_max);
  check_time("blocking_time_max", options.blocking_time_max);
  return options;
}

// What was on its way to the actor, a reply or the end of a wait, would let a handler go on first.
void let_newest_signal_overtake(Cell& cell) noexcept {
  const std::uintptr_t newest = cell.control.load(std::memory_order_relaxed);
  if (newest == Cell::control_terminated) return;
  const std::uintptr_t earlier = link_of(newest)->next.exchange(Cell::empty);
  if (earlier == Cell::empty) return;
  cell.control.store(earlier, std::memory_order_relaxed);
  cell.return_control(newest);
}

void kill_tree(Cell& root) {
  std::vector<Cell*> cells{&root};
  while (!cells.empty()) {
    Cell* cell = cells.back();
    cells.pop_back();
    request_kill(*cell, {StopReason::Kind::killed, "the node crashed"});
    let_newest_signal_overtake(*cell);
    for (Cell* child = cell->first_child; child; child = child->next_sibling) {
      cells.push_back(child);
    }
  }
}

}  // namespace

// Work on its way through the blocking pool.
struct Simulator::BlockingEvent : TimerEntry, Pooled {
  Core* core = nullptr;
  void (*work)(void*) = nullptr;
  void* context = nullptr;

  static void run(TimerEntry* entry) noexcept {
    const std::unique_ptr<BlockingEvent> due(static_cast<BlockingEvent*>(entry));
    due->work(due->context);
  }
};

Simulator::Simulator(SimulationOptions options)
    : options_(checked(std::move(options))),
      preemption_(options_.preemption),
      actor_crash_(options_.faults.actor_crash),
      refused_send_(options_.faults.refused_send),
      late_timer_(options_.faults.late_timer),
      order_random_(options_.seed, Stream::order),
      actors_random_(options_.seed, Stream::actors),
      faults_random_(options_.seed, Stream::faults),
      test_random_(options_.seed, Stream::test),
      trace_(options_.on_step),
      thread_(&thread_mark) {}

Simulator::~Simulator() {
  for (const auto& [cell, time] : slow_) const_cast<Cell*>(cell)->release();
  for (const auto& [cell, room] : filled_) const_cast<Cell*>(cell)->release();
  check(timers_.is_empty(), "actors that have ended leave no timers behind");
}

ActorSystemOptions Simulator::system_options(const std::string& node_name) {
  ActorSystemOptions options = options_.system;
  options.name = node_name;
  // Chance comes from the simulation; this is for the ids of spans, which differ between nodes.
  std::uint64_t seed = options_.seed * ids_per_core + cores_made_;
  options.seed = next_random(seed);
  options.on_failure = [this, node_name](const ActorFailure& failure) {
    trace_.add_failure(node_name, failure, now_);
    if (options_.system.on_failure) options_.system.on_failure(failure);
  };
  // Not printed: faults that were asked for must not flood the output.
  options.on_dead_letter = [this, node_name](const DeadLetter& letter) {
    trace_.add_dead_letter(node_name, letter, now_);
    if (options_.system.on_dead_letter) options_.system.on_dead_letter(letter);
  };
  return options;
}

void Simulator::add(Core& core) {
  core.simulated_next_id.fetch_add(ids_per_core * cores_made_++, std::memory_order_relaxed);
  cores_.push_back(&core);
}

void Simulator::schedule(Core& core, Cell* cell) noexcept {
  check(thread_ == &thread_mark,
        "a simulation is confined to one thread: no other may send to its actors");
  if (&core == taken_down_) {
    leaving_.push_back(cell);
    return;
  }
  const Duration time = pause_before(*cell);
  if (time == Duration::zero()) {
    ready_.push_back(cell);
  } else {
    pause(cell, time);
  }
}

std::uint64_t Simulator::next_order() noexcept {
  return options_.reorders_timers ? order_random_.next() : timer_order_++;
}

void Simulator::arm(TimerEntry& entry, std::int64_t due_ns) noexcept {
  entry.due = due_ns;
  entry.queue = this;
  if (faults_random_.hits(late_timer_)) {
    const auto late_max = static_cast<std::uint64_t>(options_.faults.late_timer_max.count());
    const auto late = static_cast<std::int64_t>(faults_random_.below(late_max + 1));
    due_ns = saturating_sum(due_ns, late);
  }
  timers_.add(entry, due_ns, next_order());
}

void Simulator::arm_lazily(TimerEntry& entry, std::int64_t delay_ns) noexcept {
  arm(entry, time_in(Duration(delay_ns)));
}

void Simulator::run_blocking(Core& core, void (*work)(void*), void* context) {
  auto* call = new BlockingEvent;
  call->core = &core;
  call->work = work;
  call->context = context;
  call->fire = &BlockingEvent::run;
  const auto time_max = static_cast<std::uint64_t>(options_.blocking_time_max.count());
  const auto time = static_cast<std::int64_t>(order_random_.below(time_max + 1));
  timers_.add(*call, time_in(Duration(time)), next_order());
}

void Simulator::after_send() noexcept {
  const Worker* sender = this_worker;
  if (!sender || !sender->current || taken_down_ || depth_ > preemption_depth_max) return;
  if (ready_.empty() || !order_random_.hits(preemption_)) return;
  do {
    ++steps_;
    activate(take_ready(order_random_.below(ready_.size())));
  } while (!ready_.empty() && order_random_.hits(preemption_goes_on));
}

Cell* Simulator::take_ready(std::size_t position) noexcept {
  Cell* cell = ready_[position];
  ready_[position] = ready_.back();
  ready_.pop_back();
  return cell;
}

// One activation within another is another thread as far as the runtime can see.
Worker& Simulator::worker_of(Core& core) {
  while (core.workers.size() <= depth_) {
    const auto number = static_cast<unsigned>(core.workers.size());
    core.workers.push_back(std::make_unique<Worker>(core, number, now_));
  }
  return *core.workers[depth_];
}

void Simulator::activate(Cell* cell) noexcept {
  SimulatedTrace::Step step;
  trace_.begin(step, *cell);
  step.is_recorded = taken_down_ != nullptr;  // nothing of its own happens any more
  Worker& worker = worker_of(*cell->core);
  Worker* outer = std::exchange(this_worker, &worker);
  ++depth_;
  worker.quota_left = 1;
  cell->activate(worker);
  --depth_;
  this_worker = outer;
  trace_.end(now_);
}

// What is due at the end of time is due never, even if the clock is put forward to there.
bool Simulator::is_timer_due_by(std::int64_t time_ns) const noexcept {
  const std::int64_t due = timers_.next_due();
  return due <= time_ns && due != SimulatedTimers::never;
}

bool Simulator::step(std::int64_t until_ns) {
  if (ready_.empty()) {
    if (!is_timer_due_by(until_ns)) return false;
    now_ = std::max(now_, timers_.next_due());
  }
  ++steps_;
  const bool is_timer_due = is_timer_due_by(now_);
  const std::size_t choices = ready_.size() + (is_timer_due ? 1 : 0);
  const std::size_t chosen = choices == 1 ? 0 : order_random_.below(choices);
  if (chosen == ready_.size()) {
    timers_.fire_next();
  } else {
    activate(take_ready(chosen));
  }
  return true;
}

RunEnd Simulator::run(const RunLimits& limits) {
  forbid_inside_actors();
  thread_ = &thread_mark;
  const std::uint64_t begin = steps_;
  for (;;) {
    if (limits.holds && (*limits.holds)()) return RunEnd::satisfied;
    if (steps_ - begin >= limits.steps) return RunEnd::step_limit;
    if (steps_ - begin >= options_.steps_max) {
      has_reached_step_limit_ = true;
      return RunEnd::step_limit;
    }
    if (!step(limits.until_ns)) return timers_.is_empty() ? RunEnd::idle : RunEnd::time_is_up;
  }
}

RunEnd Simulator::run_for(Duration time) {
  const std::int64_t until = time_in(time);
  const RunEnd end = run({.until_ns = until});
  if (end != RunEnd::step_limit) now_ = std::max(now_, until);
  return end;
}

std::int64_t Simulator::time_in(Duration time) const noexcept {
  return saturating_sum(now_, time.count());
}

void Simulator::run_until_quiet(std::int64_t until_ns) {
  const std::function<bool()> is_quiet = [this] { return ready_.empty(); };
  run({.holds = &is_quiet, .until_ns = until_ns});
}

bool Simulator::run_until_stopped(Core& core, std::int64_t until_ns) {
  const std::function<bool()> is_stopped = [&] { return core.is_stopped; };
  return run({.holds = &is_stopped, .until_ns = until_ns}) == RunEnd::satisfied;
}

void Simulator::finish(Cell& task, const TaskOutcomeBase& outcome) {
  const std::function<bool()> is_finished = [&] { return outcome.is_finished(); };
  const RunEnd end = run({.holds = &is_finished});
  if (end == RunEnd::satisfied) return;
  std::string stuck = describe_stuck(end);
  end_task(task);
  throw ErrorException(Error(Errc::deadlock, std::move(stuck)));
}

// The task refers to what its caller is about to leave.
void Simulator::end_task(Cell& task) {
  request_kill(task, {StopReason::Kind::killed, "it could not finish"});
  const auto at = std::find(ready_.begin(), ready_.end(), &task);
  check(at != ready_.end(), "an actor that is told to stop is ready");
  activate(take_ready(static_cast<std::size_t>(at - ready_.begin())));
}

void Simulator::take_down(Core& core) {
  forbid_inside_actors();
  taken_down_ = &core;
  collect_cells_of(core);
  kill_tree(*core.guardian);
  // The signals to die come first, so nobody sees what these calls return.
  run_blocking_calls_of(core);
  for (std::size_t i = 0; i < leaving_.size(); ++i) activate(leaving_[i]);
  leaving_.clear();
  taken_down_ = nullptr;
  std::erase(cores_, &core);
  check(core.is_stopped, "a node whose actors were killed has ended");
}

void Simulator::crash_node(Core& core) {
  forbid_inside_actors();
  trace_.record_crash(core.options.name, now_);
  take_down(core);
}

void Simulator::run_blocking_calls_of(Core& core) {
  while (TimerEntry* entry = timers_.find([&](TimerEntry& armed) {
    return armed.fire == &BlockingEvent::run && static_cast<BlockingEvent&>(armed).core == &core;
  })) {
    timers_.remove(*entry);
    entry->fire(entry);
  }
}

void Simulator::forbid_inside_actors() const {
  if (depth_ == 0) return;
  throw std::logic_error(
      "weir: a simulation is driven from outside: its actors, and hooks that they call, cannot run "
      "it or crash nodes");
}

}  // namespace weir::internal
