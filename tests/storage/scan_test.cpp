// Long scans: pieces are read while the one before is used.
#include <weir/storage/scan.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/internal/open.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>
#include <weir/tests/storage/support/watched_engine.hpp>

namespace weir::storage {
namespace {

using namespace std::chrono_literals;
using test::commit_rows;
using test::Edits;
using test::EngineWatch;
using test::Rows;
using test::RowsOf;
using test::StoreTest;
using RowScan = Scan<std::uint64_t, std::string>;

constexpr std::uint64_t many = 20'000;
/// So many rows are handed out before pieces are read ahead: 32, 128 and 512.
constexpr std::uint64_t rows_before = 32 + 128 + 512;
constexpr std::uint64_t piece_rows_max = 4096;

Edits numbered_rows(std::uint64_t count) {
  Edits edits;
  for (std::uint64_t key = 0; key < count; ++key) edits[key] = std::to_string(key);
  return edits;
}

Task<Result<>> take_rows(RowScan* scan, std::uint64_t count) {
  for (; count > 0; --count) {
    WEIR_CO_TRY(row, co_await scan->next());
    EXPECT_TRUE(row);
  }
  co_return {};
}

/// A store on a watched engine, under simulation.
class WatchedScan : public ::testing::Test {
 protected:
  WatchedScan() {
    auto core = internal::open_core_on(simulation_.system(), {},
                                       std::make_unique<test::WatchedEngine>(&watch_));
    store_.emplace(internal::StoreAccess::make(simulation_.system(), core.value()));
    rows_.emplace(simulation_.run(store_->open_rows<std::uint64_t, std::string>("rows")).value());
    EXPECT_TRUE(simulation_.run(commit_rows(*store_, *rows_, numbered_rows(many))));
    watch_.rows_read = 0;
  }
  ~WatchedScan() override { store_.reset(); }

  EngineWatch watch_;
  Simulation simulation_{SimulationOptions{.seed = 3}};
  std::optional<Store> store_;
  std::optional<RowsOf> rows_;
};

/// Takes some rows and then lets time pass.
Task<Result<>> take_and_dawdle(Store* store, RowsOf rows, std::uint64_t count) {
  const auto transaction = store->read();
  auto scan = transaction.scan(rows);
  WEIR_CO_TRY_VOID(co_await take_rows(&scan, count));
  WEIR_CO_TRY_VOID(co_await sleep_for(10s));
  co_return {};
}

TEST_F(WatchedScan, ReadsTheNextPieceWhileOneIsUsed) {
  ASSERT_TRUE(simulation_.run(take_and_dawdle(&*store_, *rows_, rows_before + 1)));
  const std::uint64_t handed_out = rows_before + 4 * 512;
  EXPECT_GT(watch_.rows_read, handed_out - 32 - 128 + 1);
}

TEST_F(WatchedScan, ReadsOnePieceAheadAndNoMore) {
  ASSERT_TRUE(simulation_.run(take_and_dawdle(&*store_, *rows_, rows_before + 1)));
  EXPECT_LE(watch_.rows_read, rows_before + 4 * 512 + piece_rows_max + 2);
}

TEST_F(WatchedScan, ReadsNothingAheadOfAScanThatIsLeftEarly) {
  ASSERT_TRUE(simulation_.run(take_and_dawdle(&*store_, *rows_, 100)));
  EXPECT_EQ(watch_.rows_read, 0U);
}

TEST_F(WatchedScan, ReadsOnlyItsFirstPieceFromADiskIfItIsLeftEarly) {
  watch_.must_wait = true;
  ASSERT_TRUE(simulation_.run(take_and_dawdle(&*store_, *rows_, 20)));
  EXPECT_GE(watch_.rows_read, 32U);
  EXPECT_LE(watch_.rows_read, 32U + 2);
}

/// Takes rows until one piece is read ahead, and all others without letting anyone else run.
Task<Result<std::uint64_t>> take_at_once(Store* store, RowsOf rows) {
  const auto transaction = store->read();
  auto scan = transaction.scan(rows);
  WEIR_CO_TRY_VOID(co_await take_rows(&scan, rows_before + 1));
  for (std::uint64_t key = rows_before + 1;; ++key) {
    WEIR_CO_TRY(row, scan.next_blocking());
    if (!row) co_return key;
    EXPECT_EQ(row->key, key);
  }
}

TEST_F(WatchedScan, WhoMayWaitReadsThePieceThatWasBegunAhead) {
  EXPECT_EQ(*simulation_.run(take_at_once(&*store_, *rows_)), many);
}

/// Takes rows until one piece is read ahead, takes that on a thread that may wait before the pool
/// has begun with it, and lets time pass.
Task<Result<>> take_begun_and_dawdle(Store* store, RowsOf rows) {
  const auto transaction = store->read();
  auto scan = transaction.scan(rows);
  WEIR_CO_TRY_VOID(co_await take_rows(&scan, rows_before + 1));
  for (std::uint64_t key = rows_before + 1; key <= rows_before + 4 * 512; ++key) {
    WEIR_CO_TRY(row, scan.next_blocking());
    EXPECT_EQ(row->key, key);
  }
  WEIR_CO_TRY_VOID(co_await sleep_for(10s));
  co_return {};
}

TEST_F(WatchedScan, APieceThatWasBegunIsReadByOneOnly) {
  ASSERT_TRUE(simulation_.run(take_begun_and_dawdle(&*store_, *rows_)));
  EXPECT_GT(watch_.rows_read, 5 * 512U);
  EXPECT_LE(watch_.rows_read, 5 * 512U + piece_rows_max + 3);
}

/// Takes rows until one piece is read ahead, and leaves before anyone else runs.
Task<Result<>> take_and_leave(Store* store, RowsOf rows) {
  const auto transaction = store->read();
  auto scan = transaction.scan(rows);
  co_return co_await take_rows(&scan, rows_before + 1);
}

TEST_F(WatchedScan, APieceThatNobodyComesForIsNotRead) {
  ASSERT_TRUE(simulation_.run(take_and_leave(&*store_, *rows_)));
  simulation_.run_for(10s);
  EXPECT_LE(watch_.rows_read, 5 * 512U + 2);
}

/// Scans `count` rows in a transaction, has another one change the row `changed`, and commits.
Task<Result<Version>> commit_after(Store* store, RowsOf rows, std::uint64_t count,
                                   std::uint64_t changed) {
  auto transaction = store->begin();
  auto scan = transaction.scan(rows);
  WEIR_CO_TRY_VOID(co_await take_rows(&scan, count));
  WEIR_CO_TRY_VOID(co_await sleep_for(10s));  // so that the next piece has been read
  WEIR_CO_TRY_VOID(co_await commit_rows(*store, rows, {{changed, "changed"}}));
  transaction.put(rows, many + 1, "sum");
  co_return co_await transaction.commit();
}

TEST_F(WatchedScan, WhatIsReadAheadAndNotHandedOutIsNoConflict) {
  EXPECT_TRUE(simulation_.run(commit_after(&*store_, *rows_, rows_before + 10, 5000)));
  EXPECT_GT(watch_.rows_read, 4000U);
}

TEST_F(WatchedScan, WhatHasBeenHandedOutIsAConflict) {
  const auto outcome = simulation_.run(commit_after(&*store_, *rows_, rows_before + 10, 600));
  EXPECT_EQ(outcome.error(), Errc::conflict);
}

/// Scans to the end, at times on a thread that may wait. Gives how many rows came, all in order.
Task<Result<std::uint64_t>> scan_in_turns(Store* store, RowsOf rows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto transaction = store->read();
  const auto scan = std::make_shared<RowScan>(transaction.scan(rows));
  for (std::uint64_t key = 0;; ++key) {
    std::optional<Row<std::uint64_t, std::string>> row;
    if (random() % 64 == 0) {
      WEIR_CO_TRY(blocking, co_await on_blocking_pool([scan] { return scan->next_blocking(); }));
      row = std::move(blocking);
    } else {
      WEIR_CO_TRY(next, co_await scan->next());
      row = std::move(next);
    }
    if (!row) co_return key;
    EXPECT_EQ(row->key, key);
    EXPECT_EQ(row->value, std::to_string(key));
  }
}

TEST_F(WatchedScan, GivesEveryRowOnceWhoeverWaitsForIt) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_EQ(*simulation_.run(scan_in_turns(&*store_, *rows_, seed)), many);
  }
}

