#include <weir/storage/retry.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <weir/runtime/simulation.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>

namespace weir::storage {
namespace {

using namespace std::chrono_literals;
using test::RowsOf;

/// What happens to a transaction that is tried again and again.
struct Attempts {
  Store* store;
  RowsOf rows;
  unsigned conflicts;  // so many attempts meet one
  std::vector<TimePoint> begun = {};
  Version last_conflict = {};
};

/// Reads a row that somebody else then writes, unless it has met enough conflicts.
Task<Result<>> meet_conflicts(Transaction& transaction, Attempts* attempts) {
  attempts->begun.push_back(attempts->store->system().now());
  WEIR_CO_TRY_VOID(co_await transaction.get(attempts->rows, 1));
  if (attempts->begun.size() <= attempts->conflicts) {
    auto other = test::commit_rows(*attempts->store, attempts->rows, {{1, "other"}});
    WEIR_CO_TRY(version, co_await std::move(other));
    attempts->last_conflict = version;
  }
  transaction.put(attempts->rows, 2, "done");
  co_return {};
}

Task<Result<>> fail_in_body(Transaction& transaction, Attempts* attempts) {
  attempts->begun.push_back({});
  transaction.put(attempts->rows, 2, "never");
  co_return Error(Errc::not_found, "what was looked for");
}

Task<Result<>> fail_in_commit(Transaction& transaction, Attempts* attempts) {
  attempts->begun.push_back({});
  transaction.put(attempts->rows, 2, "never");
  transaction.set_checkpoint("reader", Version{1'000});
  co_return {};
}

class TransactTest : public ::testing::Test {
 protected:
  explicit TransactTest(std::uint64_t seed = 1)
      : simulation_({.seed = seed, .preemption = 0, .blocking_time_max = {}}),
        store_(Store::open(simulation_.system()).value()),
        rows_(simulation_.run(store_.open_rows<std::uint64_t, std::string>("rows")).value()) {}

  Attempts attempts(unsigned conflicts = 0) { return {&store_, rows_, conflicts}; }
  template <class Body>
  Result<Version> transact(RetryOptions options, Body body, Attempts& attempts) {
    return simulation_.run(storage::transact(&store_, options, body, &attempts));
  }
  bool is_written() { return test::rows_at(store_, rows_, store_.version()).contains(2); }

  Simulation simulation_;
  Store store_;
  RowsOf rows_;
};

TEST_F(TransactTest, CommitsAtOnceWithoutConflict) {
  Attempts none = attempts();
  EXPECT_EQ(transact({}, &meet_conflicts, none).value(), store_.version());
  EXPECT_EQ(none.begun.size(), 1U);
  EXPECT_TRUE(is_written());
}

TEST_F(TransactTest, RunsAgainAsLongAsThereAreConflicts) {
  Attempts three = attempts(3);
  ASSERT_TRUE(transact({.attempts_max = 4}, &meet_conflicts, three));
  EXPECT_EQ(three.begun.size(), 4U);
  EXPECT_TRUE(is_written());
}

TEST_F(TransactTest, GivesTheLastConflictWhenItsAttemptsAreUsedUp) {
  Attempts endless = attempts(1'000);
  const auto version = transact({.attempts_max = 5}, &meet_conflicts, endless);
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error(), Errc::conflict);
  EXPECT_NE(
      version.error().message().find("version " + to_string(endless.last_conflict) + " wrote"),
      std::string::npos)
      << version.error().message();
  EXPECT_EQ(endless.begun.size(), 5U);
  EXPECT_FALSE(is_written());
}

TEST_F(TransactTest, GivesAnErrorOfItsBodyAtOnceAndWritesNothing) {
  Attempts one = attempts();
  const auto version = transact({}, &fail_in_body, one);
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error(), Errc::not_found);
  EXPECT_EQ(version.error().detail(), "what was looked for");
  EXPECT_EQ(one.begun.size(), 1U);
  EXPECT_FALSE(is_written());
}

TEST_F(TransactTest, GivesAnyOtherErrorOfTheCommitAtOnce) {
  Attempts one = attempts();
  const auto version = transact({}, &fail_in_commit, one);
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error(), Errc::future_version);
  EXPECT_EQ(one.begun.size(), 1U);
  EXPECT_FALSE(is_written());
}

class SeededTransact : public TransactTest {
 public:
  explicit SeededTransact(std::uint64_t seed) : TransactTest(seed) {}
  void TestBody() override {}

  /// Between one attempt and the next.
  std::vector<Duration> pauses(RetryOptions options) {
    Attempts endless = attempts(1'000);
    EXPECT_FALSE(transact(options, &meet_conflicts, endless));
    std::vector<Duration> found;
    for (std::size_t i = 1; i < endless.begun.size(); ++i) {
      found.push_back(endless.begun[i] - endless.begun[i - 1]);
    }
    return found;
  }
};

TEST(TransactPauses, AreDrawnEvenlyUpToALimitThatDoublesUntilItsMaximum) {
  static constexpr int seeds = 200;
  const RetryOptions options{.attempts_max = 6, .backoff = 1ms, .backoff_max = 5ms};
  const std::vector<Duration> limits = {1ms, 2ms, 4ms, 5ms, 5ms};
  std::vector<Duration> sums(limits.size());
  std::vector<Duration> longest(limits.size());
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto pauses = SeededTransact(seed).pauses(options);
    ASSERT_EQ(pauses.size(), limits.size());
    for (std::size_t i = 0; i < limits.size(); ++i) {
      // A timer may be as much later as the clock is coarse.
      ASSERT_LE(pauses[i], limits[i] + 1ms) << "seed " << seed << ", pause " << i;
      sums[i] += pauses[i];
      longest[i] = std::max(longest[i], pauses[i]);
    }
  }
  for (std::size_t i = 0; i < limits.size(); ++i) {
    EXPECT_GT(longest[i], limits[i] / 10 * 9) << i;
    EXPECT_GT(sums[i] / seeds, limits[i] / 10 * 4) << i;
    EXPECT_LT(sums[i] / seeds, limits[i] / 10 * 6 + 1ms) << i;
  }
}

TEST(TransactPauses, DoNotOverflowHoweverManyAttempts) {
  const RetryOptions options{.backoff = 3ms, .backoff_max = 100ms};
  static constexpr std::uint64_t all = ~std::uint64_t{0};
  for (const unsigned attempt : {1U, 6U, 7U, 64U, 1'000U, ~0U}) {
    for (const std::uint64_t random : {all, all / 2, all / 3}) {
      const Duration pause = internal::backoff_before(options, attempt, random);
      EXPECT_GE(pause, Duration::zero()) << attempt;
      EXPECT_LT(pause, attempt == 1 ? 3ms : 100ms) << attempt;
    }
  }
  EXPECT_EQ(internal::backoff_before({.backoff = {}}, 3, all), Duration::zero());
}

}  // namespace
}  // namespace weir::storage
