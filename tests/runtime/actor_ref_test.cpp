#include <weir/runtime/actor_ref.hpp>

#include <map>
#include <optional>
#include <string>
#include <unordered_set>

#include <gtest/gtest.h>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using testing::ask_from_outside;
using testing::await_end;
using testing::Event;
using testing::quiet;

struct Put {
  int value;
};
struct Get {
  using Reply = int;
};

class Register final : public Actor<Put, Get> {
 public:
  void on(Put message) { value_ = message.value; }
  int on(Get) const { return value_; }

 private:
  int value_ = 0;
};

TEST(ActorRef, NarrowsToFewerMessagesAndStillReachesTheActor) {
  ActorSystem system(quiet());
  RefOf<Register> all = system.spawn<Register>();
  ActorRef<Put> writer = all;
  ActorRef<Get> reader = all;
  ActorRef<Get, Put> reordered = all;
  writer.send<Put>(5);
  EXPECT_EQ(*ask_from_outside(system, reader, Get{}), 5);
  EXPECT_EQ(*ask_from_outside(system, reordered, Get{}), 5);
  static_assert(!std::is_convertible_v<ActorRef<Put>, ActorRef<Put, Get>>);
  static_assert(!std::is_constructible_v<ActorRef<Put, Get>, ActorRef<Put>>);
  static_assert(std::is_convertible_v<ActorRef<Put>, ActorRef<>>);
}

TEST(ActorRef, ComparesAndHashesByIdentity) {
  ActorSystem system(quiet());
  const auto first = system.spawn<Register>();
  const auto second = system.spawn<Register>();
  const auto copy = first;
  const ActorRef<Put> narrow = first;
  EXPECT_EQ(first, copy);
  EXPECT_NE(first, second);
  EXPECT_EQ(narrow, first);
  EXPECT_EQ(first < second, first.id() < second.id());
  std::unordered_set<RefOf<Register>> set{first, copy, second};
  EXPECT_EQ(set.size(), 2u);
  std::map<RefOf<Register>, int> map{{first, 1}, {second, 2}};
  EXPECT_EQ(map.at(copy), 1);
}

TEST(ActorRef, OfAnotherSystemIsNeverTheSame) {
  ActorSystem one(quiet(1));
  ActorSystem other(quiet(1));
  const auto first = one.spawn<Register>();
  const auto second = other.spawn<Register>();
  EXPECT_NE(first.id(), second.id());
  EXPECT_TRUE(first < second || second < first);
}

TEST(ActorRef, ThatIsEmptyAnswersEverything) {
  ActorSystem system(quiet());
  const RefOf<Register> empty;
  EXPECT_FALSE(empty);
  EXPECT_FALSE(empty.is_alive());
  EXPECT_EQ(empty.id(), ActorId{});
  empty.stop();
  auto result = empty.send<Put>(3);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.reason(), Errc::stopped);
  EXPECT_EQ(result.message().value, 3);
  EXPECT_EQ(ask_from_outside(system, empty, Get{}).error(), Errc::stopped);
}

// "is_alive that is right": no message is accepted after the call that stopped the actor.
TEST(ActorRef, IsNotAliveOnceStopHasReturned) {
  ActorSystem system(quiet());
  for (const Stop how : {Stop::now, Stop::kill}) {
    const auto actor = system.spawn<Register>();
    EXPECT_TRUE(actor.is_alive());
    actor.stop(how);
    EXPECT_FALSE(actor.is_alive());
    auto refused = actor.send<Put>(1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.reason(), Errc::stopped);
    EXPECT_EQ(refused.message().value, 1);
  }
}

TEST(ActorRef, MayStopAnActorTwiceAndInEveryWay) {
  ActorSystem system(quiet());
  for (const Stop first : {Stop::now, Stop::when_drained, Stop::kill}) {
    for (const Stop second : {Stop::now, Stop::when_drained, Stop::kill}) {
      const auto actor = system.spawn<Register>();
      actor.stop(first);
      actor.stop(second);
      await_end(system, actor);
      actor.stop(first);
      EXPECT_FALSE(actor.is_alive());
    }
  }
}

TEST(WeakActorRef, GivesTheReferenceWhileTheActorLives) {
  ActorSystem system(quiet());
  auto actor = system.spawn<Register>();
  const WeakActorRef<Put, Get> weak = actor;
  EXPECT_EQ(weak.lock(), actor);
  EXPECT_EQ(weak.id(), actor.id());
  actor.stop();
  EXPECT_FALSE(weak.lock());
  await_end(system, actor);
  actor = {};
  EXPECT_FALSE(weak.lock());
  EXPECT_FALSE((WeakActorRef<Put, Get>().lock()));
}

TEST(WeakActorRef, DoesNotFindAnotherActorInTheSameMemory) {
  ActorSystem system(quiet());
  std::vector<WeakActorRef<Put, Get>> gone;
  for (int i = 0; i < 300; ++i) {
    const auto actor = system.spawn<Register>();
    gone.push_back(actor);
    actor.stop();
  }
  testing::eventually("all to end", [&] { return system.actors().empty(); });
  std::vector<RefOf<Register>> living;
  for (int i = 0; i < 300; ++i) living.push_back(system.spawn<Register>());
  for (const auto& weak : gone) EXPECT_FALSE(weak.lock());
}

TEST(WeakActorRef, DoesNotFindAnActorOfALaterSystem) {
  std::vector<WeakActorRef<Put, Get>> gone;
  for (int i = 0; i < 20; ++i) {
    ActorSystem system(quiet(1));
    const auto actor = system.spawn<Register>();
    for (const auto& weak : gone) EXPECT_FALSE(weak.lock());
    gone.push_back(actor);
  }
}

// A weak reference is a race by design: the actor may end, and its memory be used again, between
// any two instructions of `lock`.
TEST(WeakActorRef, LocksTheRightActorOrNoneWhileMemoryIsReused) {
  ActorSystem system(quiet());
  std::mutex mutex;
  std::vector<WeakActorRef<Put, Get>> shared(16);
  std::atomic<bool> ends{false};
  std::thread prober([&] {
    for (std::size_t i = 0; !ends; ++i) {
      WeakActorRef<Put, Get> weak;
      {
        std::scoped_lock hold(mutex);
        weak = shared[i % shared.size()];
      }
      if (auto found = weak.lock()) EXPECT_EQ(found.id(), weak.id());
    }
  });
  for (int i = 0; i < testing::scaled(20'000); ++i) {
    const auto actor = system.spawn<Register>();
    {
      std::scoped_lock hold(mutex);
      shared[static_cast<std::size_t>(i) % shared.size()] = actor;
    }
    actor.stop();
  }
  ends = true;
  prober.join();
}

TEST(ActorRef, MayOutliveItsSystem) {
  std::optional<RefOf<Register>> left;
  WeakActorRef<Put, Get> weak;
  int reported = 0;
  {
    ActorSystemOptions options = quiet();
    options.on_dead_letter = [&](const DeadLetter&) { ++reported; };
    ActorSystem system(options);
    left = system.spawn<Register>();
    weak = *left;
  }
  EXPECT_FALSE(left->is_alive());
  EXPECT_FALSE(weak.lock());
  auto refused = left->send<Put>(9);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.message().value, 9);
  EXPECT_EQ(reported, 0) << "what the hook refers to may be gone as well";
  left->stop();
  ActorSystem other(quiet());
  EXPECT_EQ(ask_from_outside(other, *left, Get{}).error(), Errc::stopped);
  EXPECT_EQ(await_end(other, *left).actor, left->id());
}

}  // namespace
}  // namespace weir