class LongScan : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Engines, LongScan, ::testing::ValuesIn(test::engine_kinds),
                         test::name_of_engine);

TEST_P(LongScan, OnThreadsGivesEveryRowOnce) {
  const auto rows = open_rows("rows");
  ASSERT_TRUE(run(commit_rows(store(), rows, numbered_rows(many))));
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_EQ(*run(scan_in_turns(&store(), rows, seed)), many);
  }
}

/// All rows of a version, while others write.
Task<Result<Rows>> rows_of(ReadTransaction* transaction, RowsOf rows) {
  Rows found;
  auto scan = transaction->scan(rows);
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) co_return found;
    found.emplace(row->key, row->value);
  }
}

TEST_P(LongScan, ShowsItsVersionWhileOthersWrite) {
  const auto rows = open_rows("rows");
  ASSERT_TRUE(run(commit_rows(store(), rows, numbered_rows(8000))));
  std::mt19937_64 random(11);
  Rows expected;
  for (const auto& [key, value] : numbered_rows(8000)) expected[key] = *value;
  for (int round = 0; round < 4; ++round) {
    auto transaction = store().read();
    Edits edits;
    for (int i = 0; i < 500; ++i) {
      const std::uint64_t key = random() % 9000;
      edits[key] = random() % 3 == 0 ? std::optional<std::string>() : std::to_string(random());
    }
    ASSERT_TRUE(run(commit_rows(store(), rows, edits)));
    EXPECT_EQ(*run(rows_of(&transaction, rows)), expected);
    for (const auto& [key, value] : edits) {
      if (value) {
        expected[key] = *value;
      } else {
        expected.erase(key);
      }
    }
  }
}

Task<> leave_while_reading(Store* store, RowsOf rows, EngineWatch* watch) {
  const auto transaction = store->read();
  auto scan = transaction.scan(rows);
  const auto taken = co_await take_rows(&scan, rows_before + 1);
  EXPECT_TRUE(taken);
  watch->held.wait();
}

TEST(ScanThatIsLeft, IsWaitedForByWhoClosesTheStore) {
  EngineWatch watch;
  ActorSystem system({.threads = 2});
  {
    auto core =
        internal::open_core_on(system, {}, std::make_unique<test::WatchedEngine>(&watch)).value();
    Store store = internal::StoreAccess::make(system, std::move(core));
    const auto rows = system.run(store.open_rows<std::uint64_t, std::string>("rows")).value();
    ASSERT_TRUE(system.run(commit_rows(store, rows, numbered_rows(many))));
    watch.rows_read = 0;
    watch.hold_at = rows_before + 4 * 512 + 100;
    system.run(leave_while_reading(&store, rows, &watch));
    // From here on only the read that nobody waits for is under way.
    std::thread letting_go([&] { watch.let_go.set(); });
    ASSERT_TRUE(system.run(store.close()));
    letting_go.join();
    EXPECT_FALSE(watch.is_gone);
  }
  EXPECT_TRUE(watch.is_gone) << "its files are still open";
}

}  // namespace
}  // namespace weir::storage
