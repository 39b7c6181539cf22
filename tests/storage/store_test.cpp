#include <weir/storage/store.hpp>

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/retry.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>

namespace weir::storage {
namespace {

using test::commit_rows;
using test::Rows;
using test::rows_at;
using test::RowsOf;
using test::StoreTest;

INSTANTIATE_TEST_SUITE_P(Engines, StoreTest, ::testing::ValuesIn(test::engine_kinds),
                         test::name_of_engine);

TEST_P(StoreTest, CommitsAreDenseAndVisible) {
  const auto rows = open_rows("things");
  const Version before = store().version();
  EXPECT_EQ(*run(commit_rows(store(), rows, {{1, "one"}, {2, "two"}})), before.next());
  EXPECT_EQ(*run(commit_rows(store(), rows, {{2, std::nullopt}})), before.next().next());
  EXPECT_EQ(rows_at(store(), rows, store().version()), (Rows{{1, "one"}}));
  EXPECT_EQ(rows_at(store(), rows, before.next()), (Rows{{1, "one"}, {2, "two"}}));
  EXPECT_EQ(rows_at(store(), rows, before), Rows{});
}

Task<Result<>> read_own_writes(Store* store, test::RowsOf rows) {
  auto transaction = store->begin();
  transaction.put(rows, 3, "three");
  transaction.remove(rows, 1);
  WEIR_CO_TRY(three, co_await transaction.get(rows, 3));
  EXPECT_EQ(three, "three");
  WEIR_CO_TRY(one, co_await transaction.get(rows, 1));
  EXPECT_EQ(one, std::nullopt);
  auto scan = transaction.scan(rows);
  std::vector<std::uint64_t> seen;
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    seen.push_back(row->key);
  }
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{2, 3}));
  co_return {};
}

TEST_P(StoreTest, ATransactionSeesItsOwnWritesAndLeavesNoneWithoutCommit) {
  const auto rows = open_rows("things");
  (void)run(commit_rows(store(), rows, {{1, "one"}, {2, "two"}}));
  EXPECT_TRUE(run(read_own_writes(&store(), rows)));
  EXPECT_EQ(rows_at(store(), rows, store().version()), (Rows{{1, "one"}, {2, "two"}}));
}

/// A key space and what must be in it at every version.
class History {
 public:
  void commit(StoreTest& test, const test::RowsOf& rows, std::mt19937_64& random) {
    test::Edits edits;
    for (auto count = 1 + random() % 6; count > 0; --count) {
      const std::uint64_t key = random() % 12;
      if (random() % 3 == 0) {
        edits[key] = std::nullopt;
      } else {
        edits[key] = "v" + std::to_string(random() % 1000);
      }
    }
    const auto version = test.run(commit_rows(test.store(), rows, edits));
    ASSERT_TRUE(version) << version.error().message();
    Rows next = states_.empty() ? Rows{} : states_.rbegin()->second;
    for (const auto& [key, value] : edits) {
      next.erase(key);
      if (value) next[key] = *value;
    }
    states_[*version] = std::move(next);
  }
  /// As of every version since `first`.
  void expect(StoreTest& test, const test::RowsOf& rows, Version first) const {
    for (const auto& [version, state] : states_) {
      if (version < first) continue;
      ASSERT_EQ(rows_at(test.store(), rows, version), state) << "version " << version.number;
      const auto transaction = test.store().read_at(version);
      for (std::uint64_t key = 0; key < 12; ++key) {
        const auto value = transaction->get(rows, key).blocking();
        const auto expected = state.find(key);
        ASSERT_EQ(*value, expected == state.end() ? std::nullopt
                                                  : std::optional<std::string>(expected->second))
            << "version " << version.number << ", key " << key;
      }
    }
  }
  /// Replaying the log gives the same rows at every version.
  void expect_log(StoreTest& test, const test::RowsOf& rows) const {
    Rows replayed;
    Version seen{};
    const auto all = test.store().log().read_blocking(seen, {.records_max = 100'000});
    ASSERT_TRUE(all) << all.error().message();
    for (const ChangeRecord& record : *all) {
      ASSERT_EQ(record.version(), seen.next());
      seen = record.version();
      test::apply(replayed, record, rows);
      if (states_.contains(seen)) {
        ASSERT_EQ(replayed, states_.at(seen)) << seen.number;
      }
    }
    EXPECT_EQ(seen, test.store().version());
  }

 private:
  std::map<Version, Rows> states_;
};

TEST_P(StoreTest, EveryVersionAndTheLogEqualAModel) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    reset({.retention = {.history = std::chrono::hours(1), .log = std::chrono::hours(1)}});
    std::mt19937_64 random(seed);
    const auto rows = open_rows("things");
    const auto others = open_rows("others");
    History history;
    for (int i = 0; i < 60; ++i) {
      history.commit(*this, rows, random);
      if (i % 7 == 0) (void)run(commit_rows(store(), others, {{random() % 12, "noise"}}));
    }
    history.expect(*this, rows, Version{});
    history.expect_log(*this, rows);
    ASSERT_TRUE(run(store().collect()));
    history.expect(*this, rows, Version{});
    reopen();
    history.expect(*this, open_rows("things"), Version{});
    history.expect_log(*this, open_rows("things"));
  }
}

