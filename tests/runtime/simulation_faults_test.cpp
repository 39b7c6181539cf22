#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

struct Add {
  std::int64_t amount;
};
struct Total {
  using Reply = std::int64_t;
};
struct Slowly {
  using Reply = std::int64_t;
};
struct Go {};
struct Tick {
  int number;
};

class Sum final : public Actor<Add, Total, Slowly> {
 public:
  explicit Sum(ActorRef<Total> other = {}) : other_(std::move(other)) {}

  void on(Add message) { total_ += message.amount; }
  std::int64_t on(Total) const { return total_; }
  Task<std::int64_t> on(Slowly) {
    co_return (co_await other_.ask<Total>().within(forever)).value();
  }

 private:
  std::int64_t total_ = 0;
  ActorRef<Total> other_;
};

Task<Result<std::int64_t>> ask_total(ActorRef<Total> sum) { co_return co_await sum.ask<Total>(); }

SpawnOptions restarting() {
  SpawnOptions options{.supervision = Supervision::restart()};
  options.supervision.backoff = 1ms;
  options.supervision.restarts_max = 1'000'000;
  return options;
}

/// Collects the ends of others.
class Watch final : public Actor<Terminated> {
 public:
  Watch(ActorRef<> target, std::vector<StopReason>* ends)
      : target_(std::move(target)), ends_(ends) {}
  void on_start() { monitor(target_); }
  void on(Terminated message) { ends_->push_back(message.reason); }

 private:
  ActorRef<> target_;
  std::vector<StopReason>* ends_;
};

TEST(SimulationFaults, ACrashedActorStopsAsIfAHandlerHadThrown) {
  std::vector<StopReason> ends;
  Simulation simulation;
  auto sum = simulation.system().spawn<Sum>();
  simulation.system().spawn<Watch>(sum, &ends);
  simulation.run_until_idle();
  simulation.crash(sum);
  simulation.run_until_idle();
  EXPECT_FALSE(sum.is_alive());
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].kind, StopReason::Kind::failed);
  EXPECT_EQ(ends[0].message, "crashed by the simulation");
}

TEST(SimulationFaults, ACrashedActorRestartsWithItsMailboxAndWithoutItsState) {
  Simulation simulation;
  auto sum = simulation.system().spawn<Sum>(restarting());
  sum.send<Add>(100);
  simulation.run_until_idle();
  simulation.crash(sum);
  sum.send<Add>(1);
  sum.send<Add>(2);
  EXPECT_EQ(simulation.run(ask_total(sum)).value(), 3);
  EXPECT_EQ(simulation.system().actors().at(0).restarts, 1u);
}

/// Asks once and keeps the outcome.
class Asker final : public Actor<Go> {
 public:
  Asker(ActorRef<Slowly> target, std::vector<std::error_code>* outcomes)
      : target_(std::move(target)), outcomes_(outcomes) {}
  Task<> on(Go) {
    const auto answer = co_await target_.ask<Slowly>().within(forever);
    outcomes_->push_back(answer ? std::error_code() : answer.error().code());
  }

 private:
  ActorRef<Slowly> target_;
  std::vector<std::error_code>* outcomes_;
};

/// Waits for another, and answers nobody meanwhile.
class Asleep final : public Actor<Total, Go> {
 public:
  explicit Asleep(ActorRef<Total>* other) : other_(other) {}
  Task<> on(Go) { static_cast<void>(co_await other_->ask<Total>().within(forever)); }
  std::int64_t on(Total) const { return 0; }

 private:
  ActorRef<Total>* other_;
};

/// Two actors that wait for each other, so that whoever asks one of them waits for ever.
struct Abyss {
  explicit Abyss(ActorSystem& system)
      : first(system.spawn<Asleep>(&second_ref)), second(system.spawn<Asleep>(&first_ref)) {
    first_ref = first;
    second_ref = second;
    first.send<Go>();
    second.send<Go>();
  }
  ActorRef<Total> first_ref;
  ActorRef<Total> second_ref;
  RefOf<Asleep> first;
  RefOf<Asleep> second;
};

TEST(SimulationFaults, I3ACrashInTheMiddleOfARequestFailsIt) {
  std::vector<std::error_code> outcomes;
  Simulation simulation;
  const Abyss abyss(simulation.system());
  auto sum = simulation.system().spawn<Sum>(restarting(), abyss.first);
  simulation.system().spawn<Asker>(sum, &outcomes).send<Go>();
  simulation.run_until_idle();
  EXPECT_TRUE(outcomes.empty());
  simulation.crash(sum);
  simulation.run_until_idle();
  EXPECT_EQ(outcomes, std::vector<std::error_code>{make_error_code(Errc::failed)});
  EXPECT_TRUE(sum.is_alive());
}

