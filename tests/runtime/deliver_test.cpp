// `deliver`: a sender that waits for room, and what becomes of it when there will be none.

#include <algorithm>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weir/runtime/explore_gtest.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/task_scope.hpp>

#include <weir/tests/runtime/support.hpp>
#include <weir/tests/runtime/support/gate_actor.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::GateActor;
using test::Open;
using test::Pass;
using testing::Collector;
using testing::Counted;
using testing::Counter;
using testing::Event;
using testing::quiet;

struct Number {
  int value;
  Counted<Number> counted = {};
};

struct Work {};

// Its mailbox stays as it is from its first message until the gate opens.
class Slow final : public Actor<Work, Number> {
 public:
  Slow(ActorRef<Pass> gate, Collector<int>* got) : gate_(std::move(gate)), got_(got) {}
  Task<> on(Work) { static_cast<void>(co_await gate_.ask<Pass>().within(forever)); }
  void on(const Number& message) { got_->add(message.value); }

 private:
  ActorRef<Pass> gate_;
  Collector<int>* got_;
};

struct SendAll {
  int from;
  int count;
};

class Sender final : public Actor<SendAll> {
 public:
  Sender(ActorRef<Number> target, Collector<std::string>* outcomes)
      : target_(std::move(target)), outcomes_(outcomes) {}
  Task<> on(SendAll wanted) {
    for (int i = 0; i < wanted.count; ++i) {
      auto result = co_await target_.deliver<Number>(wanted.from + i);
      outcomes_->add(result ? "sent"
                            : result.error().code().message() + " " +
                                  std::to_string(result.message().value));
    }
  }

 private:
  ActorRef<Number> target_;
  Collector<std::string>* outcomes_;
};

using Outcomes = std::vector<std::string>;

struct Scene {
  explicit Scene(Simulation& simulation, SpawnOptions options)
      : gate(simulation.system().spawn<GateActor>()),
        slow(simulation.system().spawn<Slow>(std::move(options), gate, &got)) {
    slow.send<Work>();
    simulation.run_for(1s);
  }

  Collector<int> got;
  Collector<std::string> outcomes;
  RefOf<GateActor> gate;
  RefOf<Slow> slow;
};

TEST(Deliver, WaitsForRoomAndKeepsTheOrder) {
  Simulation simulation;
  for (const std::uint32_t capacity : {1u, 2u, 5u, 16u, 100u}) {
    Scene scene(simulation, {.mailbox_capacity = capacity});
    auto sender = simulation.system().spawn<Sender>(scene.slow, &scene.outcomes);
    sender.send<SendAll>(0, 200);
    simulation.run_for(1s);
    EXPECT_EQ(scene.outcomes.values().size(), capacity) << "the next one waits";
    scene.gate.send<Open>();
    simulation.run_for(1s);
    EXPECT_EQ(scene.outcomes.values(), Outcomes(200, "sent"));
    std::vector<int> expected;
    for (int i = 0; i < 200; ++i) expected.push_back(i);
    EXPECT_EQ(scene.got.values(), expected);
  }
}

TEST(Deliver, LetsEverySenderInThatWaits) {
  Simulation simulation;
  Scene scene(simulation, {.mailbox_capacity = 2});
  for (int i = 0; i < 50; ++i) {
    simulation.system().spawn<Sender>(scene.slow, &scene.outcomes).send<SendAll>(i * 10, 10);
  }
  simulation.run_for(1s);
  EXPECT_EQ(scene.outcomes.values().size(), 2u);
  scene.gate.send<Open>();
  simulation.run_for(1s);
  EXPECT_EQ(scene.outcomes.values(), Outcomes(500, "sent"));
  EXPECT_EQ(scene.got.values().size(), 500u);
}

// I2: the message comes back.
TEST(Deliver, GivesTheMessageBackWhenTheReceiverStops) {
  for (const Stop how : {Stop::now, Stop::kill}) {
    Simulation simulation;
    Scene scene(simulation, {.mailbox_capacity = 1});
    for (int i = 0; i < 3; ++i) {
      simulation.system().spawn<Sender>(scene.slow, &scene.outcomes).send<SendAll>(7, 1);
    }
    simulation.run_for(1s);
    EXPECT_EQ(scene.outcomes.values(), Outcomes{"sent"});
    scene.slow.stop(how);
    scene.gate.send<Open>();
    simulation.run_for(1s);
    EXPECT_EQ(scene.outcomes.values(), (Outcomes{"sent", "actor stopped 7", "actor stopped 7"}));
    EXPECT_EQ(simulation.system().dead_letters().of(DeadLetterReason::actor_stopped), 3u);
  }
  EXPECT_EQ(Counted<Number>::live(), 0);
}

