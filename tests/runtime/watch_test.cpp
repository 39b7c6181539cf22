// Monitors and links: who wants to know that an actor has ended is told exactly once.

#include <weir/runtime/internal/watch.hpp>

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>
#include <weir/runtime/stop_reason.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::await_end;
using testing::Collector;
using testing::Counted;
using testing::Counter;
using testing::Event;
using testing::quiet;
using testing::Reports;

struct Throw {};
struct Spawn {};

class Mortal final : public Actor<Throw, Spawn> {
 public:
  explicit Mortal(Collector<ActorRef<Throw, Spawn>>* children = nullptr) : children_(children) {}
  void on(Throw) { throw std::runtime_error("mortal"); }
  void on(Spawn) { children_->add(spawn<Mortal>(SpawnOptions{.name = "child"})); }

 private:
  Collector<ActorRef<Throw, Spawn>>* children_;
};

struct Monitor {
  ActorRef<> target;
};
struct Unmonitor {
  ActorRef<> target;
};
struct Link {
  ActorRef<> target;
};
struct Unlink {
  ActorRef<> target;
};

class Observer final : public Actor<Monitor, Unmonitor, Link, Unlink, Terminated, Throw> {
 public:
  explicit Observer(Collector<Terminated>* seen) : seen_(seen) {}
  void on(Monitor message) { monitor(message.target); }
  void on(Unmonitor message) { unmonitor(message.target); }
  void on(Link message) { link(message.target); }
  void on(Unlink message) { unlink(message.target); }
  void on(Terminated message) { seen_->add(std::move(message)); }
  void on(Throw) { throw std::runtime_error("observer broke"); }

 private:
  Collector<Terminated>* seen_;
};

struct Scene {
  Collector<Terminated> seen;
  Reports reports;
  Simulation simulation{{.system = reports.options()}};
  RefOf<Observer> observer = simulation.system().spawn<Observer>(&seen);
  RefOf<Mortal> mortal = simulation.system().spawn<Mortal>(SpawnOptions{.name = "bob"});
};

TEST(Watch, TellsOnceWhoEndedAndWhy) {
  Scene scene;
  scene.observer.send<Monitor>(scene.mortal);
  scene.simulation.run_for(1s);
  scene.mortal.send<Throw>();
  scene.simulation.run_for(1s);
  const auto seen = scene.seen.values();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].actor, scene.mortal.id());
  EXPECT_EQ(seen[0].name, "bob");
  EXPECT_EQ(seen[0].reason.kind, StopReason::Kind::failed);
  EXPECT_EQ(seen[0].reason.message, "mortal");
}

TEST(Watch, TellsEveryReason) {
  Collector<ActorRef<Throw, Spawn>> children;
  Collector<Terminated> seen;
  Simulation simulation;
  ActorSystem& system = simulation.system();
  auto observer = system.spawn<Observer>(&seen);
  auto parent = system.spawn<Mortal>(&children);
  parent.send<Spawn>();
  simulation.run_for(1s);
  auto killed = system.spawn<Mortal>();
  observer.send<Monitor>(parent);
  observer.send<Monitor>(children.values().front());
  observer.send<Monitor>(killed);
  simulation.run_for(1s);
  killed.stop(Stop::kill);
  simulation.run_for(1s);
  parent.stop();
  simulation.run_for(1s);
  std::vector<StopReason::Kind> kinds;
  for (const Terminated& each : seen.values()) kinds.push_back(each.reason.kind);
  EXPECT_EQ(kinds, (std::vector{StopReason::Kind::killed, StopReason::Kind::parent_stopped,
                                StopReason::Kind::normal}));
}

TEST(Watch, TellsOfTheEndOfAnotherSystem) {
  Collector<Terminated> seen;
  ActorSystem ours(quiet());
  auto observer = ours.spawn<Observer>(&seen);
  RefOf<Mortal> theirs;
  {
    ActorSystem other(quiet());
    theirs = other.spawn<Mortal>();
    observer.send<Monitor>(theirs);
    // Once more behind it: the first has then been processed.
    await_end(ours, [&] {
      auto probe = ours.spawn<Mortal>();
      probe.stop();
      return probe;
    }());
    testing::eventually("the observer to have looked", [&] {
      for (const ActorInfo& info : ours.actors()) {
        if (info.id == observer.id()) return info.messages_handled == 1;
      }
      return false;
    });
  }
  ASSERT_EQ(seen.wait_for(1).size(), 1u);
  EXPECT_EQ(seen.values()[0].reason.kind, StopReason::Kind::system_stopped);
  EXPECT_EQ(seen.values()[0].actor, theirs.id());
}

