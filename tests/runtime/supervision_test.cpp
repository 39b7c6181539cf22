// What happens to an actor whose handler threw (I5: it never ends the process or another actor).

#include <weir/runtime/supervision.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::ask_from_outside;
using testing::await_end;
using testing::Collector;
using testing::Counted;
using testing::Counter;
using testing::quiet;
using testing::Reports;

struct Add {
  int amount;
};
struct Total {
  using Reply = int;
};
struct Throw {
  std::string message;
};
struct ThrowLater {
  std::string message;
};
struct ThrowNumber {};
struct Wait {
  using Reply = int;
};

class Account final : public Actor<Add, Total, Throw, ThrowLater, ThrowNumber, Wait> {
 public:
  explicit Account(int total = 0) : total_(total) {}
  void on(Add message) { total_ += message.amount; }
  int on(Total) const { return total_; }
  void on(Throw message) { throw std::runtime_error(message.message); }
  Task<> on(ThrowLater message) {
    static_cast<void>(co_await sleep_for(1s));
    throw std::runtime_error(message.message);
  }
  void on(ThrowNumber) { throw 42; }
  Task<int> on(Wait) {
    static_cast<void>(co_await sleep_for(1h));
    co_return 1;
  }

 private:
  int total_;
  Counted<Account> counted_;
};

Supervision restart_after(Duration backoff) {
  Supervision wanted = Supervision::restart();
  wanted.backoff = backoff;
  wanted.jitter = 0;
  return wanted;
}

Supervision restart_within(Duration window, std::uint32_t restarts_max) {
  Supervision wanted = restart_after(1ms);
  wanted.window = window;
  wanted.restarts_max = restarts_max;
  return wanted;
}

struct Scene {
  explicit Scene(Supervision supervision, int total = 5)
      : simulation({.system = reports.options()}),
        actor(simulation.system().spawn<Account>(
            SpawnOptions{.name = "account", .supervision = supervision}, total)) {}

  int total() { return *ask_from_outside(simulation.system(), actor, Total{}); }
  ActorInfo info() {
    for (const ActorInfo& each : simulation.system().actors()) {
      if (each.id == actor.id()) return each;
    }
    return {};
  }

  Reports reports;
  Simulation simulation;
  RefOf<Account> actor;
};

TEST(Supervision, StopsByDefaultAndTellsWhy) {
  Scene scene(Supervision::stop());
  scene.actor.send<Throw>("out of money");
  const Terminated end = await_end(scene.simulation, scene.actor);
  EXPECT_EQ(end.reason.kind, StopReason::Kind::failed);
  EXPECT_EQ(end.reason.message, "out of money");
  EXPECT_EQ(end.name, "account");
  const auto failures = scene.reports.failures.values();
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].message, "out of money");
  EXPECT_EQ(failures[0].actor, scene.actor.id());
  EXPECT_EQ(failures[0].actor_name, "account");
}

TEST(Supervision, I5SeesExceptionsOfEveryKindAndTime) {
  Scene scene(Supervision::resume());
  scene.actor.send<ThrowNumber>();
  scene.actor.send<ThrowLater>("after a while");
  scene.simulation.run_for(2s);
  const auto failures = scene.reports.failures.values();
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_NE(failures[0].message.find("not a std::exception"), std::string::npos);
  EXPECT_EQ(failures[1].message, "after a while");
  EXPECT_EQ(scene.info().last_failure, "after a while");
}

TEST(Supervision, ResumesWithTheSameState) {
  Scene scene(Supervision::resume());
  scene.actor.send<Add>(1);
  scene.actor.send<Throw>("oops");
  scene.actor.send<Add>(1);
  EXPECT_EQ(scene.total(), 7);
  EXPECT_EQ(scene.info().restarts, 0u);
}

TEST(Supervision, RestartsWithItsArgumentsAndKeepsTheMailboxAndTheReference) {
  Scene scene(restart_after(1s));
  scene.actor.send<Add>(1);
  scene.actor.send<Throw>("oops");
  scene.actor.send<Add>(10);  // handled by the new one
  scene.simulation.run_for(500ms);
  EXPECT_TRUE(scene.actor.is_alive());
  EXPECT_EQ(Counted<Account>::live(), 0) << "the old one is gone while the new one is not there";
  scene.actor.send<Add>(100);
  EXPECT_EQ(scene.total(), 115);
  EXPECT_EQ(scene.info().restarts, 1u);
  EXPECT_EQ(scene.info().last_failure, "oops");
  EXPECT_EQ(scene.reports.failures.values()[0].restarts, 0u);
}

TEST(Supervision, WaitsTwiceAsLongForEachRestart) {
  Supervision wanted = restart_after(100ms);
  wanted.backoff_max = 500ms;
  Scene scene(wanted);
  std::vector<Duration> waited;
  for (int i = 0; i < 5; ++i) {
    const TimePoint begin = scene.simulation.now();
    scene.actor.send<Throw>("again");
    scene.total();
    waited.push_back(scene.simulation.now() - begin);
  }
  EXPECT_EQ(waited, (std::vector<Duration>{100ms, 200ms, 400ms, 500ms, 500ms}));
}

