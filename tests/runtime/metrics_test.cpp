// What a system of actors tells those who collect metrics.

#include <future>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/phase.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

struct Note {};
struct Fail {};

class Listener final : public Actor<Note, Fail> {
 public:
  void on_start() { schedule_once<Note>(1h); }
  void on(Note) {}
  void on(Fail) { throw std::runtime_error("as told"); }
};

/// The sum of an instrument's points.
double value_of(telemetry::Telemetry& telemetry, std::string_view name) {
  double sum = 0;
  for (const telemetry::MetricRecord& record : telemetry.collect()) {
    if (record.name != name) continue;
    for (const telemetry::MetricPoint& point : record.points) {
      if (const auto* counted = std::get_if<telemetry::SumPoint>(&point.value)) {
        sum += counted->value;
      } else if (const auto* gauge = std::get_if<telemetry::GaugePoint>(&point.value)) {
        sum += gauge->value;
      }
    }
  }
  return sum;
}

SimulationOptions measured(telemetry::Telemetry& telemetry) {
  SimulationOptions options;
  options.system.telemetry = &telemetry;
  options.system.on_failure = [](const ActorFailure&) {};
  return options;
}

TEST(SystemMetrics, CountMessagesActorsTimersAndRestarts) {
  telemetry::Telemetry telemetry({.measures_always = true}, {});
  Simulation simulation(measured(telemetry));
  const SpawnOptions options{.supervision = {.directive = Supervision::Directive::restart}};
  auto listener = simulation.system().spawn<Listener>(options);
  for (int i = 0; i < 600; ++i) {  // more than one quota
    listener.send<Note>();
    if (i % 100 == 0) simulation.run_until_idle(1min);
  }
  simulation.run_until_idle(1min);
  EXPECT_EQ(value_of(telemetry, "weir.actor.messages"), 600);
  listener.send<Fail>();
  simulation.run_until_idle(1min);
  EXPECT_EQ(value_of(telemetry, "weir.actor.messages"), 601);
  EXPECT_EQ(value_of(telemetry, "weir.actor.restarts"), 1);
  EXPECT_EQ(value_of(telemetry, "weir.actor.count"), 1);
  EXPECT_EQ(value_of(telemetry, "weir.actor.mailbox.depth"), 0);
}

TEST(SystemMetrics, CountWhatIsNotDeliveredByReason) {
  telemetry::Telemetry telemetry({.measures_always = true}, {});
  ActorSystemOptions options = testing::quiet(1);
  options.telemetry = &telemetry;
  ActorSystem system(options);
  auto listener = system.spawn<Listener>();
  listener.stop();
  testing::await_end(system, listener);
  EXPECT_FALSE(listener.send<Note>());
  EXPECT_EQ(value_of(telemetry, "weir.actor.messages.undelivered"), 1);
}

TEST(SystemMetrics, CountTimersOfARealSystem) {
  telemetry::Telemetry telemetry({.measures_always = true}, {});
  ActorSystemOptions options = testing::quiet(2);
  options.telemetry = &telemetry;
  ActorSystem system(options);
  for (int i = 0; i < 5; ++i) system.spawn<Listener>();
  testing::eventually("five timers",
                      [&] { return value_of(telemetry, "weir.timer.pending") == 5; });
  EXPECT_EQ(value_of(telemetry, "weir.actor.count"), 5);
}

TEST(SystemMetrics, CountWhatWaitsInMailboxes) {
  telemetry::Telemetry telemetry({.measures_always = true}, {});
  Simulation simulation(measured(telemetry));
  auto first = simulation.system().spawn<Listener>();
  auto second = simulation.system().spawn<Listener>();
  simulation.run_until_idle(1min);
  for (int i = 0; i < 3; ++i) first.send<Note>();
  second.send<Note>();
  EXPECT_EQ(value_of(telemetry, "weir.actor.mailbox.depth"), 4);
  simulation.run_until_idle(1min);
  EXPECT_EQ(value_of(telemetry, "weir.actor.mailbox.depth"), 0);
}

