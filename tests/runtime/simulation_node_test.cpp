#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/blocking_pool.hpp>
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
struct Pass {
  using Reply = std::int64_t;
};
struct Tick {};

/// What the actors of a node did, seen from outside.
struct Life {
  int live = 0;
  int started = 0;
  int stopped = 0;
  int handled = 0;
};

/// Has all that a crash must clean up: children, timers, messages, a handler that waits.
class Service final : public Actor<Add, Total, Pass, Tick> {
 public:
  Service(Life* life, int children, ActorRef<Total> other)
      : life_(life), children_(children), other_(std::move(other)) {
    ++life_->live;
  }
  ~Service() { --life_->live; }

  void on_start() {
    ++life_->started;
    schedule_every<Tick>(10ms);
    for (int i = 0; i < children_; ++i) spawn<Service>(life_, 0, other_);
  }
  void on_stop() { ++life_->stopped; }
  void on(Add message) {
    ++life_->handled;
    total_ += message.amount;
  }
  std::int64_t on(Total) const { return total_; }
  Task<std::int64_t> on(Pass) { co_return (co_await other_.ask<Total>().within(1h)).value(); }
  void on(Tick) { self().send<Add>(1); }

 private:
  Life* life_;
  int children_;
  std::int64_t total_ = 0;
  ActorRef<Total> other_;
};

Task<Result<std::int64_t>> ask_total(ActorRef<Total> service) {
  co_return co_await service.ask<Total>();
}

/// Asks once and keeps the outcome.
class Client final : public Actor<Tick, Terminated> {
 public:
  Client(ActorRef<Pass> service, std::vector<std::string>* events)
      : service_(std::move(service)), events_(events) {}
  void on_start() { monitor(service_); }
  Task<> on(Tick) {
    const auto answer = co_await service_.ask<Pass>().within(1h);
    events_->push_back(answer ? "answer" : answer.error().code().message());
  }
  void on(Terminated message) { events_->push_back(to_string(message.reason.kind)); }

 private:
  ActorRef<Pass> service_;
  std::vector<std::string>* events_;
};

/// A node with a service that boots with it, and somebody elsewhere who is too slow to answer it.
struct Cluster {
  Cluster(Simulation& simulation, Life* life)
      : slow(simulation.system().spawn<Service>(&elsewhere(), 0, ActorRef<Total>{})),
        node(simulation.add_node("service", [this, life](ActorSystem& system) {
          service = system.spawn<Service>(SpawnOptions{.name = "service"}, life, 3, slow);
        })) {
    simulation.slow_down(slow, 1h);
  }

  static Life& elsewhere() {
    static Life life;
    return life;
  }

  RefOf<Service> slow;
  RefOf<Service> service;
  SimulatedNode& node;
};

TEST(SimulatedNode, ACrashEndsEveryActorAtOnceWithoutHooks) {
  Life life;
  Simulation simulation;
  const Cluster cluster(simulation, &life);
  simulation.run_for(5ms);
  EXPECT_EQ(life.live, 4);
  cluster.service.send<Add>(1);
  cluster.node.crash();
  EXPECT_EQ(life.live, 0);
  EXPECT_EQ(life.stopped, 0);
  EXPECT_EQ(life.handled, 0);
  EXPECT_FALSE(cluster.service.is_alive());
  EXPECT_EQ(cluster.service.send<Add>(1).reason(), Errc::stopped);
}

TEST(SimulatedNode, AnActorThatWasStoppingInGoodOrderDoesNotFinishThatInACrash) {
  Life life;
  std::vector<std::string> events;
  Simulation simulation;
  const Cluster cluster(simulation, &life);
  simulation.system().spawn<Client>(cluster.service, &events).send<Tick>();
  simulation.run_for(5ms);
  cluster.service.stop();
  simulation.run_for(5ms);
  EXPECT_EQ(life.live, 1);  // waits for the handler that waits
  EXPECT_EQ(life.stopped, 3);
  cluster.node.crash();
  EXPECT_EQ(life.live, 0);
  EXPECT_EQ(life.stopped, 3);
}

TEST(SimulatedNode, OthersNoticeACrashLikeABrokenConnection) {
  Life life;
  std::vector<std::string> events;
  Simulation simulation;
  const Cluster cluster(simulation, &life);
  simulation.system().spawn<Client>(cluster.service, &events).send<Tick>();
  simulation.run_for(5ms);
  EXPECT_TRUE(events.empty());
  cluster.node.crash();
  simulation.run_for(5ms);
  EXPECT_EQ(events, (std::vector<std::string>{"actor stopped", "killed"}));
}

TEST(SimulatedNode, ARestartBootsItsActorsAnew) {
  Life life;
  Simulation simulation;
  const Cluster cluster(simulation, &life);
  const auto before = cluster.service;
  cluster.service.send<Add>(5);
  simulation.run_for(5ms);
  cluster.node.restart();
  EXPECT_NE(cluster.service, before);
  EXPECT_NE(cluster.service.id(), before.id());
  EXPECT_FALSE(before.is_alive());
  EXPECT_EQ(simulation.run(ask_total(cluster.service)).value(), 0);
  simulation.run_for(5ms);
  EXPECT_EQ(life.live, 4);
  EXPECT_EQ(life.started, 8);
}

