#include <weir/flow/workflow/limit.hpp>

#include <random>

#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/command_board.hpp>
#include <weir/tests/storage/support/long_run.hpp>

// Rates, ramps and limits of keys.
namespace weir::flow::workflow {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::CommandBoard;
using testing::refuses;

TEST(Rate, AfterABurstTheyComeEvenly) {
  const Rate rate = {.count = 2, .per = seconds(1), .burst = 3};
  RateUse use;
  Time now = Time(seconds(1000));
  for (std::uint32_t left = 3; left > 0; --left) {
    EXPECT_EQ(use.room(rate, now), left);
    use.take(rate, now);
  }
  EXPECT_EQ(use.room(rate, now), 0U);
  EXPECT_EQ(use.room_at(rate), now + milliseconds(500));
  EXPECT_EQ(use.room(rate, now + milliseconds(500) - microseconds(1)), 0U);
  EXPECT_EQ(use.room(rate, now + milliseconds(500)), 1U);
  now += milliseconds(500);
  use.take(rate, now);
  EXPECT_EQ(use.room(rate, now), 0U);
  EXPECT_EQ(use.room(rate, now + seconds(1)), 2U);
  EXPECT_EQ(use.room(rate, now + seconds(100)), 3U);
}

// In every stretch of time there are at most a burst and what comes evenly; and whenever there is
// room, it is as `room_at` has said.
TEST(Rate, IsKeptInEveryStretchOfTime) {
  for (const std::uint64_t seed : storage::test::seeds(300)) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t limit) { return random() % limit; };
    const Rate rate = {.count = static_cast<std::uint32_t>(1 + below(1000)),
                       .per = Duration(1'000 + below(3'000'000'000)),
                       .burst = static_cast<std::uint32_t>(1 + below(10))};
    ASSERT_TRUE(validate(rate));
    RateUse use;
    std::vector<Time> taken;
    Time now = Time(seconds(1000));
    for (int i = 0; i < 200; ++i) {
      now += Time::duration(below(4) == 0 ? 0 : below(1 + rate.interval().count() / 500));
      if (use.room(rate, now) == 0) {
        const Time at = use.room_at(rate);
        ASSERT_GT(at, now) << "seed " << seed;
        ASSERT_EQ(use.room(rate, at - Time::duration(1)), 0U) << "seed " << seed;
        now = at;
        ASSERT_GE(use.room(rate, now), 1U) << "seed " << seed;
      }
      use.take(rate, now);
      taken.push_back(now);
      for (std::size_t from = 0; from < taken.size(); ++from) {
        const Duration stretch = now - taken[from];
        const auto most = static_cast<std::uint64_t>(stretch / rate.interval()) + rate.burst;
        ASSERT_LE(taken.size() - from, most) << "seed " << seed;
      }
    }
  }
}

TEST(Rate, WhatIsNoneIsRefusedByName) {
  const auto refused = [](const Rate& rate, std::string_view what) {
    return refuses(validate(rate), Errc::invalid_argument, what);
  };
  EXPECT_TRUE(refused({.count = 0}, "a rate of 0"));
  EXPECT_TRUE(refused({.count = 1'000'001}, "1000001"));
  EXPECT_TRUE(refused({.per = Duration(999)}, "999 ns"));
  EXPECT_TRUE(refused({.per = std::chrono::hours(24 * 32)}, "31 days"));
  EXPECT_TRUE(refused({.burst = 0}, "burst 0"));
  EXPECT_TRUE(refused({.per = std::chrono::hours(24), .burst = 400}, "burst 400"));
  EXPECT_TRUE(validate(Rate{.count = 1'000'000, .per = seconds(1), .burst = 1'000'000}));
}

TEST(Ramp, GrowsEvenlyAndIsNoneAtItsEnd) {
  const Time begin = Time(seconds(1000));
  const Ramp ramp = {begin, begin + minutes(10), 1, 101};
  EXPECT_EQ(ramp.at(begin - seconds(1)), 1U);
  EXPECT_EQ(ramp.at(begin), 1U);
  EXPECT_EQ(ramp.at(begin + minutes(5)), 51U);
  EXPECT_EQ(ramp.at(begin + minutes(10) - microseconds(1)), 100U);
  EXPECT_EQ(ramp.at(begin + minutes(10)), std::nullopt);
  for (std::uint64_t active = 0; active < 130; ++active) {
    const Time at = ramp.exceeds_at(active);
    EXPECT_LE(at, ramp.end);
    EXPECT_GT(ramp.at(at).value_or(1000), active) << active;
    if (active >= ramp.from && active < ramp.to) {
      EXPECT_LE(ramp.at(at - microseconds(2)).value(), active) << active;
    }
  }
}

