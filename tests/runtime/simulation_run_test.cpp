#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

struct Add {
  std::int64_t amount;
};
struct Total {
  using Reply = std::int64_t;
};
struct Note {};
struct Go {};
struct Tick {};
struct Never {
  using Reply = int;
};

class Sum final : public Actor<Add, Total> {
 public:
  void on(Add message) { total_ += message.amount; }
  std::int64_t on(Total) const { return total_; }

 private:
  std::int64_t total_ = 0;
};

Task<std::int64_t> total_of(ActorRef<Total> sum) { co_return (co_await sum.ask<Total>()).value(); }

/// Notes when its timers fire.
class Clockwork final : public Actor<Go, Tick> {
 public:
  Clockwork(std::vector<Duration>* times, Duration period, Every mode)
      : times_(times), period_(period), mode_(mode) {}
  void on(Go) { schedule_every<Tick>(mode_, period_); }
  void on(Tick) { times_->push_back(now().time_since_epoch()); }

 private:
  std::vector<Duration>* times_;
  Duration period_;
  Every mode_;
};

class Alarm final : public Actor<Go, Tick> {
 public:
  explicit Alarm(std::vector<Duration>* times) : times_(times) {}
  void on(Go) {
    schedule_once<Tick>(1ns);
    schedule_once<Tick>(5ms + 3ns);
    schedule_once<Tick>(24h);
  }
  void on(Tick) { times_->push_back(now().time_since_epoch()); }

 private:
  std::vector<Duration>* times_;
};

TEST(SimulationRun, TimersFireAtTheirExactNanosecond) {
  std::vector<Duration> times;
  Simulation simulation;
  EXPECT_EQ(simulation.now(), TimePoint());
  simulation.system().spawn<Alarm>(&times).send<Go>();
  EXPECT_EQ(simulation.run_until_idle(forever), RunEnd::idle);
  EXPECT_EQ(times, (std::vector<Duration>{1ns, 5ms + 3ns, 24h}));
  EXPECT_EQ(simulation.now(), TimePoint(24h));
}

TEST(SimulationRun, FixedRateTimersDoNotDrift) {
  std::vector<Duration> times;
  Simulation simulation;
  auto clockwork = simulation.system().spawn<Clockwork>(&times, 10ms, Every::fixed_rate);
  clockwork.send<Go>();
  simulation.run_until_idle(0ns);
  simulation.slow_down(clockwork, 3ms);
  EXPECT_EQ(simulation.run_for(1s), RunEnd::time_is_up);
  ASSERT_EQ(times.size(), 99u);  // the hundredth is being handled
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(times[i], 10ms * (static_cast<int>(i) + 1) + 3ms);
  }
}

TEST(SimulationRun, FixedDelayTimersWaitAPeriodAfterEachHandler) {
  std::vector<Duration> times;
  Simulation simulation;
  auto clockwork = simulation.system().spawn<Clockwork>(&times, 10ms, Every::fixed_delay);
  clockwork.send<Go>();
  simulation.run_until_idle(0ns);
  simulation.slow_down(clockwork, 3ms);
  simulation.run_for(40ms);
  EXPECT_EQ(times, (std::vector<Duration>{13ms, 26ms, 39ms}));
}

/// Two actors, each waiting for the other.
class Partner final : public Actor<Never, Note> {
 public:
  explicit Partner(ActorRef<Never>* other) : other_(other) {}
  Task<int> on(Never) { co_return (co_await other_->ask<Never>().within(forever)).value(); }
  void on(Note) {}

 private:
  ActorRef<Never>* other_;
};

Task<Error> ask_silent(ActorRef<Never> silent, Duration timeout) {
  const auto answer = co_await silent.ask<Never>().within(timeout);
  co_return answer.error();
}

struct Deadlocked {
  explicit Deadlocked(Simulation& simulation)
      : left(simulation.system().spawn<Partner>(&right_ref)),
        right(simulation.system().spawn<Partner>(&left_ref)) {
    left_ref = left;
    right_ref = right;
  }
  ActorRef<Never> left_ref;
  ActorRef<Never> right_ref;
  RefOf<Partner> left;
  RefOf<Partner> right;
};

TEST(SimulationRun, AnAskTimesOutAtItsExactDeadline) {
  Simulation simulation;
  const Deadlocked pair(simulation);
  simulation.run_for(7ms);
  EXPECT_EQ(simulation.run(ask_silent(pair.left, 123'456'789ns)), Errc::timed_out);
  EXPECT_EQ(simulation.now(), TimePoint(7ms + 123'456'789ns));
}