enum class Light { red, green };

struct Change {};

class Lights final : public Actor<Change>, public Phased<Lights, Light> {
 public:
  static constexpr PhaseRule<Light> phases[] = {{.phase = Light::red, .to = {Light::green}},
                                                {.phase = Light::green, .to = {Light::red}}};
  void on(Change) { enter(phase() == Light::red ? Light::green : Light::red); }
};

TEST(SystemMetrics, TellTheAgeOfTheOldestInEachPhase) {
  telemetry::Telemetry telemetry({.measures_always = true}, {});
  SimulationOptions options = measured(telemetry);
  options.system.on_phase = [](const PhaseEvent&) {};
  Simulation simulation(options);
  simulation.system().spawn<Lights>();
  simulation.run_for(2s);
  auto later = simulation.system().spawn<Lights>();
  simulation.run_for(3s);
  EXPECT_EQ(value_of(telemetry, "weir.phase.age"), 5) << "both are red";
  later.send<Change>();
  simulation.run_for(1s);
  EXPECT_EQ(value_of(telemetry, "weir.phase.age"), 6 + 1);
}

struct Look {};

/// Looks at the figures of its system from inside.
class Looker final : public Actor<Look> {
 public:
  Looker(telemetry::Telemetry* telemetry, testing::Collector<double>* seen)
      : telemetry_(telemetry), seen_(seen) {}
  void on(Look) { seen_->add(value_of(*telemetry_, "weir.scheduler.utilization")); }

 private:
  telemetry::Telemetry* telemetry_;
  testing::Collector<double>* seen_;
};

TEST(SystemMetrics, TellWhichPartOfTheThreadsIsAwake) {
  telemetry::Telemetry telemetry({.measures_always = true}, {});
  testing::Collector<double> seen;
  ActorSystemOptions options = testing::quiet(1);
  options.telemetry = &telemetry;
  ActorSystem system(options);
  system.spawn<Looker>(&telemetry, &seen).send<Look>();
  EXPECT_EQ(seen.wait_for(1).front(), 1);
  testing::eventually("it sleeps",
                      [&] { return value_of(telemetry, "weir.scheduler.utilization") == 0; });
}

struct Block {};

class Blocker final : public Actor<Block> {
 public:
  static constexpr bool interleaves = true;
  explicit Blocker(std::shared_future<void> until) : until_(std::move(until)) {}
  Task<> on(Block) {
    auto wait = [until = until_] { until.wait(); };
    EXPECT_TRUE(co_await on_blocking_pool(std::move(wait)));
  }

 private:
  std::shared_future<void> until_;
};

TEST(SystemMetrics, CountBlockingCallsThatWaitForAThread) {
  telemetry::Telemetry telemetry({.measures_always = true}, {});
  std::promise<void> go_on;
  ActorSystemOptions options = testing::quiet(1);
  options.telemetry = &telemetry;
  options.blocking_threads_max = 1;
  ActorSystem system(options);
  auto blocker = system.spawn<Blocker>(go_on.get_future().share());
  for (int i = 0; i < 3; ++i) blocker.send<Block>();
  const auto depth = [&] { return value_of(telemetry, "weir.blocking.pool.depth"); };
  testing::eventually("two wait for the third", [&] { return depth() == 2; });
  go_on.set_value();
  testing::eventually("none waits", [&] { return depth() == 0; });
}

TEST(SystemMetrics, EndWithTheirSystem) {
  telemetry::Telemetry telemetry({.measures_always = true}, {});
  {
    ActorSystemOptions options = testing::quiet(1);
    options.telemetry = &telemetry;
    const ActorSystem system(options);
    EXPECT_GT(telemetry.collect().size(), 5u);
  }
  EXPECT_EQ(value_of(telemetry, "weir.actor.count"), 0);
}

}  // namespace
}  // namespace weir
