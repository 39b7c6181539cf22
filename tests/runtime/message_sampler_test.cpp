#include <weir/runtime/internal/message_sampler.hpp>

#include <gtest/gtest.h>

namespace weir::internal {
namespace {

struct Chosen {
  std::uint64_t count = 0;
  std::uint64_t weight = 0;
};

/// Sends so many messages, one each `distance_ns`.
Chosen run(MessageSampler& sampler, std::uint64_t messages, std::int64_t distance_ns) {
  Chosen chosen;
  static std::int64_t now = 0;
  for (std::uint64_t i = 0; i < messages; ++i, now += distance_ns) {
    if (sampler.to_pass() > 0) {
      sampler.pass(1);
    } else {
      ++chosen.count;
      chosen.weight += std::uint64_t{1} << sampler.choose(now);
    }
  }
  return chosen;
}

TEST(MessageSampler, ChoosesEachOfFewMessages) {
  MessageSampler sampler(1024, 1);
  EXPECT_EQ(run(sampler, 1'000, 1'000'000).count, 1'000u);
}

TEST(MessageSampler, ChoosesEachIfAskedTo) {
  MessageSampler sampler(1, 1);
  EXPECT_EQ(run(sampler, 1'000, 1).count, 1'000u);
}

TEST(MessageSampler, ChoosesFewOfMany) {
  MessageSampler sampler(1024, 1);
  const Chosen chosen = run(sampler, 10'000'000, 10);
  EXPECT_GT(chosen.count, 9'000u);
  EXPECT_LT(chosen.count, 11'000u);
}

TEST(MessageSampler, WeighsThemSoThatTheyStandForAll) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    MessageSampler sampler(1024, seed);
    const Chosen chosen = run(sampler, 2'000'000, 10);
    EXPECT_NEAR(static_cast<double>(chosen.weight), 2e6, 2e5) << seed;
  }
}

TEST(MessageSampler, KeepsItsDistanceInBetween) {
  MessageSampler sampler(1024, 1);
  run(sampler, 100'000, 1'000);
  const Chosen chosen = run(sampler, 1'000'000, 1'000);  // a second
  EXPECT_GT(chosen.count, 5'000u);
  EXPECT_LT(chosen.count, 40'000u);
}

TEST(MessageSampler, ComesBackToEachWhenItBecomesQuiet) {
  MessageSampler sampler(1024, 1);
  run(sampler, 1'000'000, 10);
  run(sampler, 2'048, 100'000'000);
  EXPECT_EQ(run(sampler, 100, 100'000'000).count, 100u);
}

TEST(MessageSampler, ChoosesNoneThatRepeatsItself) {
  MessageSampler sampler(64, 1);
  std::uint64_t even = 0;
  std::uint64_t odd = 0;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    if (sampler.to_pass() > 0) {
      sampler.pass(1);
    } else {
      sampler.choose(0);
      ++(i % 2 == 0 ? even : odd);
    }
  }
  EXPECT_NEAR(static_cast<double>(even), static_cast<double>(odd), 1'000);
}

}  // namespace
}  // namespace weir::internal