TEST(SimulationRun, RunSaysWhoWaitsForWhatWhenATaskCannotFinish) {
  Simulation simulation({.seed = 11});
  const Deadlocked pair(simulation);
  pair.right.send<Note>();
  try {
    simulation.run(ask_silent(pair.left, forever));
    FAIL() << "no exception";
  } catch (const ErrorException& exception) {
    EXPECT_EQ(exception.error(), Errc::deadlock);
    const std::string what = exception.error().detail();
    EXPECT_NE(what.find("seed 11"), std::string::npos) << what;
    for (const auto& [waiting, awaited] :
         {std::pair(pair.left, pair.right), std::pair(pair.right, pair.left)}) {
      const std::size_t line = what.find("Partner #" + std::to_string(waiting.id().value));
      ASSERT_NE(line, std::string::npos) << what;
      const std::string text = what.substr(line, what.find('\n', line) - line);
      EXPECT_NE(text.find("Never from #" + std::to_string(awaited.id().value)), std::string::npos)
          << what;
    }
  }
  // The simulation goes on without the task.
  EXPECT_EQ(simulation.system().actors().size(), 2u);
  EXPECT_EQ(simulation.run_until_idle(), RunEnd::idle);
}

Task<> throwing() {
  throw std::runtime_error("thrown in a task");
  co_return;
}

TEST(SimulationRun, RunThrowsWhatTheTaskThrows) {
  Simulation simulation;
  EXPECT_THROW(simulation.run(throwing()), std::runtime_error);
}

TEST(SimulationRun, SystemRunIsTheSameUnderSimulation) {
  Simulation simulation;
  auto sum = simulation.system().spawn<Sum>();
  sum.send<Add>(3);
  EXPECT_EQ(simulation.system().run(total_of(sum)), 3);
  EXPECT_EQ(simulation.system().threads(), 1u);
}

TEST(SimulationRun, RunUntilIdleGivesUpOnAPeriodicTimer) {
  std::vector<Duration> times;
  Simulation simulation;
  simulation.system().spawn<Clockwork>(&times, 1s, Every::fixed_rate).send<Go>();
  EXPECT_EQ(simulation.run_until_idle(10s), RunEnd::time_is_up);
  EXPECT_EQ(times.size(), 10u);
}

TEST(SimulationRun, RunForLetsAllOfTheTimePass) {
  Simulation simulation;
  EXPECT_EQ(simulation.run_for(3s), RunEnd::idle);
  EXPECT_EQ(simulation.now(), TimePoint(3s));
}

class Endless final : public Actor<> {
 public:
  explicit Endless(bool* is_over) : is_over_(is_over) {}
  Task<> on_start() {
    static_cast<void>(co_await sleep_for(forever));
    *is_over_ = true;
  }

 private:
  bool* is_over_;
};

TEST(SimulationRun, WhatIsDueNeverDoesNotHappenAtTheEndOfTime) {
  Simulation simulation;
  bool is_over = false;
  simulation.system().spawn<Endless>(&is_over);
  EXPECT_EQ(simulation.run_until_idle(forever), RunEnd::time_is_up) << "it waits";
  EXPECT_EQ(simulation.run_for(forever), RunEnd::time_is_up);
  EXPECT_EQ(simulation.now().time_since_epoch(), forever);
  EXPECT_FALSE(is_over);
  EXPECT_EQ(Simulation().run_for(forever), RunEnd::idle);
}

TEST(SimulationRun, RunUntilStopsAsSoonAsTheConditionHolds) {
  std::vector<Duration> times;
  Simulation simulation;
  simulation.system().spawn<Clockwork>(&times, 1s, Every::fixed_rate).send<Go>();
  EXPECT_EQ(simulation.run_until([&] { return times.size() == 3; }), RunEnd::satisfied);
  EXPECT_EQ(simulation.now(), TimePoint(3s));
  EXPECT_EQ(simulation.run_until([] { return false; }, 5s), RunEnd::time_is_up);
  EXPECT_EQ(times.size(), 8u);
}

class Restless final : public Actor<Go> {
 public:
  void on(Go) { self().send<Go>(); }
};

TEST(SimulationRun, ActorsThatNeverRestReachTheStepLimit) {
  Simulation simulation({.steps_max = 1000});
  simulation.system().spawn<Restless>().send<Go>();
  EXPECT_EQ(simulation.run_until_idle(), RunEnd::step_limit);
  EXPECT_TRUE(simulation.has_reached_step_limit());
  EXPECT_GE(simulation.steps(), 1000u);
  const Deadlocked pair(simulation);
  EXPECT_THROW(simulation.run(ask_silent(pair.left, forever)), ErrorException);
}

/// Fails at every start and notes when.
class Unlucky final : public Actor<Go> {
 public:
  explicit Unlucky(std::vector<Duration>* times) : times_(times) {}
  void on_start() {
    times_->push_back(now().time_since_epoch());
    throw std::runtime_error("no luck");
  }
  void on(Go) {}

 private:
  std::vector<Duration>* times_;
};