TEST_P(StoreTest, CollectsWhatNobodyReadsAndKeepsWhatIsPinned) {
  std::mt19937_64 random(7);
  const auto rows = open_rows("things");
  History history;
  for (int i = 0; i < 20; ++i) history.commit(*this, rows, random);
  const Version pinned = store().version();
  {
    const ReadTransaction reader = store().read();
    for (int i = 0; i < 20; ++i) history.commit(*this, rows, random);
    ASSERT_TRUE(run(store().collect()));
    history.expect(*this, rows, pinned);
    const auto older = store().read_at(Version{pinned.number - 1});
    ASSERT_FALSE(older);
    EXPECT_EQ(older.error(), Errc::version_collected);
  }
  ASSERT_TRUE(run(store().collect()));
  EXPECT_EQ(store().read_at(pinned).error(), Errc::version_collected);
  history.expect(*this, rows, store().version());
  reopen();
  EXPECT_EQ(store().read_at(pinned).error(), Errc::version_collected);
  EXPECT_EQ(store().log().oldest(), store().version());
}

Task<Result<>> expect_scan(Store* store, RowsOf rows, std::uint64_t count) {
  const auto transaction = store->read();
  auto scan = transaction.scan(rows);
  for (std::uint64_t key = 0;; ++key) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) {
      EXPECT_EQ(key, count);
      co_return {};
    }
    EXPECT_EQ(row->key, key);
    if (row->key != key) co_return {};
  }
}

TEST_P(StoreTest, AScanGivesEachRowOnceWhereverItIsRead) {
  const auto rows = open_rows("things");
  test::Edits edits;
  for (std::uint64_t key = 0; key < 3000; ++key) edits[key] = std::to_string(key);
  ASSERT_TRUE(run(commit_rows(store(), rows, edits)));
  // Where an engine hesitates depends on what was read before.
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(run(expect_scan(&store(), rows, 3000)));
}

TEST_P(StoreTest, RefusesAVersionFromTheFuture) {
  const auto future = store().read_at(store().version().next());
  ASSERT_FALSE(future);
  EXPECT_EQ(future.error(), Errc::future_version);
  EXPECT_NE(future.error().detail().find(to_string(store().version().next())), std::string::npos);
}

Task<Result<Version>> commit_twice(Store* store, test::RowsOf rows) {
  auto transaction = store->begin();
  transaction.put(rows, 1, "one");
  WEIR_CO_TRY_VOID(co_await transaction.commit());
  transaction.put(rows, 2, "two");
  EXPECT_EQ((co_await transaction.get(rows, 1)).error(), Errc::ended);
  EXPECT_EQ((co_await transaction.scan(rows).next()).error(), Errc::ended);
  EXPECT_EQ((co_await transaction.checkpoint("x")).error(), Errc::ended);
  co_return co_await transaction.commit();
}

TEST_P(StoreTest, ATransactionIsOverOnceCommitted) {
  const auto again = run(commit_twice(&store(), open_rows("things")));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error(), Errc::ended);
}

TEST_P(StoreTest, RefusesKeysAndValuesAboveTheirLimit) {
  const auto texts = *run(store().open_rows<std::string, std::string>("texts"));
  const auto put = [&](std::size_t key_bytes, std::size_t value_bytes) {
    auto transaction = store().begin();
    transaction.put(texts, std::string(key_bytes, 'k'), std::string(value_bytes, 'v'));
    return run(transaction.commit());
  };
  EXPECT_TRUE(put(key_bytes_max - 2, 10));
  const auto long_key = put(key_bytes_max, 10);
  ASSERT_FALSE(long_key);
  EXPECT_EQ(long_key.error(), Errc::too_large);
  const auto long_value = put(10, value_bytes_max + 1);
  ASSERT_FALSE(long_value);
  EXPECT_EQ(long_value.error(), Errc::too_large);
  EXPECT_NE(long_value.error().detail().find(std::to_string(value_bytes_max + 1)),
            std::string::npos);
}

TEST_P(StoreTest, AKeySpaceKeepsItsTypes) {
  (void)open_rows("things");
  const auto other = run(store().open_rows<std::string, std::string>("things"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error(), Errc::wrong_type);
  const auto state = run(store().open_state<std::uint64_t, std::string>("things"));
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error(), Errc::wrong_type);
  EXPECT_EQ(run(store().spaces())->size(), 1u);
  reopen();
  EXPECT_EQ(run(store().open_rows<std::string, std::string>("things")).error(), Errc::wrong_type);
}

TEST_P(StoreTest, AKeySpaceOfAnotherStoreIsUnknown) {
  Store other = *Store::open(system(), {});
  const auto foreign = *run(other.open_rows<std::uint64_t, std::string>("things"));
  const auto committed = run(commit_rows(store(), foreign, {{1, "one"}}));
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error(), Errc::unknown_space);
  EXPECT_EQ(store().read().get(foreign, 1).blocking().error(), Errc::unknown_space);
  EXPECT_EQ(store().read().scan(foreign).next_blocking().error(), Errc::unknown_space);
}

TEST_P(StoreTest, WithoutWritesACommitGivesTheVersionThatWasRead) {
  const Version before = store().version();
  auto transaction = store().begin();
  EXPECT_EQ(*run(transaction.commit()), before);
  EXPECT_EQ(store().version(), before);
}

TEST_P(StoreTest, AfterCloseNothingIsCommittedAndReadersGoOn) {
  const auto rows = open_rows("things");
  (void)run(commit_rows(store(), rows, {{1, "one"}}));
  const ReadTransaction reader = store().read();
  ASSERT_TRUE(run(store().close()));
  ASSERT_TRUE(run(store().close()));
  EXPECT_EQ(run(commit_rows(store(), rows, {{2, "two"}})).error(), Errc::closed);
  EXPECT_EQ(*reader.get(rows, 1).blocking(), "one");
}

}  // namespace
}  // namespace weir::storage