TEST(Supervision, AddsJitterUpToItsShare) {
  Supervision wanted = restart_after(100ms);
  wanted.backoff_max = 100ms;
  wanted.jitter = 0.5;
  wanted.restarts_max = 1000;
  Scene scene(wanted);
  Duration least = 1h;
  Duration most = 0s;
  for (int i = 0; i < 50; ++i) {
    const TimePoint begin = scene.simulation.now();
    scene.actor.send<Throw>("again");
    scene.total();
    least = std::min<Duration>(least, scene.simulation.now() - begin);
    most = std::max<Duration>(most, scene.simulation.now() - begin);
  }
  EXPECT_GE(least, 100ms);
  EXPECT_LE(most, 150ms);
  EXPECT_LT(least, 115ms);
  EXPECT_GT(most, 135ms);
}

TEST(Supervision, StopsAfterTooManyRestartsWithinItsWindow) {
  Scene scene(restart_within(10s, 3));
  for (int i = 0; i < 4; ++i) scene.actor.send<Throw>("again");
  const Terminated end = await_end(scene.simulation, scene.actor);
  EXPECT_EQ(end.reason.kind, StopReason::Kind::failed);
  EXPECT_EQ(end.reason.message, "again (too many restarts)");
  EXPECT_EQ(scene.reports.failures.values().size(), 4u);
  EXPECT_EQ(Counted<Account>::live(), 0);
}

TEST(Supervision, ForgetsRestartsOutsideItsWindow) {
  Scene scene(restart_within(1s, 2));
  for (int i = 0; i < 20; ++i) {
    scene.actor.send<Throw>("now and then");
    scene.simulation.run_for(600ms);
  }
  EXPECT_TRUE(scene.actor.is_alive());
  EXPECT_EQ(scene.info().restarts, 20u);
}

TEST(Supervision, CountsARestartUntilItsWindowIsOver) {
  for (const Duration later : {Duration(1s), Duration(1s) + 1ns}) {
    Scene scene(restart_within(1s, 1));
    scene.actor.send<Throw>("first");
    scene.simulation.run_for(later);
    scene.actor.send<Throw>("second");
    scene.simulation.run_for(1s);
    EXPECT_EQ(scene.actor.is_alive(), later > 1s);
  }
}

TEST(Supervision, WithNoRestartsAllowedStopsAtOnce) {
  Supervision wanted = restart_after(1ms);
  wanted.restarts_max = 0;
  Scene scene(wanted);
  scene.actor.send<Throw>("never again");
  EXPECT_EQ(await_end(scene.simulation, scene.actor).reason.message,
            "never again (too many restarts)");
}

TEST(Supervision, NeverRestartsEarlyHoweverLongItsBackoffGrows) {
  constexpr Duration year = 24h * 365;
  Supervision wanted = restart_after(year);
  wanted.backoff_max = forever;
  wanted.jitter = 1;
  wanted.restarts_max = 100;
  wanted.window = forever;
  Scene scene(wanted);
  for (std::uint32_t failures = 1; failures <= 12; ++failures) {  // time itself ends before
    const TimePoint begin = scene.simulation.now();
    scene.actor.send<Throw>("again");
    scene.simulation.run_until_idle(forever);
    if (scene.info().restarts < failures) break;
    EXPECT_GE(scene.simulation.now() - begin, year * (1 << (failures - 1))) << failures;
  }
  EXPECT_GE(scene.info().restarts, 7u) << "1 + 2 + ... + 64 years, and as much jitter, fit";
  scene.actor.stop();
  scene.simulation.run_for(1s);
  EXPECT_FALSE(scene.actor.is_alive());
}

TEST(Supervision, RestartEndsWhatTheOldInstanceWasDoing) {
  Scene scene(restart_after(1ms));
  Collector<std::string> outcomes;
  struct AskWait {
    ActorRef<Wait> target;
  };
  class Client final : public Actor<AskWait> {
   public:
    explicit Client(Collector<std::string>* collector) : outcomes_(collector) {}
    Task<> on(AskWait wanted) {
      const auto result = co_await wanted.target.ask<Wait>().within(forever);
      outcomes_->add(result ? "answered" : result.error().message());
    }

   private:
    Collector<std::string>* outcomes_;
  };
  auto client = scene.simulation.system().spawn<Client>(&outcomes);
  client.send<AskWait>(scene.actor);
  scene.simulation.run_for(1s);
  scene.simulation.crash(scene.actor);
  scene.simulation.run_for(1s);
  ASSERT_EQ(outcomes.values().size(), 1u);
  EXPECT_EQ(outcomes.values()[0].find("handler failed"), 0u) << outcomes.values()[0];
  EXPECT_EQ(scene.total(), 5);
}

