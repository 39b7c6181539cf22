#include <weir/runtime/spawn_options.hpp>

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
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

std::string refusal_of(Supervision supervision) {
  std::vector<int> got;
  Simulation simulation;
  try {
    simulation.system().spawn<Slow>({.supervision = supervision}, &got);
  } catch (const std::invalid_argument& error) {
    EXPECT_TRUE(simulation.system().actors().empty());
    return error.what();
  }
  return "accepted";
}

TEST(SpawnOptions, WithSupervisionThatMakesNoSenseAreRefusedWithTheReason) {
  using std::chrono_literals::operator""ns;
  const std::pair<Supervision, std::string> cases[] = {
      {{.backoff = -1ns}, "supervision.backoff is -1 ns; use zero or more"},
      {{.backoff_max = -5ns}, "supervision.backoff_max is -5 ns; use zero or more"},
      {{.window = -1ns}, "supervision.window is -1 ns; use zero or more"},
      {{.jitter = -0.5}, "supervision.jitter is -0.500000; use a number from 0 to 1"},
      {{.jitter = 1.5}, "supervision.jitter is 1.500000; use a number from 0 to 1"},
      {{.jitter = std::numeric_limits<double>::quiet_NaN()},
       "supervision.jitter is nan; use a number from 0 to 1"},
  };
  for (const auto& [supervision, reason] : cases) {
    const std::string refusal = refusal_of(supervision);
    EXPECT_TRUE(refusal.ends_with(": " + reason)) << refusal;
    EXPECT_TRUE(refusal.starts_with("spawn of ")) << refusal;
  }
  EXPECT_EQ(refusal_of({.backoff = 0ns, .jitter = 1, .window = 0ns}), "accepted");
}

}  // namespace
}  // namespace weir
