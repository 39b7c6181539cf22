#include <weir/runtime/simulation.hpp>

#include <stdexcept>

#include <weir/runtime/internal/simulator.hpp>

namespace weir {
namespace {

Duration not_negative(Duration time) {
  if (time >= Duration::zero()) return time;
  throw std::invalid_argument("weir: a simulation cannot run for " + std::to_string(time.count()) +
                              " ns: time does not go back");
}

}  // namespace

const char* to_string(RunEnd end) noexcept {
  switch (end) {
    case RunEnd::idle: return "idle";
    case RunEnd::satisfied: return "satisfied";
    case RunEnd::time_is_up: return "time is up";
    case RunEnd::step_limit: return "step limit";
  }
  return "unknown";
}

SimulatedNode::SimulatedNode(internal::Simulator& simulator, std::string name, Boot boot)
    : simulator_(simulator), name_(std::move(name)), boot_(std::move(boot)) {
  start();
}

void SimulatedNode::start() {
  system_ = Simulation::make_system(simulator_.system_options(name_), &simulator_);
  simulator_.add(system_->core());
  if (boot_) boot_(*system_);
}

ActorSystem& SimulatedNode::system() const {
  if (!system_) throw std::logic_error("weir: the simulated node '" + name_ + "' is down");
  return *system_;
}

void SimulatedNode::crash() {
  if (!system_) return;
  simulator_.crash_node(system_->core());
  crashed_.push_back(std::move(system_));
}

void SimulatedNode::restart() {
  crash();
  start();
}

Simulation::Simulation(SimulationOptions options)
    : simulator_(std::make_unique<internal::Simulator>(std::move(options))) {
  add_node("main", {});
}

Simulation::~Simulation() {
  for (const auto& node : nodes_) {
    if (node->is_up()) simulator_->take_down(node->system().core());
  }
}

std::unique_ptr<ActorSystem> Simulation::make_system(ActorSystemOptions options,
                                                     internal::SimulationHost* host) {
  return std::unique_ptr<ActorSystem>(new ActorSystem(std::move(options), host));
}

SimulatedNode& Simulation::add_node(std::string name, std::function<void(ActorSystem&)> boot) {
  simulator_->forbid_inside_actors();
  nodes_.emplace_back(new SimulatedNode(*simulator_, std::move(name), std::move(boot)));
  return *nodes_.back();
}

RunEnd Simulation::run_until_idle(Duration within) {
  return simulator_->run({.until_ns = simulator_->time_in(not_negative(within))});
}

RunEnd Simulation::run_for(Duration time) { return simulator_->run_for(not_negative(time)); }

RunEnd Simulation::run_until(const std::function<bool()>& holds, Duration within) {
  return simulator_->run({.holds = &holds, .until_ns = simulator_->time_in(not_negative(within))});
}

RunEnd Simulation::run_steps(std::uint64_t count) { return simulator_->run({.steps = count}); }

TimePoint Simulation::now() const noexcept { return TimePoint(Duration(simulator_->now_ns())); }
std::uint64_t Simulation::seed() const noexcept { return simulator_->seed(); }
std::uint64_t Simulation::steps() const noexcept { return simulator_->steps(); }
std::uint64_t Simulation::trace_hash() const noexcept { return simulator_->trace_hash(); }
std::uint64_t Simulation::random() noexcept { return simulator_->test_random().next(); }
bool Simulation::has_reached_step_limit() const noexcept {
  return simulator_->has_reached_step_limit();
}

void Simulation::crash(internal::Cell* actor) {
  if (actor) simulator_->crash(*actor);
}

void Simulation::slow_down(internal::Cell* actor, Duration time) {
  if (actor) simulator_->slow_down(*actor, time);
}

void Simulation::fill_mailbox(internal::Cell* actor) {
  if (actor) simulator_->fill_mailbox(*actor);
}

void Simulation::free_mailbox(internal::Cell* actor) {
  if (actor) simulator_->free_mailbox(*actor);
}

}  // namespace weir