TEST(LaneLimit, ARateLetsLeasesBeginEvenly) {
  CommandBoard board;
  std::vector<ExecutionId> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(board.make());
  EXPECT_TRUE(board.set_lane_rate("default", Rate{.count = 1, .per = seconds(10), .burst = 2}));
  board.claim(ids[0]);
  board.succeed(ids[1]);
  EXPECT_EQ(board.try_claim(ids[2]).value(), std::nullopt);
  EXPECT_EQ(board.admission(ids[2]).refusal, Refusal::lane_rate);
  EXPECT_EQ(board.admission(ids[2]).until, board.now + seconds(10));
  board.pass(seconds(10));
  board.claim(ids[2]);
  EXPECT_EQ(board.try_claim(ids[3]).value(), std::nullopt);
  EXPECT_TRUE(board.set_lane_rate("default", std::nullopt));
  board.claim(ids[3]);
  EXPECT_TRUE(
      refuses(board.set_lane_rate("default", Rate{.count = 0}), Errc::invalid_argument, ""));
}

TEST(LaneLimit, APausedLaneIsOpenedLittleByLittle) {
  CommandBoard board;
  std::vector<ExecutionId> ids;
  for (int i = 0; i < 12; ++i) ids.push_back(board.make());
  EXPECT_TRUE(board.set_lane_state("default", LaneState::paused));
  EXPECT_EQ(board.admission(ids[0]).refusal, Refusal::lane_paused);
  EXPECT_TRUE(board.resume_lane("default", {.from = 1, .to = 11, .over = seconds(100)}));
  const auto claim_all = [&] {
    std::size_t claimed = 0;
    for (const ExecutionId& id : ids) {
      if (board.public_state(id) == PublicState::waiting && *board.try_claim(id)) ++claimed;
    }
    return claimed;
  };
  EXPECT_EQ(claim_all(), 1U);
  EXPECT_EQ(board.admission(ids[1]).refusal, Refusal::lane_ramp);
  EXPECT_LE(*board.admission(ids[1]).until, board.now + seconds(10) + microseconds(1));
  board.pass(seconds(50));
  EXPECT_EQ(claim_all(), 5U);
  board.pass(seconds(50));
  EXPECT_EQ(claim_all(), 6U);
  EXPECT_EQ(board.leased(), 12U);
  EXPECT_TRUE(refuses(board.resume_lane("default", {.from = 0}), Errc::invalid_argument, "from 0"));
  EXPECT_TRUE(refuses(board.resume_lane("default", {.from = 3, .to = 2}), Errc::invalid_argument,
                      "from 3 to 2"));
  EXPECT_TRUE(refuses(board.resume_lane("default", {.over = Duration(0)}), Errc::invalid_argument,
                      "ramp of 0 ns"));
}

TEST(KeyLimit, HoldsForAllWhoNameItInWhicheverLane) {
  CommandBoard board;
  const ExecutionId here = board.make({.kind = "w", .limit_keys = {"db", "x"}});
  const ExecutionId there = board.make({.kind = "w", .lane = "other", .limit_keys = {"db"}});
  const ExecutionId free = board.make({.kind = "w", .limit_keys = {"x"}});
  EXPECT_TRUE(board.set_limit("db", 1));
  const Handle handle = board.claim(here).handle;
  EXPECT_EQ(board.leased_under("db"), 1U);
  EXPECT_EQ(board.leased_under("x"), 1U);
  EXPECT_EQ(board.try_claim(there, {.worker = "w", .lane = "other"}).value(), std::nullopt);
  EXPECT_EQ(board.admission(there).refusal, Refusal::key_full);
  EXPECT_EQ(board.admission(there).key, "db");
  EXPECT_TRUE(board.try_claim(free).value());
  EXPECT_TRUE(board.complete(handle));
  EXPECT_TRUE(board.try_claim(there, {.worker = "w", .lane = "other"}).value());
}