TEST(Watch, OfAnActorThatHasEndedTellsAtOnce) {
  Scene scene;
  scene.mortal.send<Throw>();
  scene.simulation.run_for(1s);
  scene.observer.send<Monitor>(scene.mortal);
  scene.simulation.run_for(1s);
  ASSERT_EQ(scene.seen.values().size(), 1u);
  EXPECT_EQ(scene.seen.values()[0].reason.message, "mortal");
  scene.observer.send<Monitor>(ActorRef<>());
  scene.simulation.run_for(1s);
  EXPECT_EQ(scene.seen.values().size(), 1u) << "an empty reference never ends";
}

TEST(Watch, TwiceTellsOnce) {
  Scene scene;
  scene.observer.send<Monitor>(scene.mortal);
  scene.observer.send<Monitor>(scene.mortal);
  scene.simulation.run_for(1s);
  scene.mortal.stop();
  scene.simulation.run_for(1s);
  EXPECT_EQ(scene.seen.values().size(), 1u);
  scene.observer.send<Monitor>(scene.mortal);
  scene.simulation.run_for(1s);
  EXPECT_EQ(scene.seen.values().size(), 2u) << "asked anew after the first answer";
}

TEST(Watch, EndsWithUnmonitor) {
  Scene scene;
  scene.observer.send<Monitor>(scene.mortal);
  scene.observer.send<Unmonitor>(scene.mortal);
  scene.simulation.run_for(1s);
  scene.mortal.stop();
  scene.simulation.run_for(1s);
  EXPECT_EQ(scene.seen.values().size(), 0u);
}

/// Tells when it is gone.
class Brief final : public Actor<Throw> {
 public:
  explicit Brief(Event* gone) : gone_(gone) {}
  ~Brief() { gone_->set(); }
  void on(Throw) {}

 private:
  Event* gone_;
};

/// Loses interest in an actor that has just ended.
class Fickle final : public Actor<Monitor, Spawn, Terminated> {
 public:
  Fickle(Event* gone, Event* heard, Collector<Terminated>* seen)
      : gone_(gone), heard_(heard), seen_(seen) {}
  void on(Monitor message) {
    monitor(message.target);
    message.target.stop();
    gone_->wait();
    unmonitor(message.target);
  }
  void on(Spawn) { heard_->set(); }
  void on(Terminated message) { seen_->add(std::move(message)); }

 private:
  Event* gone_;
  Event* heard_;
  Collector<Terminated>* seen_;
};

TEST(Watch, EndsWithUnmonitorThoughTheNewsIsOnItsWay) {
  Event gone;
  Event heard;
  Collector<Terminated> seen;
  ActorSystem system(quiet());
  auto brief = system.spawn<Brief>(&gone);
  auto fickle = system.spawn<Fickle>(&gone, &heard, &seen);
  fickle.send<Monitor>(brief);
  await_end(system, brief);
  fickle.send<Spawn>();
  heard.wait();  // and so it has looked at the news, which came before
  fickle.stop(Stop::when_drained);
  await_end(system, fickle);
  EXPECT_EQ(seen.values().size(), 0u);
}

TEST(Watch, AfterUnmonitorMayBeginAgain) {
  Scene scene;
  scene.observer.send<Monitor>(scene.mortal);
  scene.observer.send<Unmonitor>(scene.mortal);
  scene.observer.send<Monitor>(scene.mortal);
  scene.simulation.run_for(1s);
  scene.mortal.stop();
  scene.simulation.run_for(1s);
  EXPECT_EQ(scene.seen.values().size(), 1u);
}

TEST(Watch, TellsThroughAFullMailbox) {
  Collector<Terminated> seen;
  Simulation simulation;
  auto observer = simulation.system().spawn<Observer>(SpawnOptions{.mailbox_capacity = 1}, &seen);
  std::vector<RefOf<Mortal>> mortals;
  for (int i = 0; i < 10; ++i) {
    mortals.push_back(simulation.system().spawn<Mortal>());
    observer.send<Monitor>(mortals.back());
    simulation.run_for(1s);
  }
  for (auto& mortal : mortals) mortal.stop();
  simulation.fill_mailbox(observer);
  simulation.run_for(1s);
  EXPECT_EQ(seen.values().size(), 10u);
}

