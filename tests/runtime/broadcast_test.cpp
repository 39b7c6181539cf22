#include <weir/runtime/broadcast.hpp>

#include <gtest/gtest.h>

#include <string>

#include <weir/runtime/actor_pool.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/tests/runtime/support/gate_actor.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::GateActor;
using test::Open;
using test::Pass;

struct Flush {};
struct Size {
  using Reply = int;
};
struct Wait {};

class Cache final : public Actor<Flush, Size, Wait> {
 public:
  Cache(int size, ActorRef<Pass> gate) : size_(size), gate_(std::move(gate)) {}
  void on(Flush) { --size_; }
  int on(Size) const { return size_; }
  Task<> on(Wait) { static_cast<void>(co_await gate_.ask<Pass>()); }

 private:
  int size_;
  ActorRef<Pass> gate_;
};

class BroadcastTest : public testing::Test {
 protected:
  RefOf<Cache> cache(int size) { return system.spawn<Cache>({.mailbox_capacity = 1}, size, gate); }
  // A cache whose mailbox is full until the gate opens.
  RefOf<Cache> full_cache(int size) {
    RefOf<Cache> made = cache(size);
    made.send<Wait>();
    simulation.run_for(1ms);
    made.send<Flush>();
    return made;
  }
  static Task<std::vector<Result<int>>> sizes(Broadcast<Flush, Size, Wait> all) {
    co_return co_await all.ask<Size>().within(1s);
  }

  Simulation simulation;
  ActorSystem& system = simulation.system();
  RefOf<GateActor> gate = system.spawn<GateActor>();
};

TEST_F(BroadcastTest, SendsToEveryMember) {
  const Broadcast<Flush, Size, Wait> all({cache(10), cache(20), cache(30)});
  const BroadcastResult result = all.send<Flush>();
  EXPECT_TRUE(result);
  EXPECT_EQ(result.accepted, 3u);
  simulation.run_for(1ms);
  const auto after = simulation.run(sizes(all));
  ASSERT_EQ(after.size(), 3u);
  EXPECT_EQ(*after[0], 9);
  EXPECT_EQ(*after[1], 19);
  EXPECT_EQ(*after[2], 29);
}

TEST_F(BroadcastTest, CountsTheMembersThatHadNoRoom) {
  const Broadcast<Flush, Size, Wait> all({cache(1), full_cache(2)});
  const BroadcastResult result = all.send<Flush>();
  EXPECT_FALSE(result);
  EXPECT_EQ(result.accepted, 1u);
  EXPECT_EQ(result.refused, 1u);
  EXPECT_EQ(system.dead_letters().of(DeadLetterReason::mailbox_full), 1u);
}

TEST_F(BroadcastTest, AFailureToAnswerIsOneOfTheReplies) {
  const auto replies =
      simulation.run(sizes(Broadcast<Flush, Size, Wait>({cache(1), full_cache(2)})));
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(*replies[0], 1);
  EXPECT_EQ(replies[1].error(), Errc::full);
}

struct Begin {};

class Flusher final : public Actor<Begin> {
 public:
  Flusher(Broadcast<Flush, Size, Wait> all, BroadcastResult* result)
      : all_(std::move(all)), result_(result) {}
  Task<> on(Begin) { *result_ = co_await all_.deliver<Flush>(); }

 private:
  Broadcast<Flush, Size, Wait> all_;
  BroadcastResult* result_;
};

TEST_F(BroadcastTest, DeliverWaitsForRoomButServesOthersMeanwhile) {
  const auto free = cache(10);
  const auto full = full_cache(20);
  BroadcastResult result;
  const Broadcast<Flush, Size, Wait> all({full, free});
  system.spawn<Flusher>(all, &result).send<Begin>();
  simulation.run_for(1ms);
  EXPECT_EQ(*simulation.run(sizes(Broadcast<Flush, Size, Wait>({free})))[0], 9);
  EXPECT_EQ(result.accepted, 0u) << "it waits for the other one";
  gate.send<Open>();
  simulation.run_for(1ms);
  EXPECT_EQ(result.accepted, 2u);
  EXPECT_EQ(*simulation.run(sizes(all))[0], 18);
  EXPECT_EQ(system.dead_letters().total(), 0u);
}

TEST_F(BroadcastTest, StoppedMembersArePassedOver) {
  const auto stopped = cache(1);
  Broadcast<Flush, Size, Wait> all({stopped, cache(2)});
  stopped.stop();
  simulation.run_for(1ms);
  EXPECT_EQ(all.send<Flush>().accepted, 1u);
  EXPECT_EQ(all.size(), 1u);
}

TEST_F(BroadcastTest, WithoutMembersThereIsNothingToDo) {
  Broadcast<Flush, Size, Wait> nobody;
  EXPECT_TRUE(nobody.send<Flush>());
  EXPECT_TRUE(simulation.run(sizes(nobody)).empty());
}

TEST_F(BroadcastTest, ReachesTheWorkersOfAPool) {
  const auto pool = spawn_pool<Cache>(system, {.size = 4}, 5, ActorRef<Pass>(gate));
  const auto replies = simulation.run(sizes(Broadcast(pool.router())));
  EXPECT_EQ(replies.size(), 4u);
  for (const Result<int>& size : replies) EXPECT_EQ(*size, 5);
}

}  // namespace
}  // namespace weir