TEST(KeyLimit, OneForManyHoldsForEachOfThem) {
  CommandBoard board;
  EXPECT_TRUE(board.set_limit("customer:*", 1));
  EXPECT_TRUE(board.set_limit("customer:vip", 2));
  const auto make = [&](const std::string& key) {
    return board.make({.kind = "w", .limit_keys = {key}});
  };
  const auto may_claim = [&](const std::string& key) {
    return board.try_claim(make(key)).value().has_value();
  };
  EXPECT_TRUE(may_claim("customer:1"));
  EXPECT_TRUE(may_claim("customer:2"));
  EXPECT_FALSE(may_claim("customer:1"));
  EXPECT_TRUE(may_claim("customer:vip"));
  EXPECT_TRUE(may_claim("customer:vip"));
  EXPECT_FALSE(may_claim("customer:vip"));
  EXPECT_TRUE(may_claim("customer"));
  EXPECT_TRUE(board.set_limit("customer:vip", std::nullopt));
  EXPECT_FALSE(may_claim("customer:vip"));
}

TEST(KeyLimit, ARateOfAKeyIsItsOwn) {
  CommandBoard board;
  EXPECT_TRUE(board.set_limit("api:*", std::nullopt, Rate{.count = 1, .per = seconds(1)}));
  const ExecutionId first = board.make({.kind = "w", .limit_keys = {"api:a"}});
  const ExecutionId second = board.make({.kind = "w", .limit_keys = {"api:a"}});
  const ExecutionId other = board.make({.kind = "w", .limit_keys = {"api:b"}});
  board.succeed(first);
  EXPECT_EQ(board.try_claim(second).value(), std::nullopt);
  EXPECT_EQ(board.admission(second).refusal, Refusal::key_rate);
  EXPECT_EQ(board.admission(second).until, board.now + seconds(1));
  board.claim(other);
  board.pass(seconds(1));
  board.succeed(second);
}

TEST(KeyLimit, WhatNobodySetAndNobodyUsesIsNotKept) {
  CommandBoard board;
  const ExecutionId id = board.make({.kind = "w", .limit_keys = {"a", "b"}});
  EXPECT_TRUE(board.set_limit("b", 5));
  board.succeed(id);
  EXPECT_EQ(board.find<Limit>("a"), nullptr);
  EXPECT_NE(board.find<Limit>("b"), nullptr);
  EXPECT_TRUE(board.set_limit("b", std::nullopt));
  EXPECT_EQ(board.find<Limit>("b"), nullptr);
}

TEST(KeyLimit, SetLaterItCountsThoseThatHadBegun) {
  CommandBoard board;
  const ExecutionId first = board.make({.kind = "w", .limit_keys = {"a"}});
  const ExecutionId second = board.make({.kind = "w", .limit_keys = {"a", "a"}});
  const Handle handle = board.claim(first).handle;
  EXPECT_TRUE(board.set_limit("a", 1));
  EXPECT_EQ(board.try_claim(second).value(), std::nullopt);
  // A place is free while its holder waits for a signal.
  EXPECT_TRUE(board.suspend(handle, {.condition = WaitCondition::all_of({"go"})}));
  board.claim(second);
  EXPECT_EQ(board.approve({first, "go"}), SignalEffect::resumed);
  EXPECT_EQ(board.try_claim(first).value(), std::nullopt);
}

TEST(KeyLimit, BadKeysAreRefusedByName) {
  CommandBoard board;
  const auto create = [&](std::vector<std::string> keys) {
    return board.create({.kind = "w", .limit_keys = std::move(keys)});
  };
  EXPECT_TRUE(refuses(create({""}), Errc::invalid_argument, "limit key is empty"));
  EXPECT_TRUE(refuses(create({"a:*"}), Errc::invalid_argument, "'a:*' stands for many"));
  EXPECT_TRUE(refuses(create(std::vector<std::string>(9, "a")), Errc::too_large, "9 limit keys"));
  EXPECT_TRUE(refuses(board.set_limit("", 1), Errc::invalid_argument, "limit key"));
  EXPECT_TRUE(refuses(board.set_limit("a", 1, Rate{.burst = 0}), Errc::invalid_argument, "burst"));
}

}  // namespace
}  // namespace weir::flow::workflow