TEST(Deliver, ToAStoppedActorGivesTheMessageBackAtOnce) {
  Simulation simulation;
  Scene scene(simulation, {.mailbox_capacity = 1});
  scene.slow.stop(Stop::kill);
  simulation.run_for(1s);
  simulation.system().spawn<Sender>(scene.slow, &scene.outcomes).send<SendAll>(3, 1);
  simulation.run_for(1s);
  EXPECT_EQ(scene.outcomes.values(), Outcomes{"actor stopped 3"});
}

TEST(Deliver, EndsWithTheSenderThatWaits) {
  Simulation simulation;
  Scene scene(simulation, {.mailbox_capacity = 1});
  auto first = simulation.system().spawn<Sender>(scene.slow, &scene.outcomes);
  auto second = simulation.system().spawn<Sender>(scene.slow, &scene.outcomes);
  auto third = simulation.system().spawn<Sender>(scene.slow, &scene.outcomes);
  first.send<SendAll>(0, 2);
  simulation.run_for(1s);
  second.send<SendAll>(10, 1);
  simulation.run_for(1s);
  third.send<SendAll>(20, 1);
  simulation.run_for(1s);
  second.stop(Stop::kill);
  simulation.run_for(1s);
  scene.gate.send<Open>();
  simulation.run_for(1s);
  EXPECT_EQ(scene.got.values(), (std::vector<int>{0, 1, 20}));
  EXPECT_EQ(scene.outcomes.values(), Outcomes(3, "sent"));
}