// An instance whose constructor or start fails counts as a failure like any other.
class Fragile final : public Actor<Total> {
 public:
  Fragile(Counter* built, bool in_constructor, int failures)
      : built_(built), in_constructor_(in_constructor), failures_(failures) {
    built_->add();
    if (in_constructor_ && fails()) throw std::runtime_error("cannot be built");
  }
  void on_start() {
    if (!in_constructor_ && fails()) throw std::runtime_error("cannot start");
  }
  int on(Total) const { return static_cast<int>(built_->value()); }

 private:
  // The first one is built by spawn, whose caller gets the exception.
  bool fails() const { return built_->value() > 1 && built_->value() <= failures_ + 1; }

  Counter* built_;
  bool in_constructor_;
  int failures_;
};

TEST(Supervision, RestartsAgainWhenTheNewInstanceCannotBeBuiltOrStarted) {
  for (const bool in_constructor : {true, false}) {
    Counter built;
    Simulation simulation;
    auto actor = simulation.system().spawn<Fragile>(SpawnOptions{.supervision = restart_after(1ms)},
                                                    &built, in_constructor, 3);
    simulation.run_for(1s);
    simulation.crash(actor);
    EXPECT_EQ(*ask_from_outside(simulation.system(), actor, Total{}), 5);
  }
}

TEST(Supervision, GivesUpOnAnInstanceThatCannotBeBuilt) {
  for (const bool in_constructor : {true, false}) {
    Counter built;
    Simulation simulation;
    auto actor = simulation.system().spawn<Fragile>(SpawnOptions{.supervision = restart_after(1ms)},
                                                    &built, in_constructor, 1000);
    simulation.run_for(1s);
    simulation.crash(actor);
    const std::string why = await_end(simulation, actor).reason.message;
    EXPECT_NE(why.find("(too many restarts)"), std::string::npos);
    EXPECT_EQ(built.value(), 11);
  }
}

class Holder final : public Actor<Total> {
 public:
  explicit Holder(std::unique_ptr<int> value) : value_(std::move(value)) {}
  int on(Total) const { return *value_; }

 private:
  std::unique_ptr<int> value_;
};

TEST(Supervision, RestartNeedsArgumentsThatCanBeCopied) {
  ActorSystem system(quiet());
  auto holder = system.spawn<Holder>(std::make_unique<int>(3));
  EXPECT_EQ(*ask_from_outside(system, holder, Total{}), 3) << "without restart any will do";
  try {
    system.spawn<Holder>(SpawnOptions{.supervision = Supervision::restart()},
                         std::make_unique<int>(3));
    FAIL() << "it could not be built again";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("copyable constructor arguments"), std::string::npos);
  }
}

TEST(Supervision, StopDuringBackoffEndsTheActor) {
  for (const Stop how : {Stop::now, Stop::kill}) {
    Scene scene(restart_after(1h));
    scene.actor.send<Throw>("oops");
    scene.actor.send<Add>(1);
    scene.simulation.run_for(1s);
    scene.actor.stop(how);
    EXPECT_EQ(scene.simulation.run_until_idle(1min), RunEnd::idle) << "no timer is left";
    EXPECT_TRUE(scene.simulation.system().actors().empty());
    EXPECT_EQ(scene.simulation.system().dead_letters().of(DeadLetterReason::actor_stopped), 1u);
  }
}

// A storm on real threads: every message is handled, or failed and was reported.
class Shaky final : public Actor<Add> {
 public:
  explicit Shaky(Counter* handled) : handled_(handled) {}
  void on(Add message) {
    if (message.amount % 3 == 0) throw std::runtime_error("every third");
    handled_->add();
  }

 private:
  Counter* handled_;
  Counted<Shaky> counted_;
};

TEST(Supervision, SurvivesAStormOfRestarts) {
  const int count = testing::scaled(3000);
  Supervision wanted = restart_after(0s);
  wanted.restarts_max = 1'000'000;
  Counter handled;
  Counter failed;
  ActorSystemOptions options = quiet();
  options.on_failure = [&](const ActorFailure&) { failed.add(); };
  options.mailbox_capacity = unbounded;
  ActorSystem system(options);
  std::vector<RefOf<Shaky>> actors;
  for (int i = 0; i < 4; ++i) {
    actors.push_back(system.spawn<Shaky>(SpawnOptions{.supervision = wanted}, &handled));
  }
  for (int i = 0; i < count; ++i) {
    for (auto& actor : actors) EXPECT_TRUE(actor.send<Add>(i));
  }
  const int failures = 4 * ((count + 2) / 3);
  failed.wait_for(failures);
  handled.wait_for(4 * count - failures);
  for (auto& actor : actors) actor.stop();
  EXPECT_TRUE(system.stop().is_clean());
  EXPECT_EQ(failed.value(), failures);
  EXPECT_EQ(handled.value(), 4 * count - failures);
  EXPECT_EQ(system.dead_letters().total(), 0u);
  EXPECT_EQ(Counted<Shaky>::live(), 0);
}

}  // namespace
}  // namespace weir
