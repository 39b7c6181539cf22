// The list of living actors: what each row says, and that looking disturbs nobody.

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/actor_info.hpp>
#include <weir/runtime/introspection.hpp>
#include <weir/runtime/phase.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using testing::quiet;

enum class Phase { closed, open };

struct Open {};
struct Item {};
struct Throw {};
struct Nap {
  Duration time;
};
struct SpawnChild {};

class Shop final : public Actor<Open, Item, Throw, Nap, SpawnChild>, public Phased<Shop, Phase> {
 public:
  static constexpr PhaseRule<Phase> phases[] = {
      {.phase = Phase::closed, .to = {Phase::open}},
      {.phase = Phase::open},
  };

  void on(Open) { enter<Phase::open>(); }
  bool ready_for(const Item&) const { return phase() == Phase::open; }
  void on(Item) {}
  void on(Throw) { throw std::runtime_error("out of stock"); }
  Task<> on(Nap nap) { static_cast<void>(co_await sleep_for(nap.time)); }
  void on(SpawnChild) { spawn<Shop>(SpawnOptions{.name = "branch"}); }
};

class Plain final : public Actor<Item> {
 public:
  void on(Item) {}
};

std::optional<ActorInfo> find(const ActorSystem& system, std::string_view name) {
  for (const ActorInfo& info : system.actors()) {
    if (info.name == name) return info;
  }
  return std::nullopt;
}

struct Scene {
  explicit Scene(SpawnOptions options = {})
      : simulation({.system = quiet()}), shop(spawn_named(std::move(options))) {}

  RefOf<Shop> spawn_named(SpawnOptions options) {
    options.name = "shop";
    return simulation.system().spawn<Shop>(std::move(options));
  }
  ActorInfo info() { return find(simulation.system(), "shop").value_or(ActorInfo{}); }

  Simulation simulation;
  RefOf<Shop> shop;
};

TEST(Introspection, TellsWhoAnActorIs) {
  Scene scene({.mailbox_capacity = 17});
  const ActorInfo info = scene.info();
  EXPECT_EQ(info.id, scene.shop.id());
  EXPECT_EQ(info.parent, ActorId{});
  EXPECT_EQ(info.type, type_name<Shop>());
  EXPECT_EQ(info.name, "shop");
  EXPECT_EQ(info.mailbox_capacity, 17u);
  EXPECT_EQ(info.mailbox_depth, 0u);
  EXPECT_EQ(info.messages_handled, 0u);
  EXPECT_EQ(info.restarts, 0u);
  EXPECT_EQ(info.last_failure, "");
  EXPECT_FALSE(info.is_stopping);
}

TEST(Introspection, TellsTheParentOfAChild) {
  Scene scene;
  scene.shop.send<SpawnChild>();
  scene.simulation.run_until_idle();
  EXPECT_EQ(find(scene.simulation.system(), "branch")->parent, scene.shop.id());
}

TEST(Introspection, TellsThePhaseAndItsAge) {
  Scene scene;
  scene.simulation.run_for(2s);
  EXPECT_EQ(scene.info().phase, "closed");
  EXPECT_EQ(scene.info().phase_age, 2s);
  scene.shop.send<Open>();
  scene.simulation.run_for(3s);
  EXPECT_EQ(scene.info().phase, "open");
  EXPECT_EQ(scene.info().phase_age, 3s);
  scene.simulation.system().spawn<Plain>(SpawnOptions{.name = "plain"});
  EXPECT_EQ(find(scene.simulation.system(), "plain")->phase, "") << "it declares none";
}

TEST(Introspection, TellsHowManyMessagesWait) {
  Scene scene;
  scene.shop.send<Nap>(1s);
  for (int i = 0; i < 5; ++i) scene.shop.send<Nap>(0s);
  EXPECT_EQ(scene.info().mailbox_depth, 6u);
  scene.simulation.run_for(500ms);
  EXPECT_EQ(scene.info().mailbox_depth, 5u);
  EXPECT_EQ(scene.info().messages_handled, 1u);
  scene.simulation.run_for(1s);
  EXPECT_EQ(scene.info().mailbox_depth, 0u);
  EXPECT_EQ(scene.info().messages_handled, 6u);
}

TEST(Introspection, CountsAMessageWhenItIsHandledAndNotWhenItIsSetAside) {
  Scene scene;
  for (int i = 0; i < 4; ++i) scene.shop.send<Item>();
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.info().messages_handled, 0u);
  scene.shop.send<Open>();
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.info().messages_handled, 5u);
}

