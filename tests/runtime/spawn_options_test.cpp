#include <weir/runtime/spawn_options.hpp>

#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>

namespace weir {
namespace {

struct Number {
  int value;
};

/// Slow enough for its mailbox to fill.
class Slow final : public Actor<Number> {
 public:
  explicit Slow(std::vector<int>* got) : got_(got) {}
  Task<> on(Number number) {
    got_->push_back(number.value);
    static_cast<void>(co_await sleep_for(std::chrono::milliseconds(10)));
  }

 private:
  std::vector<int>* got_;
};

Task<int> deliver_all(ActorRef<Number> actor, int count) {
  int accepted = 0;
  for (int i = 0; i < count; ++i) {
    if (co_await actor.deliver<Number>(i)) ++accepted;
  }
  co_return accepted;
}

std::vector<int> handled_of_six(Overflow overflow) {
  std::vector<int> got;
  Simulation simulation;
  auto slow = simulation.system().spawn<Slow>({.mailbox_capacity = 2, .overflow = overflow}, &got);
  EXPECT_EQ(simulation.run(deliver_all(slow, 6)), 6);
  simulation.run_until_idle();
  return got;
}

TEST(Overflow, DeliverWaitsForRoomWhereSendWouldFail) {
  EXPECT_EQ(handled_of_six(Overflow::fail), (std::vector{0, 1, 2, 3, 4, 5}));
}

TEST(Overflow, DeliverWaitsForRoomWhereSendWouldDropTheNewest) {
  EXPECT_EQ(handled_of_six(Overflow::drop_newest), (std::vector{0, 1, 2, 3, 4, 5}));
}

TEST(Overflow, DeliverMakesRoomWhereTheOldestIsDropped) {
  const std::vector<int> got = handled_of_six(Overflow::drop_oldest);
  EXPECT_LT(got.size(), 6u);
  EXPECT_EQ(got.back(), 5);
}

}  // namespace
}  // namespace weir
