#include <weir/flow/workflow/policy.hpp>

#include <limits>
#include <random>
#include <regex>

#include <gtest/gtest.h>

#include <weir/flow/workflow/errc.hpp>
#include <weir/tests/flow/workflow/support/command_board.hpp>

namespace weir::flow::workflow {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::refuses;

TEST(Policy, BackoffGrowsUpToItsLimit) {
  const RetryPolicy policy;
  const std::vector<int> expected = {1, 2, 4, 8, 16, 32, 60, 60, 60};
  for (std::uint32_t retry = 1; retry <= expected.size(); ++retry) {
    EXPECT_EQ(backoff_before(policy, retry, 12345), seconds(expected[retry - 1])) << retry;
  }
  EXPECT_EQ(backoff_before(policy, std::numeric_limits<std::uint32_t>::max(), 0), seconds(60));
}

TEST(Policy, AFixedBackoffStaysWhatItIs) {
  const RetryPolicy policy = RetryPolicy::fixed(milliseconds(250), 7);
  EXPECT_EQ(policy.retries_max, 7U);
  for (const std::uint32_t retry : {1U, 2U, 100U, 4'000'000'000U}) {
    EXPECT_EQ(backoff_before(policy, retry, 0), milliseconds(250));
  }
}

TEST(Policy, BackoffNeitherOverflowsNorTakesLong) {
  const Duration forever = Duration::max();
  RetryPolicy policy = {.backoff = Duration(1), .multiplier = 2, .backoff_max = forever};
  EXPECT_EQ(backoff_before(policy, 63, 0), Duration(std::int64_t{1} << 62));
  EXPECT_EQ(backoff_before(policy, 64, 0), forever);
  EXPECT_EQ(backoff_before(policy, 4'000'000'000U, 0), forever);
  policy.multiplier = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(backoff_before(policy, 2, 0), Duration(policy.multiplier));
  EXPECT_EQ(backoff_before(policy, 4, 0), forever);
  // Of nothing comes nothing, however often it is multiplied.
  policy = {.backoff = Duration(0), .multiplier = 2, .backoff_max = forever};
  EXPECT_EQ(backoff_before(policy, 4'000'000'000U, 99), Duration(0));
  policy = {.backoff = seconds(10), .multiplier = 3, .backoff_max = seconds(1)};
  EXPECT_EQ(backoff_before(policy, 1, 0), seconds(1));
}

TEST(Policy, JitterIsFromHalfToAllAndReachesBoth) {
  RetryPolicy policy = RetryPolicy::fixed(Duration(11));
  policy.has_jitter = true;
  std::set<std::int64_t> seen;
  for (std::uint64_t random = 0; random < 100; ++random) {
    seen.insert(backoff_before(policy, 1, random * 0x9e3779b97f4a7c15U).count());
  }
  EXPECT_EQ(seen, (std::set<std::int64_t>{5, 6, 7, 8, 9, 10, 11}));
  std::mt19937_64 random(1);
  policy = {.backoff = milliseconds(1), .backoff_max = Duration::max(), .has_jitter = true};
  for (std::uint32_t retry = 1; retry < 100; ++retry) {
    RetryPolicy whole = policy;
    whole.has_jitter = false;
    const Duration all = backoff_before(whole, retry, 0);
    for (const std::uint64_t drawn : {std::uint64_t{0}, ~std::uint64_t{0}, random(), random()}) {
      const Duration pause = backoff_before(policy, retry, drawn);
      EXPECT_GE(pause, all / 2) << retry;
      EXPECT_LE(pause, all) << retry;
    }
  }
}

TEST(Policy, TagKeysFollowTheirGrammar) {
  const std::regex grammar(R"([a-z][a-z0-9_]*\.[a-z0-9_][a-z0-9_.]*)");
  std::mt19937_64 random(7);
  std::size_t accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string key;
    for (std::uint64_t size = random() % 6; size > 0; --size) key += "az09_..A- "[random() % 10];
    const auto valid = validate_tag(key, "value");
    EXPECT_EQ(valid.has_value(), std::regex_match(key, grammar)) << key;
    if (!valid) {
      EXPECT_TRUE(refuses(valid, Errc::invalid_argument, "'" + key + "'"));
    }
    accepted += valid ? 1 : 0;
  }
  EXPECT_GT(accepted, 200U);
}

TEST(Policy, TagKeysOfOtherFormsAreRefusedByName) {
  for (const std::string key : {"", ".", "team", "team.", ".name", "Team.name", "team.Name",
                                "1team.name", "_team.name", "team name.x", "team..name", "t\n.n"}) {
    EXPECT_TRUE(refuses(validate_tag(key, ""), Errc::invalid_argument, "'" + key + "'")) << key;
  }
  for (const std::string key : {"a.b", "team.name", "a_1.0", "a._", "a.b.c", "a.b..c", "a.b."}) {
    EXPECT_TRUE(validate_tag(key, "")) << key;
  }
}

TEST(Policy, TagsAboveTheirLimitsAreRefused) {
  const std::string key = "a." + std::string(name_bytes_max - 2, 'b');
  EXPECT_TRUE(validate_tag(key, std::string(tag_bytes_max, 'v')));
  EXPECT_TRUE(refuses(validate_tag(key + "b", ""), Errc::too_large, "257"));
  EXPECT_TRUE(
      refuses(validate_tag("a.b", std::string(tag_bytes_max + 1, 'v')), Errc::too_large, "1025"));
  Tags tags;
  for (std::size_t i = 0; i < tags_max; ++i) tags["a." + std::to_string(i)] = "v";
  EXPECT_TRUE(validate(tags));
  tags["a.more"] = "v";
  EXPECT_TRUE(refuses(validate(tags), Errc::too_large, "65 tags"));
  EXPECT_TRUE(refuses(validate(Tags{{"bad", "v"}}), Errc::invalid_argument, "'bad'"));
}

TEST(Policy, EdgePoliciesAreNamedAndTheUnknownIsRefused) {
  using Kind = EdgePolicy::Kind;
  for (const auto on_satisfied : {OnSatisfied::let_run, OnSatisfied::cancel_remaining}) {
    EXPECT_TRUE(validate(EdgePolicy::any_of(on_satisfied)));
    EXPECT_TRUE(validate(EdgePolicy::quorum(1, on_satisfied)));
    EXPECT_TRUE(validate(EdgePolicy::quorum(4'000'000'000U, on_satisfied)));
    EXPECT_TRUE(
        refuses(validate(EdgePolicy::quorum(0, on_satisfied)), Errc::invalid_argument, "k is 0"));
  }
  EXPECT_TRUE(validate(EdgePolicy::all_of()));
  for (const int kind : {0, 4, 255}) {
    const EdgePolicy policy = {static_cast<Kind>(kind), 1, OnSatisfied::let_run};
    EXPECT_TRUE(
        refuses(validate(policy), Errc::unsupported_policy, "kind " + std::to_string(kind)));
  }
  for (const int on_satisfied : {0, 3}) {
    const EdgePolicy policy = {Kind::any_of, 0, static_cast<OnSatisfied>(on_satisfied)};
    EXPECT_TRUE(refuses(validate(policy), Errc::unsupported_policy, std::to_string(on_satisfied)));
  }
  EXPECT_EQ(to_string(EdgePolicy::all_of()), "all_of");
  EXPECT_EQ(to_string(EdgePolicy::any_of(OnSatisfied::let_run)), "any_of(let_run)");
  EXPECT_EQ(to_string(EdgePolicy::quorum(3, OnSatisfied::cancel_remaining)),
            "quorum(3, cancel_remaining)");
}

TEST(Policy, SaysHowManyOfTheEdgesHaveToSucceed) {
  for (std::uint32_t edges = 0; edges < 5; ++edges) {
    EXPECT_EQ(EdgePolicy::all_of().needed(edges), edges);
    EXPECT_EQ(EdgePolicy::any_of(OnSatisfied::let_run).needed(edges), 1U);
    EXPECT_EQ(EdgePolicy::quorum(3, OnSatisfied::let_run).needed(edges), 3U);
  }
}

}  // namespace
}  // namespace weir::flow::workflow
