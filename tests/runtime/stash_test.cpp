// Messages that an actor is not ready for: set aside, and brought back before all others.

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/explore_gtest.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using testing::Counted;
using testing::quiet;
using testing::Reports;

struct Item {
  unsigned kind;
  int number;
  Counted<Item> counted = {};
};
/// A request, handled under the same rule.
struct Fetch {
  using Reply = int;
  unsigned kind;
};
/// From here on the actor is ready for the kinds whose bits are set.
struct Allow {
  unsigned kinds;
};
struct Throw {};

class Picky final : public Actor<Item, Fetch, Allow, Throw> {
 public:
  explicit Picky(Collector<int>* got, unsigned kinds = 0) : got_(got), kinds_(kinds) {}
  bool ready_for(const Item& item) const { return allows(item.kind); }
  bool ready_for(const Fetch& fetch) const { return allows(fetch.kind); }
  void on(const Item& item) { got_->add(item.number); }
  int on(Fetch) { return ++fetched_; }
  void on(Allow message) {
    kinds_ = message.kinds;
    unstash();
  }
  void on(Throw) { throw std::runtime_error("picky"); }

 private:
  bool allows(unsigned kind) const { return (kinds_ >> kind & 1) != 0; }

  Collector<int>* got_;
  unsigned kinds_;
  int fetched_ = 0;
};

struct Scene {
  explicit Scene(ActorSystemOptions options = quiet(), SpawnOptions spawn = {})
      : simulation({.system = std::move(options)}),
        picky(simulation.system().spawn<Picky>(std::move(spawn), &got)) {}

  std::uint64_t count(DeadLetterReason reason) {
    return simulation.system().dead_letters().of(reason);
  }

  Collector<int> got;
  Simulation simulation;
  RefOf<Picky> picky;
};

using Numbers = std::vector<int>;

TEST(Stash, LetsOtherMessagesPassAndComesBackBeforeTheRest) {
  Scene scene;
  scene.picky.send<Item>(1u, 10);
  scene.picky.send<Item>(1u, 11);
  scene.picky.send<Allow>(1u);
  scene.picky.send<Item>(0u, 1);
  scene.picky.send<Item>(1u, 12);
  scene.picky.send<Allow>(3u);
  scene.picky.send<Item>(0u, 2);
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.got.values(), (Numbers{1, 10, 11, 12, 2}));
}

TEST(Stash, AsksAgainAboutEachMessageThatComesBack) {
  Scene scene;
  for (int i = 0; i < 6; ++i) scene.picky.send<Item>(static_cast<unsigned>(i % 3), i);
  scene.picky.send<Allow>(1u << 1);
  scene.picky.send<Allow>(1u << 0);
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.got.values(), (Numbers{1, 4, 0, 3})) << "those of the last kind still wait";
  scene.picky.send<Allow>(1u << 2);
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.got.values(), (Numbers{1, 4, 0, 3, 2, 5}));
}

TEST(Stash, IsNotLookedAtAgainUntilAskedTo) {
  struct Always final : Actor<Item, Allow> {
    explicit Always(int* times) : asked(times) {}
    bool ready_for(const Item&) const { return ++*asked > 1; }
    void on(const Item&) {}
    void on(Allow message) {
      if (message.kinds != 0) unstash();
    }
    int* asked;
  };
  int asked = 0;
  Simulation simulation;
  auto actor = simulation.system().spawn<Always>(&asked);
  actor.send<Item>(0u, 1);
  for (int i = 0; i < 5; ++i) actor.send<Allow>(0u);
  simulation.run_until_idle();
  EXPECT_EQ(asked, 1);
  actor.send<Allow>(1u);
  simulation.run_until_idle();
  EXPECT_EQ(asked, 2);
}

TEST(Stash, LeavesTheMailboxAsMuchRoomAsItHad) {
  constexpr int capacity = 4;
  Scene scene(quiet(), {.mailbox_capacity = capacity});
  for (int i = 0; i < capacity; ++i) scene.picky.send<Item>(1u, i);
  scene.simulation.run_until_idle();
  scene.picky.send<Allow>(~0u);
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.got.values().size(), std::size_t{capacity});
  int taken = 0;
  while (taken <= capacity && scene.picky.send<Item>(1u, taken)) ++taken;
  EXPECT_EQ(taken, capacity);
}