TEST(Deliver, WaitsForRoomWhereSendWouldDropTheNewest) {
  Simulation simulation;
  Scene scene(simulation, {.mailbox_capacity = 2, .overflow = Overflow::drop_newest});
  simulation.system().spawn<Sender>(scene.slow, &scene.outcomes).send<SendAll>(0, 10);
  simulation.run_for(1s);
  scene.gate.send<Open>();
  simulation.run_for(1s);
  EXPECT_EQ(scene.got.values(), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(simulation.system().dead_letters().total(), 0u);
}

struct Fill {
  int count;
};

class SelfSender final : public Actor<Fill, Number> {
 public:
  explicit SelfSender(Collector<std::string>* outcomes) : outcomes_(outcomes) {}
  Task<> on(Fill message) {
    for (int i = 0; i < message.count; ++i) {
      auto result = co_await self().deliver<Number>(i);
      outcomes_->add(result ? "sent" : result.error().code().message());
    }
  }
  void on(const Number&) { outcomes_->add("handled"); }

 private:
  Collector<std::string>* outcomes_;
};

TEST(Deliver, ToOneselfIsADeadlockOnceTheMailboxIsFull) {
  for (const Overflow overflow : {Overflow::fail, Overflow::drop_newest}) {
    Simulation simulation;
    Collector<std::string> outcomes;
    auto actor = simulation.system().spawn<SelfSender>(
        SpawnOptions{.mailbox_capacity = 2, .overflow = overflow}, &outcomes);
    actor.send<Fill>(3);
    simulation.run_for(1s);
    EXPECT_EQ(outcomes.values(),
              (Outcomes{"sent", "sent", "would wait for itself", "handled", "handled"}));
  }
}

class SelfSenderInTask final : public Actor<Fill, Number> {
 public:
  explicit SelfSenderInTask(Collector<std::string>* outcomes) : outcomes_(outcomes) {}
  Task<> on(Fill message) {
    TaskScope scope;
    scope.spawn(fill(self(), message.count, outcomes_));
    co_await scope.join();
  }
  void on(const Number&) { outcomes_->add("handled"); }

 private:
  static Task<> fill(ActorRef<Number> target, int count, Collector<std::string>* outcomes) {
    for (int i = 0; i < count; ++i) {
      auto result = co_await target.deliver<Number>(i);
      outcomes->add(result ? "sent" : result.error().code().message());
    }
  }

  Collector<std::string>* outcomes_;
};

TEST(Deliver, ToOneselfFromATaskOfTheHandlerIsADeadlockToo) {
  Simulation simulation;
  Collector<std::string> outcomes;
  auto actor =
      simulation.system().spawn<SelfSenderInTask>(SpawnOptions{.mailbox_capacity = 2}, &outcomes);
  actor.send<Fill>(3);
  simulation.run_for(1s);
  EXPECT_EQ(outcomes.values(),
            (Outcomes{"sent", "sent", "would wait for itself", "handled", "handled"}));
}

Task<SendResult<Number>> deliver_number(ActorRef<Number> target) {
  co_return co_await target.deliver<Number>(1);
}

TEST(Deliver, OutsideAnActorWorksWhileThereIsRoom) {
  Event opens;
  class Closed final : public Actor<Number> {
   public:
    explicit Closed(Event* event) : opens_(event) {}
    void on_start() { opens_->wait(); }
    void on(const Number&) {}

   private:
    Event* opens_;
  };
  ActorSystem system(quiet());
  auto actor = system.spawn<Closed>(SpawnOptions{.mailbox_capacity = 1}, &opens);
  for (const bool expected : {true, false}) {
    auto handle = deliver_number(actor).release();
    handle.resume();
    ASSERT_TRUE(handle.done());
    const SendResult<Number> result = handle.promise().take();
    EXPECT_EQ(static_cast<bool>(result), expected);
    if (!result) EXPECT_EQ(result.reason(), Errc::unsupported);
    handle.destroy();
  }
  opens.set();
}

// Keeps its mailbox all but full with messages to itself.
class Hamster final : public Actor<Work, Number> {
 public:
  Hamster(std::uint32_t capacity, ActorRef<Pass> gate, Collector<int>* got)
      : capacity_(capacity), gate_(std::move(gate)), got_(got) {}
  Task<> on(Work) {
    static_cast<void>(co_await gate_.ask<Pass>().within(forever));
    while (self().send<Number>(-1)) {
    }
    is_full_ = true;
  }
  void on(const Number& message) {
    got_->add(message.value);
    if (!std::exchange(is_full_, false) && got_->values().size() < 20 * capacity_) {
      static_cast<void>(self().send<Number>(-1));
    }
  }

 private:
  const std::uint32_t capacity_;
  ActorRef<Pass> gate_;
  Collector<int>* got_;
  bool is_full_ = false;
};

TEST(Deliver, HasItsTurnWhenOthersWhoDoNotWaitKeepTheMailboxFull) {
  for (const std::uint32_t capacity : {3u, 8u, 100u}) {
    Simulation simulation;
    Collector<int> got;
    Collector<std::string> outcomes;
    auto gate = simulation.system().spawn<GateActor>();
    auto hamster = simulation.system().spawn<Hamster>(SpawnOptions{.mailbox_capacity = capacity},
                                                      capacity, gate, &got);
    hamster.send<Work>();
    simulation.run_for(1s);
    while (hamster.send<Number>(-1)) {
    }
    simulation.system().spawn<Sender>(hamster, &outcomes).send<SendAll>(7, 1);
    simulation.run_for(1s);
    EXPECT_EQ(outcomes.values().size(), 0u) << "it waits";
    gate.send<Open>();
    simulation.run_until_idle();
    EXPECT_EQ(outcomes.values(), Outcomes{"sent"});
    const std::vector<int> values = got.values();
    const auto turn = std::find(values.begin(), values.end(), 7) - values.begin();
    EXPECT_LE(turn, 4 * static_cast<int>(capacity)) << capacity;
  }
}

// Room that a burst had reserved and gives back must reach those who wait for it.
class Hoarder final : public Actor<Work> {
 public:
  Hoarder(ActorRef<Number> target, Counter* sent, Event* leaves)
      : target_(std::move(target)), sent_(sent), leaves_(leaves) {}
  void on(Work) {
    for (int i = 0; i < 8; ++i) target_.send<Number>(i);
    sent_->add();
    leaves_->wait();
  }

 private:
  ActorRef<Number> target_;
  Counter* sent_;
  Event* leaves_;
};

class Reader final : public Actor<Number> {
 public:
  explicit Reader(Counter* got) : got_(got) {}
  void on(const Number&) { got_->add(); }

 private:
  Counter* got_;
};

TEST(Deliver, GetsRoomThatOthersHadReservedAndDidNotUse) {
  const unsigned hoarders = 12;
  Counter sent;
  Counter got;
  Event leaves;
  Collector<std::string> outcomes;
  ActorSystem system(quiet(hoarders + 2));
  auto reader = system.spawn<Reader>(SpawnOptions{.mailbox_capacity = 64}, &got);
  for (unsigned i = 0; i < hoarders; ++i) {
    system.spawn<Hoarder>(reader, &sent, &leaves).send<Work>();
  }
  sent.wait_for(hoarders);
  auto sender = system.spawn<Sender>(reader, &outcomes);
  sender.send<SendAll>(0, 10);
  testing::eventually("the sender to wait or finish", [&] {
    return outcomes.values().size() == 10 || internal::RefAccess::cell(reader)->has_waiters.load();
  });
  leaves.set();
  EXPECT_EQ(outcomes.wait_for(10), Outcomes(10, "sent"));
}

// A sender that is refused holds a place until it has given it back: whoever looks for room just
// then finds none, and nobody else may come to look again.
TEST(Deliver, IsNotForgottenWhenTheLastPlaceWasTakenOnlyForAMoment) {
  const std::uint64_t seed = testing::test_seed();
  WEIR_TRACE_SEED(seed);
  std::mt19937_64 random(seed);
  Counter got;
  Collector<std::string> outcomes;
  ActorSystem system(quiet(2));
  auto reader = system.spawn<Reader>(SpawnOptions{.mailbox_capacity = 1}, &got);
  std::vector<RefOf<Sender>> senders;
  for (int i = 0; i < 3; ++i) senders.push_back(system.spawn<Sender>(reader, &outcomes));
  std::int64_t expected = 0;
  for (int round = 0; round < testing::scaled(1'000); ++round) {
    for (auto& sender : senders) sender.send<SendAll>(0, 3);
    expected += 9;
    for (std::uint64_t i = random() % 400; i > 0; --i) internal::relax_cpu();
    for (std::uint64_t i = random() % 8; i > 0; --i) expected += reader.send<Number>(-1) ? 1 : 0;
    got.wait_for(expected);
  }
}

// Five senders, one of which may be killed, and a receiver that may stop, at moments of chance.
void disturb(Simulation& simulation, Scene& scene) {
  std::vector<RefOf<Sender>> senders;
  for (int i = 0; i < 5; ++i) {
    senders.push_back(simulation.system().spawn<Sender>(scene.slow, &scene.outcomes));
    senders.back().send<SendAll>(i * 100, 20);
  }
  simulation.run_steps(simulation.random() % 100);
  scene.gate.send<Open>();
  simulation.run_steps(simulation.random() % 100);
  if (simulation.random() % 2 == 0) senders[0].stop(Stop::kill);
  simulation.run_steps(simulation.random() % 100);
  if (simulation.random() % 2 == 0) scene.slow.stop(static_cast<Stop>(simulation.random() % 3));
  simulation.run_until_idle();
}

void expect_order_of_each_sender(const std::vector<int>& got) {
  std::vector<int> last(5, -1);
  for (const int value : got) {
    EXPECT_GT(value % 100, last[static_cast<std::size_t>(value / 100)]);
    last[static_cast<std::size_t>(value / 100)] = value % 100;
  }
}

// I1, I2 and I4 under many orders: what deliver says was sent has been handled or reported, and
// what it gave back has been reported.
TEST(Deliver, AccountsForEveryMessageWhateverHappensToTheReceiver) {
  std::uint64_t lost = 0;
  ExploreOptions options{.seeds = static_cast<std::uint64_t>(testing::scaled(800))};
  options.simulation.system.on_dead_letter = [&lost](const DeadLetter& letter) {
    if (letter.message == type_name<Number>()) ++lost;
  };
  explore_in_test(options, [&lost](Simulation& simulation) {
    lost = 0;
    const auto capacity = static_cast<std::uint32_t>(1 + simulation.random() % 4);
    const auto overflow = static_cast<Overflow>(simulation.random() % 3);
    Scene scene(simulation, {.mailbox_capacity = capacity, .overflow = overflow});
    disturb(simulation, scene);
    const std::uint64_t known = scene.outcomes.values().size();
    const std::uint64_t handled = scene.got.values().size();
    EXPECT_GE(handled + lost, known);
    EXPECT_LE(handled + lost, known + 1) << "one more than the killed sender lived to know";
    expect_order_of_each_sender(scene.got.values());
  });
}

// The same on real threads.
TEST(Deliver, LosesNothingWhenTheReceiverStopsWhileManyWait) {
  const std::uint64_t seed = testing::test_seed();
  WEIR_TRACE_SEED(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < testing::scaled(100); ++round) {
    Counter got;
    Collector<std::string> outcomes;
    ActorSystem system(quiet(3));
    auto reader = system.spawn<Reader>(
        SpawnOptions{.mailbox_capacity = static_cast<std::uint32_t>(1 + random() % 20)}, &got);
    for (int i = 0; i < 10; ++i) {
      system.spawn<Sender>(reader, &outcomes).send<SendAll>(0, 30);
    }
    for (std::uint64_t i = random() % 20'000; i > 0; --i) internal::relax_cpu();
    reader.stop(static_cast<Stop>(random() % 3));
    EXPECT_EQ(outcomes.wait_for(300).size(), 300u);
    EXPECT_TRUE(system.stop().is_clean());
    EXPECT_EQ(got.value() + static_cast<std::int64_t>(system.dead_letters().total()), 300);
  }
  EXPECT_EQ(Counted<Number>::live(), 0);
}

}  // namespace
}  // namespace weir