TEST(SimulationFaults, I3ARequestThatACrashHitsIsAnsweredWithFailed) {
  Simulation simulation({.faults = {.actor_crash = 1}});
  auto sum = simulation.system().spawn<Sum>();
  const auto answer = simulation.run(ask_total(sum));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), Errc::failed);
  simulation.run_until_idle();
  EXPECT_FALSE(sum.is_alive());
}

TEST(SimulationFaults, CrashesHitAsOftenAsAskedAndOnlyWhomTheyMay) {
  int failures = 0;
  SimulationOptions options{.seed = 4};
  options.faults.actor_crash = 0.25;
  options.faults.applies_to = [](std::string_view type, std::string_view name) {
    return type.find("Sum") != std::string_view::npos && name != "spared";
  };
  options.system.on_failure = [&](const ActorFailure& failure) {
    EXPECT_EQ(failure.actor_name, "hit");
    ++failures;
  };
  Simulation simulation(std::move(options));
  SpawnOptions resuming{.name = "hit", .supervision = Supervision::resume()};
  auto hit = simulation.system().spawn<Sum>(resuming);
  resuming.name = "spared";
  auto spared = simulation.system().spawn<Sum>(resuming);
  for (int i = 0; i < 1000; ++i) {
    hit.send<Add>(1);
    spared.send<Add>(1);
  }
  simulation.run_until_idle();
  EXPECT_NEAR(failures, 250, 60);
  EXPECT_EQ(simulation.run(ask_total(spared)).value(), 1000);
  const int failures_before = failures;
  const auto total = simulation.run(ask_total(hit));
  if (total) EXPECT_EQ(*total, 1000 - failures_before);  // a crash loses its message, no other
}

class Metronome final : public Actor<Go, Tick> {
 public:
  explicit Metronome(std::vector<Duration>* times) : times_(times) {}
  void on(Go) { schedule_every<Tick>(10ms, 0); }
  void on(Tick) { times_->push_back(now().time_since_epoch()); }

 private:
  std::vector<Duration>* times_;
};

TEST(SimulationFaults, APeriodicTimerSurvivesCrashesThatItsActorSurvives) {
  std::vector<Duration> times;
  bool is_armed = false;
  SimulationOptions options;
  options.faults.actor_crash = 1;
  options.faults.applies_to = [&](std::string_view, std::string_view) { return is_armed; };
  Simulation simulation(std::move(options));
  SpawnOptions resuming{.supervision = Supervision::resume()};
  simulation.system().spawn<Metronome>(std::move(resuming), &times).send<Go>();
  simulation.run_for(5ms);
  is_armed = true;
  simulation.run_for(100ms);
  EXPECT_EQ(times.size(), 10u);
}

TEST(SimulationFaults, I2ARefusedMessageComesBackToItsSender) {
  SimulationOptions options{.seed = 8};
  options.faults.refused_send = 0.5;
  Simulation simulation(std::move(options));
  auto sum = simulation.system().spawn<Sum>();
  auto endless = simulation.system().spawn<Sum>(SpawnOptions{.mailbox_capacity = unbounded});
  std::int64_t refused = 0;
  for (int i = 0; i < 1000; ++i) {
    auto sent = sum.send<Add>(1);
    if (!sent) {
      EXPECT_EQ(sent.reason(), Errc::full);
      refused += sent.message().amount;
    }
    EXPECT_TRUE(endless.send<Add>(1));
    simulation.run_until_idle();
  }
  EXPECT_NEAR(static_cast<double>(refused), 500, 100);
  const DeadLetterCounts letters = simulation.system().dead_letters();
  EXPECT_EQ(letters.of(DeadLetterReason::mailbox_full), static_cast<std::uint64_t>(refused));
}

class Deliverer final : public Actor<Go> {
 public:
  Deliverer(ActorRef<Add> target, int* delivered)
      : target_(std::move(target)), delivered_(delivered) {}
  Task<> on(Go) {
    if (co_await target_.deliver<Add>(1)) ++*delivered_;
  }

 private:
  ActorRef<Add> target_;
  int* delivered_;
};

TEST(SimulationFaults, AFilledMailboxRefusesAndDeliveriesWaitUntilItIsFreed) {
  int delivered = 0;
  Simulation simulation;
  auto sum = simulation.system().spawn<Sum>(SpawnOptions{.mailbox_capacity = 4});
  sum.send<Add>(10);
  simulation.fill_mailbox(sum);
  simulation.fill_mailbox(sum);
  EXPECT_EQ(sum.send<Add>(1).reason(), Errc::full);
  simulation.system().spawn<Deliverer>(sum, &delivered).send<Go>();
  EXPECT_EQ(simulation.run_until_idle(), RunEnd::idle);
  EXPECT_EQ(delivered, 0);
  simulation.free_mailbox(sum);
  simulation.run_until_idle();
  EXPECT_EQ(delivered, 1);
  EXPECT_TRUE(sum.send<Add>(1));
  EXPECT_EQ(simulation.run(ask_total(sum)).value(), 12);
}