TEST(Link, FailsWithTheOtherAndItsReason) {
  Scene scene;
  scene.observer.send<Link>(scene.mortal);
  scene.simulation.run_for(1s);
  scene.mortal.send<Throw>();
  const Terminated end = await_end(scene.simulation, scene.observer);
  EXPECT_EQ(end.reason.kind, StopReason::Kind::failed);
  EXPECT_EQ(end.reason.message, "linked actor failed: mortal");
}

TEST(Link, DoesNotEndWithOneThatStops) {
  Scene scene;
  scene.observer.send<Link>(scene.mortal);
  scene.simulation.run_for(1s);
  scene.mortal.stop();
  scene.simulation.run_for(1s);
  EXPECT_TRUE(scene.observer.is_alive());
}

TEST(Link, IsOneWay) {
  Scene scene;
  scene.observer.send<Link>(scene.mortal);
  scene.simulation.run_for(1s);
  scene.observer.send<Throw>();
  scene.simulation.run_for(1s);
  EXPECT_FALSE(scene.observer.is_alive());
  EXPECT_TRUE(scene.mortal.is_alive());
}

TEST(Link, FailsAtOnceForOneThatHasFailed) {
  Scene scene;
  scene.mortal.send<Throw>();
  scene.simulation.run_for(1s);
  scene.observer.send<Link>(scene.mortal);
  scene.simulation.run_for(1s);
  EXPECT_FALSE(scene.observer.is_alive());
}

TEST(Link, RemainsWhenTheSameActorIsNoLongerMonitored) {
  for (const bool link_first : {true, false}) {
    Scene scene;
    if (link_first) scene.observer.send<Link>(scene.mortal);
    scene.observer.send<Monitor>(scene.mortal);
    if (!link_first) scene.observer.send<Link>(scene.mortal);
    scene.observer.send<Unmonitor>(scene.mortal);
    scene.simulation.run_for(1s);
    scene.mortal.send<Throw>();
    scene.simulation.run_for(1s);
    EXPECT_FALSE(scene.observer.is_alive()) << link_first;
    EXPECT_EQ(scene.seen.values().size(), 0u) << link_first;
  }
}

TEST(Link, EndsWithUnlinkAndLeavesTheMonitor) {
  Scene scene;
  scene.observer.send<Link>(scene.mortal);
  scene.observer.send<Monitor>(scene.mortal);
  scene.observer.send<Unlink>(scene.mortal);
  scene.simulation.run_for(1s);
  scene.mortal.send<Throw>();
  scene.simulation.run_for(1s);
  EXPECT_TRUE(scene.observer.is_alive());
  EXPECT_EQ(scene.seen.values().size(), 1u);
}

// On real threads: monitors that come while their actor ends.
TEST(Watch, TellsExactlyOnceWhileTheActorEnds) {
  for (int round = 0; round < testing::scaled(200); ++round) {
    Collector<Terminated> seen;
    ActorSystem system(quiet(3));
    auto mortal = system.spawn<Mortal>();
    std::vector<RefOf<Observer>> observers;
    for (int i = 0; i < 8; ++i) observers.push_back(system.spawn<Observer>(&seen));
    std::thread other([&] {
      for (int i = 0; i < 4; ++i) observers[static_cast<std::size_t>(i)].send<Monitor>(mortal);
    });
    mortal.stop();
    for (std::size_t i = 4; i < 8; ++i) observers[i].send<Monitor>(mortal);
    other.join();
    seen.wait_for(8);
    EXPECT_TRUE(system.stop({.drain = 1s}).is_clean());
    EXPECT_EQ(seen.values().size(), 8u);
  }
}

// Observers that end first must not be remembered, nor remember.
TEST(Watch, OfALongLivedActorDoesNotKeepThoseWhoWatchedIt) {
  Collector<Terminated> seen;
  ActorSystem system(quiet());
  auto mortal = system.spawn<Mortal>();
  WeakActorRef<Throw, Spawn> weak = mortal;
  for (int i = 0; i < testing::scaled(1000); ++i) {
    auto observer = system.spawn<Observer>(&seen);
    observer.send<Monitor>(mortal);
    observer.stop(Stop::when_drained);
  }
  testing::eventually("observers to end", [&] { return system.actors().size() == 1; });
  EXPECT_TRUE(mortal.is_alive());
  mortal.stop();
  await_end(system, mortal);
  EXPECT_EQ(seen.values().size(), 0u);
}

}  // namespace
}  // namespace weir