// "My message vanished" has an answer here too.
TEST(Stash, RefusesWhatIsMoreThanItsCapacity) {
  ActorSystemOptions options = quiet();
  options.stash_capacity = 3;
  Scene scene(options);
  for (int i = 0; i < 5; ++i) scene.picky.send<Item>(0u, i);
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.count(DeadLetterReason::stash_full), 2u);
  const auto refused = testing::ask_from_outside(scene.simulation.system(), scene.picky, Fetch{0});
  EXPECT_EQ(refused.error(), Errc::full);
  EXPECT_EQ(scene.count(DeadLetterReason::stash_full), 3u);
  scene.picky.send<Allow>(1u);
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.got.values(), (Numbers{0, 1, 2}));
}

struct Tick {};

class Ticking final : public Actor<Tick, Item, Allow> {
 public:
  explicit Ticking(int* ticks) : ticks_(ticks) {}
  void on_start() { timer_ = schedule_every<Tick>(1s); }
  bool ready_for(const Tick&) const { return is_ready_; }
  bool ready_for(const Item&) const { return is_ready_; }
  void on(Tick) { ++*ticks_; }
  void on(const Item&) {}
  void on(Allow) {
    is_ready_ = true;
    unstash();
  }

 private:
  int* ticks_;
  bool is_ready_ = false;
  Timer timer_;
};

TEST(Stash, ThatIsFullDoesNotEndAPeriodicTimer) {
  int ticks = 0;
  ActorSystemOptions options = quiet();
  options.stash_capacity = 1;
  Simulation simulation({.system = options});
  auto actor = simulation.system().spawn<Ticking>(&ticks);
  actor.send<Item>(0u, 1);  // takes the only place
  simulation.run_for(3500ms);
  EXPECT_EQ(simulation.system().dead_letters().of(DeadLetterReason::stash_full), 3u);
  actor.send<Allow>(1u);
  simulation.run_for(2s);
  EXPECT_EQ(ticks, 2);
}

struct Start {};

class Client final : public Actor<Start> {
 public:
  Client(ActorRef<Fetch> target, std::optional<Result<int>>* outcome)
      : target_(std::move(target)), outcome_(outcome) {}
  Task<> on(Start) { outcome_->emplace(co_await target_.ask<Fetch>(0u)); }

 private:
  ActorRef<Fetch> target_;
  std::optional<Result<int>>* outcome_;
};

// I4: stopping refuses what is set aside with an outcome.
TEST(Stash, OfAnActorThatStopsIsRefused) {
  for (const Stop how : {Stop::now, Stop::when_drained, Stop::kill}) {
    Scene scene;
    std::optional<Result<int>> outcome;
    scene.picky.send<Item>(0u, 1);
    scene.simulation.system().spawn<Client>(scene.picky, &outcome).send<Start>();
    scene.simulation.run_for(1s);
    EXPECT_FALSE(outcome) << "set aside";
    scene.picky.stop(how);
    scene.simulation.run_for(1s);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->error(), Errc::stopped) << static_cast<int>(how);
    EXPECT_EQ(scene.count(DeadLetterReason::actor_stopped), 2u) << static_cast<int>(how);
    EXPECT_EQ(scene.got.values(), Numbers{});
  }
  EXPECT_EQ(Counted<Item>::live(), 0);
}

TEST(Stash, SurvivesARestart) {
  Supervision restart = Supervision::restart();
  restart.backoff = 0s;
  Scene scene(quiet(), {.supervision = restart});
  for (int i = 0; i < 3; ++i) scene.picky.send<Item>(0u, i);
  scene.picky.send<Throw>();
  scene.simulation.run_for(1s);
  scene.picky.send<Allow>(1u);
  scene.simulation.run_for(1s);
  EXPECT_EQ(scene.got.values(), (Numbers{0, 1, 2}));
}

/// Is ready when somebody else says so.
class Moody final : public Actor<Item, Throw> {
 public:
  Moody(Collector<int>* got, const bool* is_ready) : got_(got), is_ready_(is_ready) {}
  bool ready_for(const Item&) const { return *is_ready_; }
  void on(const Item& item) { got_->add(item.number); }
  void on(Throw) { throw std::runtime_error("moody"); }

 private:
  Collector<int>* got_;
  const bool* is_ready_;
};