TEST(Introspection, AMessageThatWasSetAsideWaitsInTheMailboxAgain) {
  Scene scene;
  for (int i = 0; i < 4; ++i) scene.shop.send<Item>();
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.info().mailbox_depth, 0u);
  scene.shop.send<Open>();
  for (std::uint32_t waiting = 5; waiting > 0; --waiting) {
    EXPECT_EQ(scene.info().mailbox_depth, waiting == 5 ? 1u : waiting);
    scene.simulation.run_steps(1);
  }
  EXPECT_EQ(scene.info().mailbox_depth, 0u);
  EXPECT_EQ(scene.info().messages_handled, 5u);
}

TEST(Introspection, TellsRestartsAndTheLastFailure) {
  Supervision restart = Supervision::restart();
  restart.backoff = 0s;
  Scene scene({.supervision = restart});
  for (std::uint32_t i = 1; i <= 3; ++i) {
    scene.shop.send<Throw>();
    scene.simulation.run_until_idle();
    EXPECT_EQ(scene.info().restarts, i);
    EXPECT_EQ(scene.info().last_failure, "out of stock");
  }
  EXPECT_EQ(scene.info().messages_handled, 3u) << "counters survive a restart";
}

TEST(Introspection, ShowsAnActorThatIsStoppingUntilItHasEnded) {
  Scene scene;
  scene.shop.send<Nap>(1s);
  scene.simulation.run_for(500ms);
  scene.shop.stop();
  EXPECT_TRUE(scene.info().is_stopping);
  scene.simulation.run_for(1s);
  EXPECT_FALSE(find(scene.simulation.system(), "shop"));
}

TEST(Introspection, ShowsTasksByThatName) {
  Simulation simulation;
  struct Looking {
    static Task<bool> run(ActorSystem* system) { co_return find(*system, "task").has_value(); }
  };
  EXPECT_TRUE(simulation.run(Looking::run(&simulation.system())));
}

TEST(Introspection, ListsTheActorsOfItsOwnSystemOnly) {
  ActorSystem ours(quiet());
  ActorSystem theirs(quiet());
  auto one = ours.spawn<Plain>();
  auto two = theirs.spawn<Plain>();
  ASSERT_EQ(ours.actors().size(), 1u);
  ASSERT_EQ(theirs.actors().size(), 1u);
  EXPECT_EQ(ours.actors()[0].id, one.id());
  EXPECT_EQ(theirs.actors()[0].id, two.id());
}

// On threads, while others come and go: who lives throughout is in every list, once.
TEST(Introspection, MissesNobodyWhoStaysWhileOthersComeAndGo) {
  ActorSystem system(quiet());
  std::set<ActorId> stays;
  std::vector<RefOf<Plain>> kept;
  for (int i = 0; i < 50; ++i) {
    kept.push_back(system.spawn<Plain>(SpawnOptions{.name = "stays"}));
    stays.insert(kept.back().id());
  }
  std::atomic<bool> ends{false};
  std::thread others([&] {
    while (!ends) {
      auto guest = system.spawn<Plain>(SpawnOptions{.name = "guest"});
      guest.send<Item>();
      guest.stop();
    }
  });
  for (int round = 0; round < testing::scaled(300); ++round) {
    std::set<ActorId> seen;
    for (const ActorInfo& info : system.actors()) {
      if (info.name == "stays") EXPECT_TRUE(seen.insert(info.id).second) << "listed twice";
      EXPECT_EQ(info.type, type_name<Plain>());
    }
    EXPECT_EQ(seen, stays);
  }
  ends = true;
  others.join();
}

TEST(Introspection, TotalsHaveActorsThatEndedToo) {
  Simulation simulation;
  ActorSystem& system = simulation.system();
  EXPECT_EQ(totals_of(system).restarts, 0u);
  const std::uint64_t before = totals_of(system).messages_handled;
  {
    auto plain = system.spawn<Plain>();
    for (int i = 0; i < 10; ++i) plain.send<Item>();
    plain.stop(Stop::when_drained);
    simulation.run_for(1s);
    EXPECT_FALSE(plain.is_alive());
  }
  EXPECT_GE(totals_of(system).messages_handled, before + 10);
}

}  // namespace
}  // namespace weir