TEST(SimulationRun, SupervisedRestartsWaitTheirBackoffInVirtualTime) {
  std::vector<Duration> times;
  Simulation simulation;
  SpawnOptions options{.supervision = Supervision::restart()};
  options.supervision.backoff = 100ms;
  options.supervision.backoff_max = 350ms;
  options.supervision.jitter = 0;
  options.supervision.restarts_max = 4;
  auto unlucky = simulation.system().spawn<Unlucky>(std::move(options), &times);
  EXPECT_EQ(simulation.run_until_idle(), RunEnd::idle);
  EXPECT_EQ(times, (std::vector<Duration>{0ms, 100ms, 300ms, 650ms, 1000ms}));
  EXPECT_FALSE(unlucky.is_alive());
}

TEST(SimulationRun, StopsASystemInVirtualTime) {
  Simulation simulation;
  auto sum = simulation.system().spawn<Sum>();
  sum.send<Add>(1);
  EXPECT_TRUE(simulation.system().stop().is_clean());
  EXPECT_FALSE(sum.is_alive());
  EXPECT_FALSE(sum.send<Add>(1));
  EXPECT_TRUE(simulation.system().actors().empty());
}

Task<> ask_forever(ActorRef<Never> silent) {
  static_cast<void>(co_await silent.ask<Never>().within(forever));
}

class Stubborn final : public Actor<Go> {
 public:
  explicit Stubborn(ActorRef<Never> silent) : silent_(std::move(silent)) {}
  Task<> on(Go) { return ask_forever(silent_); }

 private:
  ActorRef<Never> silent_;
};

TEST(SimulationRun, ReportsWhoDoesNotStopWhenTheVirtualTimeoutHasPassed) {
  Simulation simulation;
  const Deadlocked elsewhere(simulation);
  auto& node = simulation.add_node("other", {});
  auto stubborn = node.system().spawn<Stubborn>(elsewhere.left);
  stubborn.send<Go>();
  simulation.run_until_idle();
  ::testing::internal::CaptureStderr();
  const StopReport report = node.system().stop({.drain = 1s, .timeout = 5s});
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("Stubborn"), std::string::npos);
  ASSERT_EQ(report.did_not_stop.size(), 1u);
  EXPECT_EQ(report.did_not_stop[0].id, stubborn.id());
  EXPECT_LE(simulation.now(), TimePoint(5s));
  EXPECT_FALSE(stubborn.is_alive());
}

Task<std::thread::id> call_blocking() {
  static_cast<void>(co_await sleep_for(7ns));
  co_return (co_await on_blocking_pool([] { return std::this_thread::get_id(); })).value();
}

TEST(SimulationRun, ABlockingCallRunsOnThisThreadAndTakesVirtualTime) {
  Simulation simulation({.blocking_time_max = 1s});
  EXPECT_EQ(simulation.run(call_blocking()), std::this_thread::get_id());
  EXPECT_GT(simulation.now(), TimePoint(1ms));
  EXPECT_LE(simulation.now(), TimePoint(1s + 7ns));
}

class Driver final : public Actor<Go> {
 public:
  Driver(Simulation* simulation, bool* was_refused)
      : simulation_(simulation), was_refused_(was_refused) {}
  void on(Go) {
    try {
      simulation_->run_until_idle();
    } catch (const std::logic_error&) {
      *was_refused_ = true;
    }
  }

 private:
  Simulation* simulation_;
  bool* was_refused_;
};

TEST(SimulationRun, CannotBeRunFromInsideAnActor) {
  Simulation simulation;
  bool was_refused = false;
  simulation.system().spawn<Driver>(&simulation, &was_refused).send<Go>();
  simulation.run_until_idle();
  EXPECT_TRUE(was_refused);
}

TEST(SimulationRun, ReferencesMayOutliveIt) {
  RefOf<Sum> sum;
  {
    Simulation simulation;
    sum = simulation.system().spawn<Sum>();
    EXPECT_TRUE(sum.is_alive());
  }
  EXPECT_FALSE(sum.is_alive());
  EXPECT_EQ(sum.send<Add>(1).reason(), Errc::stopped);
}

TEST(SimulationRun, KeepsFailuresQuietUnlessAskedTo) {
  std::vector<std::string> failures;
  std::vector<Duration> times;
  ::testing::internal::CaptureStderr();
  {
    Simulation simulation;
    simulation.system().spawn<Unlucky>(&times);
    simulation.run_until_idle();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  SimulationOptions options;
  options.system.on_failure = [&](const ActorFailure& failure) {
    failures.emplace_back(failure.message);
  };
  Simulation simulation(std::move(options));
  simulation.system().spawn<Unlucky>(&times);
  simulation.run_until_idle();
  EXPECT_EQ(failures, std::vector<std::string>{"no luck"});
}

}  // namespace
}  // namespace weir
