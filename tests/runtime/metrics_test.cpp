// What a system of actors tells those who collect metrics.

#include <map>
#include <string>

#include <gtest/gtest.h>

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
