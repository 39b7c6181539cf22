// What a system of actors tells those who collect metrics.

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

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

double busy_time(telemetry::Telemetry& telemetry) {
  return value_of(telemetry, "weir.scheduler.busy.time");
}

/// Looks twice, a moment later.
class Watcher final : public Actor<Look> {
 public:
  Watcher(telemetry::Telemetry* telemetry, testing::Collector<bool>* grew)
      : telemetry_(telemetry), grew_(grew) {}
  void on(Look) {
    const double before = busy_time(*telemetry_);
    const TimePoint begin = now();
    while (now() == begin) internal::relax_cpu();
    grew_->add(busy_time(*telemetry_) > before);
  }

 private:
  telemetry::Telemetry* telemetry_;
  testing::Collector<bool>* grew_;
};

TEST(SystemMetrics, CountTheTimeThatAThreadIsAwake) {
  telemetry::Telemetry telemetry({.measures_always = true}, {});
  testing::Collector<bool> grew;
  ActorSystemOptions options = testing::quiet(1);
  options.telemetry = &telemetry;
  ActorSystem system(options);
  const TimePoint begin = system.now();
  auto watcher = system.spawn<Watcher>(&telemetry, &grew);
  for (std::size_t round = 1; round <= 3; ++round) {
    watcher.send<Look>();
    EXPECT_TRUE(grew.wait_for(round).back()) << "in a handler it is awake";
    testing::eventually("asleep it is not", [&] {
      const double busy = busy_time(telemetry);
      return busy > 0 && busy == busy_time(telemetry);
    });
  }
  const std::chrono::duration<double> all = system.now() - begin + 1s;  // it began before
  EXPECT_LT(busy_time(telemetry), all.count());
}

using Described = std::tuple<std::string, std::string, std::string>;

std::string kind_of(const telemetry::MetricRecord& record) {
  const auto& value = record.points.at(0).value;
  if (std::holds_alternative<telemetry::HistogramPoint>(value)) return "histogram";
  if (std::holds_alternative<telemetry::GaugePoint>(value)) return "gauge";
  return record.is_monotonic ? "counter" : "up-down counter";
}

// What docs/operations/metrics.md tells those who draw graphs: to rename one is to break them.
TEST(SystemMetrics, HaveTheNamesUnitsAndKindsThatAreDocumented) {
  telemetry::Telemetry telemetry({.measures_always = true, .measured_one_in_max = 1}, {});
  ActorSystemOptions options = testing::quiet(1);
  options.telemetry = &telemetry;
  options.on_phase = [](const PhaseEvent&) {};
  ActorSystem system(options);
  system.spawn<Lights>().send<Change>();
  const auto described = [&] {
    std::set<Described> all;
    for (const telemetry::MetricRecord& record : telemetry.collect()) {
      if (record.name.starts_with("weir.telemetry.") || record.points.empty()) continue;
      all.emplace(record.name, record.unit, kind_of(record));
    }
    return all;
  };
  const std::set<Described> expected = {
      {"weir.actor.count", "{actor}", "up-down counter"},
      {"weir.actor.handle.duration", "s", "histogram"},
      {"weir.actor.mailbox.depth", "{message}", "up-down counter"},
      {"weir.actor.mailbox.wait.duration", "s", "histogram"},
      {"weir.actor.messages", "{message}", "counter"},
      {"weir.actor.messages.undelivered", "{message}", "counter"},
      {"weir.actor.restarts", "{restart}", "counter"},
      {"weir.blocking.pool.depth", "{call}", "up-down counter"},
      {"weir.phase.age", "s", "gauge"},
      {"weir.scheduler.activations", "{activation}", "counter"},
      {"weir.scheduler.busy.time", "s", "counter"},
      {"weir.scheduler.utilization", "1", "gauge"},
      {"weir.timer.pending", "{timer}", "up-down counter"},
  };
  testing::eventually("all of them", [&] { return described() == expected; });
  EXPECT_EQ(described(), expected);
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

// The texts of an attribute over the points of an instrument.
std::multiset<std::string> texts_of(telemetry::Telemetry& telemetry, std::string_view metric,
                                    std::string_view attribute) {
  std::multiset<std::string> texts;
  for (const telemetry::MetricRecord& record : telemetry.collect()) {
    if (record.name != metric) continue;
    for (const telemetry::MetricPoint& point : record.points) {
      const auto found =
          std::ranges::find(point.attributes, attribute, &telemetry::Attribute::name);
      texts.insert(found == point.attributes.end() ? "" : std::get<std::string>(found->value));
    }
  }
  return texts;
}

TEST(SystemMetrics, TellSystemsWithNamesApartWhereTheyCannotBeAddedUp) {
  telemetry::Telemetry telemetry({.measures_always = true}, {});
  std::vector<std::unique_ptr<ActorSystem>> systems;
  for (const char* name : {"weir", "bank", "shop"}) {
    ActorSystemOptions options = testing::quiet(1);
    options.name = name;
    options.telemetry = &telemetry;
    options.on_phase = [](const PhaseEvent&) {};
    systems.push_back(std::make_unique<ActorSystem>(options));
    systems.back()->spawn<Lights>().send<Change>();
  }
  const std::multiset<std::string> each{"", "bank", "shop"};
  testing::eventually("each has a phase",
                      [&] { return texts_of(telemetry, "weir.phase.age", "weir.system") == each; });
  for (const char* metric : {"weir.scheduler.utilization", "weir.scheduler.busy.time"}) {
    EXPECT_EQ(texts_of(telemetry, metric, "weir.system"), each) << metric;
  }
  EXPECT_EQ(texts_of(telemetry, "weir.actor.messages", "weir.system"),
            std::multiset<std::string>{""});
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