TEST(SimulationFaults, AMailboxThatIsNeverFullCannotBeFilled) {
  Simulation simulation;
  auto endless = simulation.system().spawn<Sum>(SpawnOptions{.mailbox_capacity = unbounded});
  auto ring = simulation.system().spawn<Sum>(SpawnOptions{.overflow = Overflow::drop_oldest});
  EXPECT_THROW(simulation.fill_mailbox(endless), std::invalid_argument);
  EXPECT_THROW(simulation.fill_mailbox(ring), std::invalid_argument);
}

TEST(SimulationFaults, ASlowActorTakesItsTimeForEachMessage) {
  Simulation simulation;
  auto sum = simulation.system().spawn<Sum>();
  simulation.slow_down(sum, 5ms);
  sum.send<Add>(1);
  sum.send<Add>(2);
  EXPECT_EQ(simulation.run(ask_total(sum)).value(), 3);
  EXPECT_EQ(simulation.now(), TimePoint(15ms));
  simulation.slow_down(sum, 0ms);
  simulation.run(ask_total(sum)).value();
  EXPECT_EQ(simulation.now(), TimePoint(15ms));
  EXPECT_THROW(simulation.slow_down(sum, -1ms), std::invalid_argument);
}

Task<> nothing() { co_return; }

TEST(SimulationFaults, TheTestsOwnTaskIsSpared) {
  SimulationOptions options;
  options.faults = {.actor_crash = 1, .refused_send = 1, .message_time_max = 1ms};
  Simulation simulation(std::move(options));
  simulation.run(nothing());
  EXPECT_EQ(simulation.now(), TimePoint());
}

TEST(SimulationFaults, RefusesChancesAndTimesThatMakeNoSense) {
  EXPECT_THROW(Simulation({.preemption = 1.5}), std::invalid_argument);
  EXPECT_THROW(Simulation({.blocking_time_max = -1ms}), std::invalid_argument);
  EXPECT_THROW(Simulation({.faults = {.actor_crash = -0.1}}), std::invalid_argument);
  EXPECT_THROW(Simulation().run_for(-1ns), std::invalid_argument);
}

TEST(SimulationFaults, EveryMessageMayTakeTime) {
  SimulationOptions options;
  options.faults.message_time_max = 1ms;
  Simulation simulation(std::move(options));
  auto sum = simulation.system().spawn<Sum>();
  for (int i = 0; i < 100; ++i) sum.send<Add>(1);
  simulation.run_until_idle();
  EXPECT_GT(simulation.now(), TimePoint(30ms));
  EXPECT_LT(simulation.now(), TimePoint(70ms));
}

TEST(SimulationFaults, LateTimersAreLateWithinTheirBoundAndDoNotDrift) {
  std::vector<Duration> times;
  SimulationOptions options;
  options.faults.late_timer = 0.5;
  options.faults.late_timer_max = 4ms;
  Simulation simulation(std::move(options));
  simulation.system().spawn<Metronome>(&times).send<Go>();
  simulation.run_for(1004ms);
  ASSERT_EQ(times.size(), 100u);
  int late = 0;
  for (int i = 0; i < 100; ++i) {
    const Duration delay = times[static_cast<std::size_t>(i)] - 10ms * (i + 1);
    EXPECT_GE(delay, 0ms);
    EXPECT_LE(delay, 4ms);
    if (delay > 0ms) ++late;
  }
  EXPECT_NEAR(late, 50, 20);
}

class ThreeTimers final : public Actor<Go, Tick> {
 public:
  explicit ThreeTimers(std::vector<int>* order) : order_(order) {}
  void on(Go) {
    for (int i = 0; i < 3; ++i) schedule_once<Tick>(1ms, i);
  }
  void on(Tick tick) { order_->push_back(tick.number); }

 private:
  std::vector<int>* order_;
};

std::set<std::vector<int>> timer_orders(bool reorders) {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::vector<int> order;
    Simulation simulation({.seed = seed, .reorders_timers = reorders});
    simulation.system().spawn<ThreeTimers>(&order).send<Go>();
    simulation.run_until_idle();
    orders.insert(order);
  }
  return orders;
}

TEST(SimulationFaults, TimersDueAtTheSameTimeFireInAnyOrder) {
  EXPECT_EQ(timer_orders(true).size(), 6u);
  EXPECT_EQ(timer_orders(false), (std::set<std::vector<int>>{{0, 1, 2}}));
}

}  // namespace
}  // namespace weir