TEST(SimulatedNode, SaysThatItIsDown) {
  Simulation simulation;
  auto& node = simulation.add_node("spare", {});
  EXPECT_TRUE(node.is_up());
  node.crash();
  node.crash();
  EXPECT_FALSE(node.is_up());
  EXPECT_THROW(static_cast<void>(node.system()), std::logic_error);
  node.restart();
  EXPECT_EQ(node.system().options().name, "spare");
}

TEST(SimulatedNode, OtherNodesGoOnAfterACrash) {
  Life life;
  Simulation simulation;
  const Cluster cluster(simulation, &life);
  simulation.run_for(25ms);
  simulation.node().crash();
  EXPECT_EQ(Cluster::elsewhere().live, 0);
  const int handled = life.handled;
  simulation.run_for(20ms);
  EXPECT_EQ(life.handled, handled + 8);
}

// The seed varies too: whatever the order was, nothing may be left of it.
TEST(SimulatedNode, ACrashAtAnyStepLeavesNothingBehind) {
  for (std::uint64_t step = 0; step < 150; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    Life life;
    std::vector<std::string> events;
    {
      SimulationOptions options{.seed = step + 1};
      if (step % 2 == 1) options.faults.message_time_max = 1ms;
      Simulation simulation(std::move(options));
      const Cluster cluster(simulation, &life);
      simulation.system().spawn<Client>(cluster.service, &events).send<Tick>();
      simulation.run_steps(step);
      cluster.node.crash();
      EXPECT_EQ(life.live, 0);
      cluster.node.restart();
      simulation.run_for(30ms);
      EXPECT_EQ(life.live, 4);
      EXPECT_LE(events.size(), 2u);
      simulation.run_steps(step % 7);
    }
    EXPECT_EQ(life.live, 0);
    EXPECT_EQ(life.stopped, 0);
  }
}

class Blocking final : public Actor<Tick> {
 public:
  explicit Blocking(std::shared_ptr<int> calls) : calls_(std::move(calls)) {}
  Task<> on(Tick) {
    auto calls = calls_;
    for (int i = 0; i < 3; ++i) {
      static_cast<void>(co_await on_blocking_pool([calls] { ++*calls; }));
      *calls += 100;
    }
  }

 private:
  std::shared_ptr<int> calls_;
};

TEST(SimulatedNode, ABlockingCallThatHasBegunOutlivesACrashUnseen) {
  const auto calls = std::make_shared<int>(0);
  Simulation simulation({.blocking_time_max = 1s});
  auto& node = simulation.add_node("blocking", {});
  node.system().spawn<Blocking>(calls).send<Tick>();
  simulation.run_for(0s);
  EXPECT_EQ(*calls, 0);
  node.crash();
  EXPECT_EQ(*calls, 1);
  EXPECT_EQ(simulation.run_until_idle(), RunEnd::idle);
  EXPECT_EQ(*calls, 1);
  EXPECT_EQ(calls.use_count(), 1);
}

// The call is over and its actor about to be woken: it would begin another one.
TEST(SimulatedNode, AHandlerThatWasAboutToGoOnDoesNotInACrash) {
  for (std::uint64_t step = 0; step < 8; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    const auto calls = std::make_shared<int>(0);
    {
      Simulation simulation({.blocking_time_max = 0s});
      auto& node = simulation.add_node("blocking", {});
      node.system().spawn<Blocking>(calls).send<Tick>();
      simulation.run_steps(step);
      const int resumed = *calls / 100;
      node.crash();
      EXPECT_EQ(*calls / 100, resumed);
      EXPECT_EQ(simulation.run_until_idle(), RunEnd::idle);
      EXPECT_EQ(*calls / 100, resumed);
    }
    EXPECT_EQ(calls.use_count(), 1);
  }
}

TEST(SimulatedNode, I6TheSameSeedRepeatsCrashesAndRestarts) {
  const auto hash_of = [](std::uint64_t seed) {
    Life life;
    std::vector<std::string> events;
    Simulation simulation({.seed = seed});
    const Cluster cluster(simulation, &life);
    simulation.system().spawn<Client>(cluster.service, &events).send<Tick>();
    for (int i = 0; i < 5; ++i) {
      simulation.run_steps(simulation.random() % 40);
      cluster.node.restart();
    }
    simulation.run_for(30ms);
    return simulation.trace_hash();
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) EXPECT_EQ(hash_of(seed), hash_of(seed));
  EXPECT_NE(hash_of(1), hash_of(2));
}

class Saboteur final : public Actor<Tick> {
 public:
  Saboteur(SimulatedNode* node, bool* was_refused) : node_(node), was_refused_(was_refused) {}
  void on(Tick) {
    try {
      node_->crash();
    } catch (const std::logic_error&) {
      *was_refused_ = true;
    }
  }

 private:
  SimulatedNode* node_;
  bool* was_refused_;
};

TEST(SimulatedNode, CannotBeCrashedFromInsideAnActor) {
  bool was_refused = false;
  Simulation simulation;
  simulation.system().spawn<Saboteur>(&simulation.node(), &was_refused).send<Tick>();
  simulation.run_until_idle();
  EXPECT_TRUE(was_refused);
  EXPECT_TRUE(simulation.node().is_up());
}

}  // namespace
}  // namespace weir