TEST(Stash, IsLookedAtAgainByTheActorThatWasBuiltAnew) {
  Supervision restart = Supervision::restart();
  restart.backoff = 0s;
  Collector<int> got;
  bool is_ready = false;
  Simulation simulation({.system = quiet()});
  auto moody = simulation.system().spawn<Moody>({.supervision = restart}, &got, &is_ready);
  moody.send<Item>(0u, 1);
  simulation.run_until_idle();
  is_ready = true;
  moody.send<Throw>();
  simulation.run_until_idle();
  EXPECT_EQ(got.values(), Numbers{1});
}

TEST(Stash, DoesNotStopTheDeadlineOfARequest) {
  Scene scene;
  const auto late = testing::ask_from_outside(scene.simulation.system(), scene.picky, Fetch{0}, 1s);
  EXPECT_EQ(late.error(), Errc::timed_out);
  EXPECT_EQ(scene.simulation.now().time_since_epoch(), 1s);
  scene.picky.send<Allow>(1u);
  const auto next = testing::ask_from_outside(scene.simulation.system(), scene.picky, Fetch{0}, 1s);
  EXPECT_EQ(*next, 1) << "the first was not handled";
  EXPECT_EQ(scene.count(DeadLetterReason::abandoned), 1u);
}

TEST(Stash, ThrowingWhileAskedFailsTheActor) {
  struct Broken final : Actor<Item> {
    bool ready_for(const Item&) const { throw std::runtime_error("cannot say"); }
    void on(const Item&) {}
  };
  Reports reports;
  Simulation simulation({.system = reports.options()});
  auto broken = simulation.system().spawn<Broken>();
  broken.send<Item>(0u, 1);
  EXPECT_EQ(testing::await_end(simulation, broken).reason.message, "cannot say");
  EXPECT_EQ(Counted<Item>::live(), 0);
}

/// What happens to a mailbox that is handled from front to back.
struct Model {
  std::deque<std::pair<unsigned, int>> stash;
  Numbers got;
  unsigned kinds = 0;

  void receive(unsigned kind, int number) {
    if ((kinds >> kind & 1) != 0) {
      got.push_back(number);
    } else {
      stash.emplace_back(kind, number);
    }
  }
  void allow(unsigned wanted) {
    kinds = wanted;
    for (const auto& [kind, number] : std::exchange(stash, {})) receive(kind, number);
  }
};

// Sends messages of chance to the actor and to the model.
template <class Random>
void send_both(const RefOf<Picky>& picky, Model& model, Random random) {
  for (int number = 0; number < 200; ++number) {
    if (random() % 6 == 0) {
      const auto kinds = static_cast<unsigned>(random() % 16);
      ASSERT_TRUE(picky.send<Allow>(kinds));
      model.allow(kinds);
    } else {
      const auto kind = static_cast<unsigned>(random() % 4);
      ASSERT_TRUE(picky.send<Item>(kind, number));
      model.receive(kind, number);
    }
  }
  ASSERT_TRUE(picky.send<Allow>(15u));
  model.allow(15);
}

TEST(Stash, DoesWhatAModelDoesInEveryOrder) {
  explore_in_test(
      {.seeds = static_cast<std::uint64_t>(testing::scaled(300))}, [](Simulation& simulation) {
        Collector<int> got;
        Model model;
        const auto overflow = static_cast<Overflow>(simulation.random() % 3);
        auto picky = simulation.system().spawn<Picky>(SpawnOptions{.overflow = overflow}, &got);
        send_both(picky, model, [&] {
          simulation.run_steps(simulation.random() % 3);
          return simulation.random();
        });
        simulation.run_until_idle();
        EXPECT_EQ(got.values(), model.got);
      });
  EXPECT_EQ(Counted<Item>::live(), 0);
}

TEST(Stash, DoesWhatAModelDoesOnThreads) {
  const std::uint64_t seed = testing::test_seed();
  WEIR_TRACE_SEED(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < testing::scaled(200); ++round) {
    Collector<int> got;
    Model model;
    ActorSystem system(quiet());
    const auto overflow = static_cast<Overflow>(random() % 3);
    auto picky = system.spawn<Picky>(SpawnOptions{.overflow = overflow}, &got);
    send_both(picky, model, [&] { return random(); });
    EXPECT_EQ(got.wait_for(model.got.size()), model.got);
  }
  EXPECT_EQ(Counted<Item>::live(), 0);
}

}  // namespace
}  // namespace weir
